"""Controllers and topics of a real robot, the keys of a `robot.yaml`; the defaults are those of ros2_control.

Names without a leading "/" are in the namespace of the nodes.
"""

from __future__ import annotations

from typing import Annotated

from pydantic import Field, model_validator

from llm_planner.strict_yaml import Among, FileModel, LocatedError

TRAJECTORY, POSITION, VELOCITY = INTERFACES = ("trajectory", "position", "velocity")
GRIPPER_ACTIONS = ("GripperCommand", "ParallelGripperCommand")  # of control_msgs

Name = Annotated[str, Field(pattern=r"^~?/?[A-Za-z_][A-Za-z0-9_/]*$")]  # of a topic or an action
NotNegative = Annotated[float, Field(ge=0.0)]


class ArmController(FileModel):
    """Controller of the arm's joints."""

    name: Name = Field(default="joint_trajectory_controller", description="name of the controller")
    interface: Annotated[str, Among(INTERFACES)] = Field(default=TRAJECTORY, description="what the controller takes")

    def topic(self, interface: str = "") -> str:
        """Return the topic of its commands, with another `interface` where one is given."""
        return f"{self.name}/{'joint_trajectory' if (interface or self.interface) == TRAJECTORY else 'commands'}"


class GripperEnd(FileModel):
    """Width [m] at an end of the gripper's range, and the position that the action takes for it."""

    width: NotNegative = Field(description="[m]")
    position: float = Field(description="what the action takes for it, in the unit of the joint")


class GripperController(FileModel):
    """Action server of the gripper."""

    action: Name = Field(description="name of the action")
    type: Annotated[str, Among(GRIPPER_ACTIONS)] = Field(
        default=GRIPPER_ACTIONS[0], description="type of the action, of control_msgs"
    )
    open: GripperEnd = Field(description="the open gripper; positions are linear in the width between the ends")
    closed: GripperEnd = Field(description="the closed gripper")
    # Its position in joint states gives the width if no finger joints are known.
    joint: str = Field(default="", description="joint that the action moves")
    effort: NotNegative = Field(default=0.0, description="largest effort [N]; 0 leaves it to the controller")

    @model_validator(mode="after")
    def _is_consistent(self) -> GripperController:
        if self.type == GRIPPER_ACTIONS[1] and not self.joint:
            raise LocatedError(f"is missing: a {self.type} names the joint that it moves", "joint")
        if self.closed.width >= self.open.width:
            raise LocatedError(
                f"is wrong: the gripper's widths are {self.closed.width:g} m closed and {self.open.width:g} m open; "
                "the closed one must be smaller"
            )
        if self.closed.position == self.open.position:
            raise LocatedError(
                f"is wrong: the gripper has one position, {self.open.position:g}, open and closed; give two"
            )
        return self

    def position(self, width: float) -> float:
        """Return the position for a `width` [m]; a width out of range becomes the nearest one."""
        wide, narrow = self.open, self.closed
        share = (min(max(width, narrow.width), wide.width) - narrow.width) / (wide.width - narrow.width)
        return narrow.position + share * (wide.position - narrow.position)

    def width(self, position: float) -> float:
        """Return the width [m] at a measured `position`, which may lie beyond the ends."""
        wide, narrow = self.open, self.closed
        share = (position - narrow.position) / (wide.position - narrow.position)
        return narrow.width + share * (wide.width - narrow.width)


class Controllers(FileModel):
    """Controllers of the real robot, for `simulator:=false`; what is left out has the default of ros2_control.

    arm: {name: scaled_joint_trajectory_controller, interface: trajectory} # or position, velocity
    gripper:
      action: robotiq_gripper_controller/gripper_cmd
      type: ParallelGripperCommand # or GripperCommand, both of control_msgs
      open: {width: 0.085, position: 0.0} # [m], and what the action takes for it; linear in between
      closed: {width: 0.0, position: 0.7929}
      joint: robotiq_85_left_knuckle_joint
      effort: 20.0 # [N]
    """

    arm: ArmController = Field(default=ArmController(), description="controller of the arm's joints")
    gripper: GripperController | None = Field(default=None, description="action server; none if left out")


class RobotTopics(FileModel):
    """Topics of the real robot's states."""

    states: Name = Field(default="joint_states", description="joint states of the arm")
    gripper_states: Name | None = Field(default=None, description="joint states of the gripper, if on another topic")

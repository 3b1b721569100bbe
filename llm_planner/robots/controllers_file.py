"""The keys `controllers` and `topics` of a `robot.yaml`: what moves the real robot, for `simulator:=false`.

    controllers:
      arm: {name: scaled_joint_trajectory_controller, interface: trajectory} # or position, velocity
      gripper:
        action: robotiq_gripper_controller/gripper_cmd
        type: ParallelGripperCommand # or GripperCommand, both of control_msgs
        open: {width: 0.085, position: 0.0} # [m], and what the action takes for it; linear in between
        closed: {width: 0.0, position: 0.7929}
        joint: robotiq_85_left_knuckle_joint
        effort: 20.0 # [N]
    topics:
      states: joint_states
      gripper_states: hand/joint_states # where the gripper has a topic of its own

What is left out has the default of ros2_control: `joint_trajectory_controller` and `joint_states`, and no gripper.
"""

from __future__ import annotations

from typing import Annotated

from pydantic import Field, model_validator

from llm_planner.errors import InputError
from llm_planner.robots.controllers import (
    GRIPPER_ACTIONS,
    INTERFACES,
    ArmController,
    Controllers,
    GripperController,
    RobotTopics,
)
from llm_planner.strict_yaml import Among, FileModel, LocatedError

Name = Annotated[str, Field(pattern=r"^~?/?[A-Za-z_][A-Za-z0-9_/]*$")]  # of a topic or an action
Width = Annotated[float, Field(ge=0.0)]


class ArmControllerEntry(FileModel):
    """Controller of the arm's joints."""

    name: Name = Field(default=ArmController.name, description="name of the controller")
    interface: Annotated[str, Among(INTERFACES)] = Field(
        default=ArmController.interface, description="what the controller takes"
    )


class EndEntry(FileModel):
    """Width [m] at an end of the gripper's range, and the position that the action takes for it."""

    width: Width = Field(description="[m]")
    position: float = Field(description="what the action takes for it, in the unit of the joint")


class GripperControllerEntry(FileModel):
    """Action server of the gripper."""

    action: Name = Field(description="name of the action")
    type: Annotated[str, Among(GRIPPER_ACTIONS)] = Field(
        default=GRIPPER_ACTIONS[0], description="type of the action, of control_msgs"
    )
    open: EndEntry = Field(description="the open gripper; positions are linear in the width between the ends")
    closed: EndEntry = Field(description="the closed gripper")
    joint: str = Field(default="", description="joint that the action moves")
    effort: Width = Field(default=0.0, description="largest effort [N]")

    @model_validator(mode="after")
    def _is_consistent(self) -> GripperControllerEntry:
        if self.type == GRIPPER_ACTIONS[1] and not self.joint:
            raise LocatedError(f"is missing: a {self.type} names the joint that it moves", "joint")
        try:
            self.controller()
        except InputError as error:
            raise LocatedError(f"is wrong: {error}") from error
        return self

    def controller(self) -> GripperController:
        opened, closed = ((end.width, end.position) for end in (self.open, self.closed))
        return GripperController(self.action, self.type, opened, closed, self.joint, self.effort)


class ControllersEntry(FileModel):
    """Controllers of the real robot."""

    arm: ArmControllerEntry = Field(default=ArmControllerEntry(), description="controller of the arm's joints")
    gripper: GripperControllerEntry | None = Field(default=None, description="action server; none if left out")


class TopicsEntry(FileModel):
    """Topics of the real robot's states."""

    states: Name = Field(default=RobotTopics.states, description="joint states of the arm")
    gripper_states: Name | None = Field(default=None, description="joint states of the gripper, if on another topic")


def controllers_of(entry: ControllersEntry, topics: TopicsEntry) -> Controllers:
    """Return what moves the real robot, as these keys of its file say."""
    return Controllers(
        ArmController(entry.arm.name, entry.arm.interface),
        entry.gripper.controller() if entry.gripper else None,
        RobotTopics(topics.states, topics.gripper_states or ""),
    )

"""Controllers and topics of a real robot, as `robot.yaml` names them; the defaults are those of ros2_control.

Names without a leading "/" are in the namespace of the nodes.
"""

from __future__ import annotations

from dataclasses import dataclass

from llm_planner.errors import InputError

TRAJECTORY, POSITION, VELOCITY = INTERFACES = ("trajectory", "position", "velocity")
GRIPPER_ACTIONS = ("GripperCommand", "ParallelGripperCommand")  # of control_msgs


@dataclass(frozen=True)
class ArmController:
    """Controller of the arm's joints: its name, and which of `INTERFACES` it has."""

    name: str = "joint_trajectory_controller"
    interface: str = TRAJECTORY

    def topic(self, interface: str = "") -> str:
        """Return the topic of its commands, with another `interface` where one is given."""
        return f"{self.name}/{'joint_trajectory' if (interface or self.interface) == TRAJECTORY else 'commands'}"


@dataclass(frozen=True)
class GripperController:
    """Action server that opens and closes the gripper.

    Attributes:
        action: Name of the action.
        type: One of `GRIPPER_ACTIONS`.
        open: Widest width between the fingertips [m], and the position that the action takes for it.
        closed: Smallest width [m] and its position; in between the position is linear in the width.
        joint: Joint that a ParallelGripperCommand names; its position in joint states gives the width if it is not ""
            and no finger joints are known.
        effort: Largest effort, in the unit of the action [N]; 0 leaves it to the controller.
    """

    action: str
    type: str = GRIPPER_ACTIONS[0]
    open: tuple[float, float] = (0.08, 0.08)
    closed: tuple[float, float] = (0.0, 0.0)
    joint: str = ""
    effort: float = 0.0

    def __post_init__(self) -> None:
        if not 0.0 <= self.closed[0] < self.open[0]:
            raise InputError(
                f"the gripper's widths are {self.closed[0]:g} m closed and {self.open[0]:g} m open; the closed one "
                "must be smaller, and neither negative"
            )
        if self.closed[1] == self.open[1]:
            raise InputError(f"the gripper has one position, {self.open[1]:g}, open and closed; give two")

    def position(self, width: float) -> float:
        """Return the position for a `width` [m]; a width out of range becomes the nearest one."""
        (wide, opened), (narrow, closed) = self.open, self.closed
        share = (min(max(width, narrow), wide) - narrow) / (wide - narrow)
        return closed + share * (opened - closed)

    def width(self, position: float) -> float:
        """Return the width [m] at a measured `position`, which may lie beyond the ends."""
        (wide, opened), (narrow, closed) = self.open, self.closed
        return narrow + (position - closed) / (opened - closed) * (wide - narrow)


@dataclass(frozen=True)
class RobotTopics:
    """Topics of the robot's states: `states` of the arm, and `gripper_states` where the gripper has its own."""

    states: str = "joint_states"
    gripper_states: str = ""


@dataclass(frozen=True)
class Controllers:
    """What moves a real robot and what it publishes."""

    arm: ArmController = ArmController()
    gripper: GripperController | None = None
    topics: RobotTopics = RobotTopics()

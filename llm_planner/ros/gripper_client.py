"""Client of a gripper's action, `GripperCommand` or `ParallelGripperCommand` of control_msgs."""

from __future__ import annotations

from typing import Any

from llm_planner.errors import InputError
from llm_planner.robots.controllers import GRIPPER_ACTIONS, GripperController
from llm_planner.ros.newest_goal import MotionEnd, NewestGoalClient
from llm_planner.ros.optional_packages import required_module


def action_type(name: str) -> type:
    """Return the action called `name`, one of `GRIPPER_ACTIONS`; raise InputError if it is not installed."""
    action = required_module("control_msgs.action", "the gripper's action needs")
    if not hasattr(action, name):
        raise InputError(f"the control_msgs that is installed has no action {name}; use {GRIPPER_ACTIONS[0]}")
    return getattr(action, name)


def goal_to_msg(kind: type, controller: GripperController, width: float) -> object:
    """Return the goal, of the action `kind`, that moves the gripper to `width` [m]."""
    goal, position = kind.Goal(), controller.position(width)
    if controller.type == GRIPPER_ACTIONS[0]:
        goal.command.position, goal.command.max_effort = position, controller.effort
    else:
        goal.command.name, goal.command.position = [controller.joint], [position]
        goal.command.effort = [controller.effort] if controller.effort else []
    return goal


class GripperClient(NewestGoalClient[float]):
    """Moves the gripper to the newest width [m]."""

    def _verdict(self, answer: Any) -> MotionEnd | None:
        if answer.result.stalled:
            return MotionEnd.STALLED
        return MotionEnd.REACHED if answer.result.reached_goal else super()._verdict(answer)

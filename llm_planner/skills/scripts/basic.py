"""The skills that touch nothing: the fingers, the way home, and a wait, of any robot."""

from __future__ import annotations

from collections.abc import Mapping

from llm_planner.skills.arm import Arm, Script
from llm_planner.skills.base import Base
from llm_planner.skills.contract import Argument
from llm_planner.skills.gripper_shape import OPENING_MAX, Grip
from llm_planner.skills.motion import Leg
from llm_planner.skills.ways import way_to

HOME = Grip(0.307, 0.0, 0.487, 0.0)  # of the gripper in the arm's resting posture


def open_gripper(arm: Arm, arguments: Mapping[str, Argument]) -> Script:
    """The fingers as far apart as they go, the hand where it is."""
    yield from arm.fingers("open", OPENING_MAX)


def close_gripper(arm: Arm, arguments: Mapping[str, Argument]) -> Script:
    """The fingers together, or against what is between them, the hand where it is."""
    yield from arm.fingers("close", 0.0)


def go_home(arm: Arm, arguments: Mapping[str, Argument]) -> Script:
    """Up above everything, then to the resting posture."""
    corners = way_to(arm.grip, HOME, arm.cruise_height(), arm.observation.zones)
    yield from arm.move("home", [Leg(corner) for corner in corners])


def wait(body: Arm | Base, arguments: Mapping[str, Argument]) -> Script:
    """Nothing, for that long."""
    yield from body.rest("wait", float(str(arguments["seconds"])))

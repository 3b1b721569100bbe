"""Open the fingers fully at the current pose of the hand."""

from llm_planner import Arm, Script
from llm_planner.skills.contract import Arguments
from llm_planner.skills.paths import release as plan

__all__ = ["move", "plan"]


def move(arm: Arm, arguments: Arguments) -> Script:
    yield from arm.fingers("open", arm.gripper.widest)

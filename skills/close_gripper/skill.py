"""Close the fingers at the current pose of the hand, or press them against an object between them."""

from llm_planner import Arm, Script
from llm_planner.skills.contract import Arguments
from llm_planner.skills.paths import stay as plan

__all__ = ["move", "plan"]


def move(arm: Arm, arguments: Arguments) -> Script:
    yield from arm.fingers("close", 0.0)

"""Open the fingers at the current pose of the hand."""

from llm_planner.skills.paths import release as plan
from llm_planner.skills.scripts.basic import open_gripper as move

__all__ = ["move", "plan"]

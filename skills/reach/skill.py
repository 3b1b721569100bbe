"""Bring the fingertips above an object, the hand pointing down, and touch nothing."""

from llm_planner.skills.paths import hover_over as plan
from llm_planner.skills.scripts.basic import reach as move

__all__ = ["move", "plan"]

"""Drive up to an object in the same room and load it."""

from llm_planner.skills.paths import drive as plan
from llm_planner.skills.scripts.mobile import pick_up as move

__all__ = ["move", "plan"]

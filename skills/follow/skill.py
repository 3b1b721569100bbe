"""Follow a person or an object that moves through the rooms, at a distance, for some time."""

from llm_planner.skills.paths import drive as plan
from llm_planner.skills.scripts.mobile import follow as move

__all__ = ["move", "plan"]

"""Put down the carried object in the current room."""

from llm_planner.skills.paths import drive as plan
from llm_planner.skills.scripts.mobile import drop_off as move

__all__ = ["move", "plan"]

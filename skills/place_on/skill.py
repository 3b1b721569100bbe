"""Put the held object on top of another one."""

from llm_planner.skills.paths import release as plan
from llm_planner.skills.scripts.pick_and_place import place_on as move

__all__ = ["move", "plan"]

"""Put the held object on the table at a given distance and direction from where it was picked up."""

from llm_planner.skills.paths import release as plan
from llm_planner.skills.scripts.pick_and_place import place_offset as move

__all__ = ["move", "plan"]

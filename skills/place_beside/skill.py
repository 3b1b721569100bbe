"""Put the held object on the table next to another one, with a given gap between the two."""

from llm_planner.skills.paths import release as plan
from llm_planner.skills.scripts.pick_and_place import place_beside as move

__all__ = ["move", "plan"]

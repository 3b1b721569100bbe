"""Put the held object on the table, at a free spot of a named place or at a point."""

from llm_planner.skills.paths import release as plan
from llm_planner.skills.scripts.pick_and_place import place_at as move

__all__ = ["move", "plan"]

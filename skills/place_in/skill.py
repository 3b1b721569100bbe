"""Put the held object into a container, such as a bowl or an open drawer, next to or on its contents."""

from llm_planner.skills.paths import release as plan
from llm_planner.skills.scripts.pick_and_place import place_in as move

__all__ = ["move", "plan"]

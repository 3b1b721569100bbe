"""Put the held object on top of another one, or into it where that is a container without a top; on a drawer, on top of its cabinet."""

from llm_planner.skills.paths import release as plan
from llm_planner.skills.scripts.pick_and_place import place_on as move

__all__ = ["move", "plan"]

"""Drive by the shortest route through the doors to the middle of a room, or up to a person or an object."""

from llm_planner.skills.paths import drive as plan
from llm_planner.skills.scripts.mobile import go_to as move

__all__ = ["move", "plan"]

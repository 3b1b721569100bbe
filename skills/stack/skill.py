"""Pick an object up and put it on another one, or into it if that is a container."""

from llm_planner.skills.paths import transport as plan
from llm_planner.skills.scripts.pick_and_place import stack as move

__all__ = ["move", "plan"]

"""Grasp an object from above, or from the side if that is not possible, and lift it."""

from llm_planner.skills.paths import grasp as plan
from llm_planner.skills.scripts.pick_and_place import pick as move

__all__ = ["move", "plan"]

"""Grasp an object from above and lift it like `pick`, but locate it in the camera's picture."""

from llm_planner.skills.paths import grasp as plan
from llm_planner.skills.scripts.pick_and_place import pick as move

__all__ = ["move", "plan"]

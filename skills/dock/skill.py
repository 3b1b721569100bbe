"""Reverse into a docking station to charge, from anywhere in the building."""

from llm_planner.skills.paths import drive as plan
from llm_planner.skills.scripts.mobile import dock as move

__all__ = ["move", "plan"]

"""Look around by turning once on the spot."""

from llm_planner.skills.paths import drive as plan
from llm_planner.skills.scripts.mobile import look as move

__all__ = ["move", "plan"]

"""Knock a standing mug or vase over with closed fingers."""

from llm_planner.skills.paths import hover_over as plan
from llm_planner.skills.scripts.tip import tip as move

__all__ = ["move", "plan"]

"""Move the fingertips above an object without touching it, with the hand pointing down."""

from llm_planner.skills.paths import hover_over as plan
from llm_planner.skills.scripts.basic import reach as move

__all__ = ["move", "plan"]

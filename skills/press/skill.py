"""Press a button with closed fingers until its lamp is lit."""

from llm_planner.skills.paths import operate as plan
from llm_planner.skills.scripts.furniture import press as move

__all__ = ["move", "plan"]

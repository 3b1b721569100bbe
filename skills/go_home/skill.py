"""Move the arm to its rest posture, above everything on the table."""

from llm_planner.skills.paths import go_home as plan
from llm_planner.skills.scripts.basic import go_home as move

__all__ = ["move", "plan"]

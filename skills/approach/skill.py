"""Drive to where the arm reaches an object on a table, or to a table."""

from llm_planner.skills.paths import approach as plan
from llm_planner.skills.scripts.mobile import approach as move

__all__ = ["move", "plan"]

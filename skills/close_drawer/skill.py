"""Push a drawer in by its handle and let go of it."""

from llm_planner.skills.paths import operate as plan
from llm_planner.skills.scripts.drawer import close_drawer as move

__all__ = ["move", "plan"]

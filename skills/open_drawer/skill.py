"""Pull a drawer out by its handle and let go of it."""

from llm_planner.skills.paths import operate as plan
from llm_planner.skills.scripts.drawer import open_drawer as move

__all__ = ["move", "plan"]

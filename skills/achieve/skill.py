"""Move objects until a reward program is fulfilled. How it moves is found as it runs, so it has no plan."""

from llm_planner.skills.scripts.rewards import achieve as move

__all__ = ["move"]

"""Move objects until a reward program is fulfilled. The motion is planned during execution, so there is no `plan`."""

from llm_planner.skills.scripts.rewards import achieve as move

__all__ = ["move"]

"""Drive until a reward program is fulfilled. The motion is planned during execution, so there is no `plan`."""

from llm_planner.skills.scripts.rewards import manoeuvre as move

__all__ = ["move"]

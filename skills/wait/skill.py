"""Hold still for some time."""

from llm_planner.skills.paths import stay as plan
from llm_planner.skills.scripts.basic import wait as move

__all__ = ["move", "plan"]

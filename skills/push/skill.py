"""Slide an object over the table with closed fingers."""

from llm_planner.skills.paths import push_along as plan
from llm_planner.skills.sliding import push as move

__all__ = ["move", "plan"]

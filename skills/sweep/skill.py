"""Slide an object over the table into a named place or to a point, in several strokes if needed."""

from llm_planner.skills.paths import push_along as plan
from llm_planner.skills.sliding import sweep as move

__all__ = ["move", "plan"]

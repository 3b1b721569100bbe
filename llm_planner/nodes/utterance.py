"""Something that was said, while it is being read."""

from __future__ import annotations

from dataclasses import dataclass, field

from rclpy.task import Future

from llm_planner.correction.learner import OfMemory
from llm_planner.correction.situation import Situation
from llm_planner.plan.edits import Clarify, Edit


@dataclass
class Utterance:
    """Something that was said, when the question `asked` was open; `settled` once its result has been told.

    `edit` is what it asks for of the plan in `situation`, `of_memory` what is to be kept or dropped.
    """

    words: str
    asked: Clarify | None
    read_again: int = 0
    situation: Situation | None = None
    edit: Edit | None = None
    of_memory: OfMemory = ()
    settled: Future = field(default_factory=Future)

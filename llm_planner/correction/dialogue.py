"""What a person is answered about a running plan."""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import Enum

from llm_planner.plan.edits import Clarify, Edit

NO_PLAN = "no plan is running: say it as a command"


class Outcome(str, Enum):
    """What became of something that was said."""

    APPLIED = "applied"
    REFUSED = "refused"
    QUESTION = "question"
    NOTHING = "nothing"


@dataclass(frozen=True)
class Answer:
    """What a person is told; `edit` is what their words were read as, `difference` what it changed."""

    outcome: Outcome
    message: str
    edit: Edit | None = None
    difference: tuple[str, ...] = ()


def asking(question: Clarify, edit: Edit | None = None, difference: tuple[str, ...] = ()) -> Answer:
    """The question with its options."""
    options = f" ({' / '.join(question.options)})" if question.options else ""
    return Answer(Outcome.QUESTION, question.question + options, edit, difference)


def stop_answer(stopped: bool, message: str) -> Answer:
    """What is told of a stop: that it stopped something, or `message`, why there was nothing to stop."""
    return Answer(Outcome.APPLIED, "stopped") if stopped else Answer(Outcome.NOTHING, message)


def with_told(answer: Answer, lines: tuple[str, ...]) -> Answer:
    """The answer, and what else there is to say."""
    return replace(answer, message="; ".join(filter(None, (answer.message, *lines))))

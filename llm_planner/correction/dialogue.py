"""What is said back and forth about a running plan: pure, from what was read to what is sent, asked or told."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from enum import Enum

from llm_planner.plan.edits import Cancel, Clarify, Confirm, Edit, Hold, LiftRule, Resume

NO_PLAN = "no plan is running: say it as a command"
NO_CORRECTION = "I hear no correction in that"
_YES_OR_NO = ("yes", "no")
_REFLEXES: Mapping[type, str] = {Hold: "I wait until you say go on", Resume: "I go on", Cancel: "stopped"}


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


@dataclass(frozen=True)
class Send:
    """The edit is to be made; where `only_check`, only to be looked at."""

    edit: Edit
    confirmed: bool = False
    only_check: bool = False


@dataclass(frozen=True)
class Dialogue:
    """`asked` is the question that is open, `pending` the edit that a yes to it stands for."""

    asked: Clarify | None = None
    pending: Edit | None = None


SILENT = Dialogue()


def heard(dialogue: Dialogue, edit: Edit) -> tuple[Dialogue, Send | Answer]:
    """What follows from an utterance that was read as `edit`; a question that was open is closed by it."""
    match edit.operations:
        case ():
            return dialogue, Answer(Outcome.NOTHING, NO_CORRECTION, edit)
        case (Clarify() as question,):
            return Dialogue(question), Answer(Outcome.QUESTION, told(question), edit)
        case (Confirm(yes),):
            return SILENT, _confirmed(dialogue, edit, yes)
        case _ if any(isinstance(one, LiftRule) for one in edit.operations):
            return SILENT, Send(edit, confirmed=True, only_check=True)
        case _:
            return SILENT, Send(edit)


def _confirmed(dialogue: Dialogue, edit: Edit, yes: bool) -> Send | Answer:
    if dialogue.pending is None:
        return Answer(Outcome.NOTHING, f"there is no question to which “{'yes' if yes else 'no'}” is the answer", edit)
    return Send(dialogue.pending, confirmed=True) if yes else Answer(Outcome.NOTHING, "all stays as it is", edit)


def made(send: Send, difference: tuple[str, ...]) -> tuple[Dialogue, Answer]:
    """What follows once the edit was made, or found to be one that can be made."""
    if send.only_check:
        question = Clarify(f"shall I no longer keep this? {'; '.join(difference)}", _YES_OR_NO)
        return Dialogue(question, send.edit), Answer(Outcome.QUESTION, told(question), send.edit, difference)
    reflex = _REFLEXES[type(send.edit.operations[0])] if is_reflex(send.edit) else ""
    return SILENT, Answer(Outcome.APPLIED, reflex or "; ".join(difference), send.edit, difference)


def stop_answer(stopped: bool, message: str) -> Answer:
    """What is told of a stop: that it stopped something, or `message`, why there was nothing to stop."""
    return Answer(Outcome.APPLIED, "stopped") if stopped else Answer(Outcome.NOTHING, message)


def with_told(answer: Answer, lines: tuple[str, ...]) -> Answer:
    """The answer, and what else there is to say."""
    return replace(answer, message="; ".join(filter(None, (answer.message, *lines))))


def told(question: Clarify) -> str:
    """The question with its options, for a person."""
    return f"{question.question} ({' / '.join(question.options)})" if question.options else question.question


def is_reflex(edit: Edit) -> bool:
    """Whether it acts at once, whatever else is still being read."""
    return len(edit.operations) == 1 and type(edit.operations[0]) in _REFLEXES

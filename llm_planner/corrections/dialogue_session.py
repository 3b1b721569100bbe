"""The dialogue with a person about running plans: from what is said and seen to what is read, sent, asked and told.

No I/O and no clock: a turn is a generator that yields what is to be done and is sent what came of it. A ROS node awaits
each step, `in_process` does it at once.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping
from dataclasses import dataclass, replace
from enum import Enum
from functools import partial
from typing import Any, TypeAlias, TypeVar

from llm_planner.corrections.edits import (
    AddRule,
    Answer,
    Cancel,
    Clarify,
    Confirm,
    Edit,
    Hold,
    LiftRule,
    Outcome,
    Resume,
    asking,
    with_told,
)
from llm_planner.corrections.learner import Notes, OfMemory, PlanFollower, Seen, of_memory
from llm_planner.corrections.situation import Situation

MOST_AGAIN = 3  # times that the same words are read anew because the plan has changed
NO_CORRECTION = "I hear no correction in that"
RULE_LEFT_OUT = "I wait, for that is a rule: say “go on” to do it all the same, or “stop”"
_REFLEXES: Mapping[type, str] = {Hold: "I wait until you say go on", Resume: "I go on", Cancel: "stopped"}


@dataclass(frozen=True)
class Read:
    """Read the words while the question `asked` is open, for this `version` of the plan or a later one; the reply is a
    `Reading`. `stale` is what they were read as before, of a plan that is another by now."""

    words: str
    asked: Clarify | None
    stale: Edit | None = None
    version: int = 0


@dataclass(frozen=True)
class Send:
    """Make the edit, or only check it; the reply is an `EditResult`."""

    edit: Edit
    confirmed: bool = False
    only_check: bool = False


@dataclass(frozen=True)
class Consult:
    """Do `work` with the memory; the reply are its `Notes`."""

    work: Callable[[PlanFollower], Notes]


@dataclass(frozen=True)
class Tell:
    """Tell the person this, unasked."""

    answer: Answer


@dataclass(frozen=True)
class AnswerWithoutPlan:
    """No plan is running that `edit` could be made of; the reply is an `Answer`."""

    edit: Edit


@dataclass(frozen=True)
class Reading:
    """What words ask for of the plan in `situation`, and of the memory."""

    edit: Edit
    of_memory: OfMemory
    situation: Situation
    is_running: bool


class EditStatus(Enum):
    """What the executor says to an edit; STALE is one for a version of the plan, or for a step, that is over."""

    ACCEPTED = "accepted"
    REFUSED = "refused"
    STALE = "stale"
    NO_PLAN = "no plan"


@dataclass(frozen=True)
class EditResult:
    """`message` says why it was not accepted, `difference` what it changes; the plan is at `version`."""

    status: EditStatus
    message: str = ""
    difference: tuple[str, ...] = ()
    version: int = 0


Step: TypeAlias = Read | Send | Consult | Tell | AnswerWithoutPlan
ResultT = TypeVar("ResultT")
Turn: TypeAlias = Generator[Step, Any, ResultT]


def reading_of(edit: Edit, situation: Situation, is_running: bool) -> Reading:
    """What was read, parted into what the plan and what the memory is asked for."""
    asked, rest = of_memory(edit)
    return Reading(rest, asked, situation, is_running)


def is_reflex(edit: Edit) -> bool:
    """Whether it acts at once, whatever else is still being read."""
    return len(edit.operations) == 1 and type(edit.operations[0]) in _REFLEXES


class DialogueSession:
    """Keeps the open questions: `asked` is the plan's, to which a yes may stand for an edit, `asked_by_memory` the
    memory's."""

    def __init__(self) -> None:
        self.asked: Clarify | None = None
        self.asked_by_memory: Clarify | None = None
        self._pending: Edit | None = None  # what a yes to `asked` stands for
        self._put: Clarify | None = None  # the memory's question that the person was asked last

    @property
    def question(self) -> Clarify | None:
        """The question to which the next words may be the answer."""
        return self.asked or self.asked_by_memory

    def close_question(self) -> None:
        """The question about the plan is open no more."""
        self.asked = self._pending = None

    def new_question(self) -> Answer | None:
        """The memory's question, where it is open and has not been put yet."""
        before, self._put = self._put, self.asked_by_memory
        return asking(self._put) if self._put is not None and self._put is not before else None

    # Something is said

    def hear(self, words: str, asked: Clarify | None) -> Turn[Answer]:
        """Answer words that were said while the question `asked` was open.

        They are for the memory's question, for the plan, or about what is to be remembered.
        """
        for_memory = asked is not None and asked == self.asked_by_memory
        if for_memory and (told := (yield from self._consult(partial(PlanFollower.chosen, words=words))).told):
            return with_told(Answer(Outcome.APPLIED, ""), told)
        reading: Reading = yield Read(words, asked)
        edit = reading.edit
        answering = partial(PlanFollower.answered, edit=edit)
        if for_memory and edit.operations and (told := (yield from self._consult(answering)).told):
            return with_told(Answer(Outcome.APPLIED, "", edit), told)
        answer = Answer(Outcome.APPLIED, "", Edit(reading.of_memory, words))
        if edit.operations or not reading.of_memory:
            answer = yield from self._carry_out(reading, words, asked)
        return (yield from self._remember(reading.of_memory, answer)) if reading.of_memory else answer

    def _carry_out(self, reading: Reading, words: str, asked: Clarify | None) -> Turn[Answer]:
        """Have the edit made; words that were read for a plan that has changed since are read again."""
        if not reading.is_running:
            answer: Answer = yield AnswerWithoutPlan(reading.edit)
            return answer
        step, times = self._decide(reading.edit), 0
        while isinstance(step, Send):
            result: EditResult = yield step
            if result.status is EditStatus.ACCEPTED:
                return (yield from self._accepted(step, result.difference, reading.situation))
            if result.status is not EditStatus.STALE:
                return Answer(Outcome.REFUSED, result.message, step.edit)
            if times == MOST_AGAIN:
                return Answer(Outcome.REFUSED, "the plan changes faster than I can read; say it again", reading.edit)
            stale, times = step.edit, times + 1
            reading = yield Read(stale.words, asked if stale.words == words else None, stale, result.version)
            if reading.edit == stale:  # what is over was meant
                return Answer(Outcome.REFUSED, result.message, stale)
            if reading.edit.operations == stale.operations:
                step = replace(step, edit=reading.edit)
            else:
                self.close_question()
                step = self._decide(reading.edit)
        return step

    def _decide(self, edit: Edit) -> Send | Answer:
        """What follows from what was read; it closes an open question unless it is no correction."""
        if not edit.operations:
            return Answer(Outcome.NOTHING, NO_CORRECTION, edit)
        pending = self._pending
        self.close_question()
        match edit.operations:
            case (Clarify() as question,):
                self.asked = question
                return asking(question, edit)
            case (Hold() as hold, Clarify() as question):
                self.asked = question
                return Send(replace(edit, operations=(hold,)))
            case (Confirm(yes),) if pending is not None:
                return Send(pending, confirmed=True) if yes else Answer(Outcome.NOTHING, "all stays as it is", edit)
            case (Confirm(yes),):
                said = "yes" if yes else "no"
                return Answer(Outcome.NOTHING, f"there is no question to which “{said}” is the answer", edit)
            case _:
                lifts = any(isinstance(one, LiftRule) for one in edit.operations)
                return Send(edit, confirmed=lifts, only_check=lifts)

    def _accepted(self, send: Send, difference: tuple[str, ...], situation: Situation) -> Turn[Answer]:
        """The edit was made, or could be made and has to be confirmed."""
        if send.only_check:
            self.asked = Clarify(f"shall I no longer keep this? {'; '.join(difference)}", ("yes", "no"))
            self._pending = send.edit
            return asking(self.asked, send.edit, difference)
        if is_reflex(send.edit):
            done = _REFLEXES[type(send.edit.operations[0])]
            if self.asked is None:
                return Answer(Outcome.APPLIED, done, send.edit, difference)
            asked = asking(self.asked, send.edit, difference)
            return replace(asked, message=f"{done}; {asked.message}")
        notes = yield from self._consult(partial(PlanFollower.taught, edit=send.edit, situation=situation))
        told = (*difference, *(_REFLEXES[Hold] for one in send.edit.operations if isinstance(one, Hold)))
        return with_told(Answer(Outcome.APPLIED, "; ".join(told), send.edit, difference), notes.told)

    def _remember(self, operations: OfMemory, answer: Answer) -> Turn[Answer]:
        """The answer, with what the memory tells or asks of what is to be kept or dropped; the newest question is
        open."""
        before = self.asked_by_memory
        notes = yield from self._consult(partial(PlanFollower.asked_for, operations=operations))
        answer = with_told(answer, notes.told)
        if notes.question is not None and notes.question is not before:
            self._put = notes.question
            answer = replace(with_told(answer, (asking(notes.question).message,)), outcome=Outcome.QUESTION)
        if answer.outcome is Outcome.QUESTION:
            self.close_question()
        return answer

    # The plan goes on

    def watch(self, seen: Seen) -> Turn[None]:
        """Have lessons brought into force for what is under way, and tell what comes of it.

        To be called with every state of every plan; after an edit was accepted there may be more for the next state.
        """
        look = partial(PlanFollower.looked, seen=seen)
        while (wish := (yield from self._tell_of(look)).wish) is not None:
            result: EditResult = yield Send(wish.edit)
            if result.status is EditStatus.ACCEPTED:
                yield from self._tell_of(partial(PlanFollower.made, wish=wish))
            if result.status is not EditStatus.REFUSED:
                return
            notes = yield from self._tell_of(partial(PlanFollower.refused, wish=wish, reason=result.message))
            if notes.told and any(isinstance(one, AddRule) for one in wish.edit.operations):
                yield Send(Edit((Hold(),)))  # nobody but the person drops a rule
                yield Tell(Answer(Outcome.APPLIED, RULE_LEFT_OUT))

    def _tell_of(self, work: Callable[[PlanFollower], Notes]) -> Turn[Notes]:
        notes = yield from self._consult(work)
        for line in notes.told:
            yield Tell(Answer(Outcome.APPLIED, line))
        if (question := self.new_question()) is not None:
            yield Tell(question)
        return notes

    def _consult(self, work: Callable[[PlanFollower], Notes]) -> Turn[Notes]:
        notes: Notes = yield Consult(work)
        self.asked_by_memory = notes.question
        return notes

"""Dialogue with a person about running plans, as a state machine without I/O or clock.

A turn is a generator. It yields steps to carry out and is sent their results. A ROS node awaits each step; `in_process`
carries it out at once. Questions about the plan are answered by what is known: the words, the plan, its edits and
rules, and the forecast of its steps. The reader of corrections, which finds none in them, decides which words are a
question; two exact forms are certain here.
"""

from __future__ import annotations

import re
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
from llm_planner.corrections.references import listed
from llm_planner.corrections.reflexes import plain_words
from llm_planner.corrections.situation import Situation
from llm_planner.ltl.verbalization import read_back
from llm_planner.planning.report import foretold
from llm_planner.plans.plan import PlanStep, StepStatus

MOST_AGAIN = 3  # repeated readings of the same words after changes of the plan
NO_CORRECTION = "I hear no correction in that"
RULE_LEFT_OUT = "I wait, for that is a rule: say “go on” to do it all the same, or “stop”"
STILL_HELD = "I still wait: say “go on”"
_REFLEXES: Mapping[type, str] = {Hold: "I wait until you say go on", Resume: "I go on", Cancel: "stopped"}


@dataclass(frozen=True)
class Read:
    """Step that reads `words` for this `version` of the plan or a later one; its result is a `Reading`.

    `asked` is the question that was open. `stale` is an earlier reading of the words, for an outdated plan.
    """

    words: str
    asked: Clarify | None
    stale: Edit | None = None
    version: int = 0


@dataclass(frozen=True)
class Send:
    """Step that makes the edit, or only checks it; its result is an `EditResult`."""

    edit: Edit
    confirmed: bool = False
    only_check: bool = False


@dataclass(frozen=True)
class Consult:
    """Step that does `work` with the memory; its result is the `Notes`."""

    work: Callable[[PlanFollower], Notes]


@dataclass(frozen=True)
class Tell:
    """Step that notifies the person without being asked."""

    answer: Answer


@dataclass(frozen=True)
class AnswerWithoutPlan:
    """Step that answers an edit while no plan runs; its result is an `Answer`."""

    edit: Edit


@dataclass(frozen=True)
class Recall:
    """Step whose result is the `Situation` of the plan that runs, or ran last."""


@dataclass(frozen=True)
class Reading:
    """Parts of an utterance for the plan in `situation` and for the memory.

    `is_held` is whether the plan waits. `is_over` is whether it has reached its goal just now, so that an edit of its
    reopened steps becomes a command of its own (`follow_up`).
    """

    edit: Edit
    of_memory: OfMemory
    situation: Situation
    is_running: bool
    is_held: bool = False
    is_over: bool = False


class EditStatus(Enum):
    """Response of the executor; STALE means that the plan's version, or the edited step, is outdated."""

    ACCEPTED = "accepted"
    REFUSED = "refused"
    STALE = "stale"
    NO_PLAN = "no plan"


@dataclass(frozen=True)
class EditResult:
    """Response to an edit: the reason for a refusal, the changes in the plan, and the plan's present version."""

    status: EditStatus
    message: str = ""
    difference: tuple[str, ...] = ()
    version: int = 0


Step: TypeAlias = Read | Send | Consult | Tell | AnswerWithoutPlan | Recall
ResultT = TypeVar("ResultT")
Turn: TypeAlias = Generator[Step, Any, ResultT]


def reading_of(edit: Edit, situation: Situation, is_running: bool, is_held: bool = False) -> Reading:
    """Split an edit into its parts for the plan and for the memory."""
    asked, rest = of_memory(edit)
    return Reading(rest, asked, situation, is_running, is_held)


def is_reflex(edit: Edit) -> bool:
    """Whether the edit acts at once, even while other words are being read."""
    return len(edit.operations) == 1 and type(edit.operations[0]) in _REFLEXES


class DialogueSession:
    """Dialogue with its open questions.

    `asked` is a question about the plan, which an edit may wait for. `asked_by_memory` is a question by the memory.
    """

    def __init__(self) -> None:
        self.asked: Clarify | None = None
        self.asked_by_memory: Clarify | None = None
        self._pending: Edit | None = None  # edit that a yes to `asked` makes
        self._put: Clarify | None = None  # last question by the memory that the person was asked

    @property
    def question(self) -> Clarify | None:
        """Question that the next words may answer."""
        return self.asked or self.asked_by_memory

    def close_question(self) -> None:
        """Close the question about the plan."""
        self.asked = self._pending = None

    def new_question(self) -> Answer | None:
        """Return the memory's question if it is open and has not been asked yet."""
        before, self._put = self._put, self.asked_by_memory
        return asking(self._put) if self._put is not None and self._put is not before else None

    # Utterances

    def hear(self, words: str, asked: Clarify | None, preview: bool = False) -> Turn[Answer]:
        """Answer words said while `asked` was open: for the memory's question, the plan, or about lessons.

        With `preview`, an edit of the plan is only checked: the answer shows its difference and asks for a yes.
        """
        for_memory = asked is not None and asked == self.asked_by_memory
        if for_memory and (told := (yield from self._consult(partial(PlanFollower.chosen, words=words))).told):
            return with_told(Answer(Outcome.APPLIED, ""), told)
        if supposed := supposed_words(words):
            return (yield from self._suppose(supposed))
        reading: Reading = yield Read(words, asked)
        edit = reading.edit
        answering = partial(PlanFollower.answered, edit=edit)
        if for_memory and edit.operations and (told := (yield from self._consult(answering)).told):
            return with_told(Answer(Outcome.APPLIED, "", edit), told)
        answer = Answer(Outcome.APPLIED, "", Edit(reading.of_memory, words))
        if edit.operations or not reading.of_memory:
            answer = yield from self._carry_out(reading, words, asked, preview)
        return (yield from self._remember(reading.of_memory, answer)) if reading.of_memory else answer

    def _suppose(self, words: str) -> Turn[Answer]:
        """Answer what the words would change; the plan is asked, and stays as it is."""
        reading: Reading = yield Read(words, None)
        for one in reading.edit.operations:
            if isinstance(one, Clarify):
                return Answer(Outcome.NOTHING, f"to “{words}” I would ask: {one.question}")
        if not reading.edit.operations:
            return Answer(Outcome.NOTHING, f"I would hear no correction in “{words}”")
        if not reading.is_running:
            return Answer(Outcome.NOTHING, f"nothing is under way that “{words}” would change")
        result: EditResult = yield Send(reading.edit, only_check=True)
        if result.status is EditStatus.ACCEPTED:
            changes = "; ".join(result.difference) or "nothing of the plan"
            return Answer(Outcome.NOTHING, f"“{words}” would change: {changes}. All stays as it is")
        return Answer(Outcome.NOTHING, f"“{words}” would be refused: {result.message}")

    def _carry_out(self, reading: Reading, words: str, asked: Clarify | None, preview: bool) -> Turn[Answer]:
        """Make the edit, or answer a question; read the words again if the plan has changed since."""
        if not reading.edit.operations and is_question(words):
            situation: Situation = yield Recall()
            return Answer(Outcome.NOTHING, explanation(words, situation), reading.edit)
        if not reading.is_running and (not reading.is_over or is_reflex(reading.edit)):
            answer: Answer = yield AnswerWithoutPlan(reading.edit)
            return answer
        step, times = self._decide(reading.edit, preview), 0
        while isinstance(step, Send):
            result: EditResult = yield step
            if result.status is EditStatus.ACCEPTED:
                return (yield from self._accepted(step, result.difference, reading))
            if result.status is not EditStatus.STALE:
                return Answer(Outcome.REFUSED, result.message, step.edit)
            if times == MOST_AGAIN:
                return Answer(Outcome.REFUSED, "the plan changes faster than I can read; say it again", reading.edit)
            stale, times = step.edit, times + 1
            reading = yield Read(stale.words, asked if stale.words == words else None, stale, result.version)
            if reading.edit == stale:  # the person means the outdated step
                return Answer(Outcome.REFUSED, result.message, stale)
            if reading.edit.operations == stale.operations:
                step = replace(step, edit=reading.edit)
            else:
                self.close_question()
                step = self._decide(reading.edit, preview)
        return step

    def _decide(self, edit: Edit, preview: bool) -> Send | Answer:
        """Choose the next step for an edit; any edit with operations closes the open question."""
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
                return Send(edit, confirmed=lifts, only_check=lifts or (preview and not is_reflex(edit)))

    def _accepted(self, send: Send, difference: tuple[str, ...], reading: Reading) -> Turn[Answer]:
        """Answer an accepted edit; a checked edit still needs the person's confirmation.

        An edit of a held plan leaves it held, and the answer says how it goes on.
        """
        if send.only_check:
            question = "shall I no longer keep this?" if send.confirmed else "shall I change the plan so?"
            self.asked = Clarify(f"{question} {'; '.join(difference)}", ("yes", "no"))
            self._pending = send.edit
            return asking(self.asked, send.edit, difference)
        if is_reflex(send.edit):
            done = _REFLEXES[type(send.edit.operations[0])]
            if self.asked is None:
                return Answer(Outcome.APPLIED, done, send.edit, difference)
            asked = asking(self.asked, send.edit, difference)
            return replace(asked, message=f"{done}; {asked.message}")
        if reading.is_over:
            return Answer(Outcome.APPLIED, f"begun as a command: {'; '.join(difference)}", send.edit, difference)
        notes = yield from self._consult(partial(PlanFollower.taught, edit=send.edit, situation=reading.situation))
        told = (*difference, *(_REFLEXES[Hold] for one in send.edit.operations if isinstance(one, Hold)))
        if reading.is_held and not any(isinstance(one, Hold | Resume) for one in send.edit.operations):
            told = (*told, STILL_HELD)
        return with_told(Answer(Outcome.APPLIED, "; ".join(told), send.edit, difference), notes.told)

    def _remember(self, operations: OfMemory, answer: Answer) -> Turn[Answer]:
        """Append the memory's sentences and its newest question to the answer."""
        before = self.asked_by_memory
        notes = yield from self._consult(partial(PlanFollower.asked_for, operations=operations))
        answer = with_told(answer, notes.told)
        if notes.question is not None and notes.question is not before:
            self._put = notes.question
            answer = replace(with_told(answer, (asking(notes.question).message,)), outcome=Outcome.QUESTION)
        if answer.outcome is Outcome.QUESTION:
            self.close_question()
        return answer

    # Progress of the plan

    def watch(self, seen: Seen) -> Turn[None]:
        """Apply the lessons for the step under way and notify the person.

        Call this with every state of every plan. After an accepted edit, the next state may bring more.
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
                yield Send(Edit((Hold(),)))  # only the person drops a rule
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


# Questions about the plan

NO_PLAN_YET = "I have not been told to do anything yet"
MOST_AHEAD = 3  # further steps that are named
# “What would happen if I said ...”: the rest is not said to the robot. Read whole, it would be taken for a correction.
_SUPPOSED = re.compile(
    r"\s*what (?:(?:would|will) happen |happens )?if i (?:said|say)\b[\s,:]*(?P<words>.*?)[\s?]*", re.I
)
_OF_THINGS = re.compile(r"(?:is|are|was|were|does|do|has|have) (?!(?:you|it|this|that)\b)")  # not of the plan
_ASKS = re.compile(
    r"why\b|(?:what|which|where|when|how|who)\b(?: \w+){0,2} (?:are|is|do|did|does|will|would|have|can)\b"
)


def supposed_words(words: str) -> str:
    """Return the words whose effect is asked for: “slower” of “what would happen if I said slower?”; "" for none."""
    asked = _SUPPOSED.fullmatch(words)
    return asked["words"].strip("“”\"' ") if asked else ""


def is_question(words: str) -> bool:
    """Whether words in which no correction was found ask for something, in English."""
    plain = plain_words(words)
    return _ASKS.match(plain) is not None or (words.rstrip().endswith("?") and not _OF_THINGS.match(plain))


def explanation(words: str, situation: Situation) -> str:
    """Answer a question: why the step is done if it asks why, else what is done now and next."""
    plan = situation.plan
    if not plan.steps:
        return NO_PLAN_YET if not plan.command else f"“{plan.command}” has no steps"
    ended = [step for step in plan.steps if step.status in (StepStatus.DONE, StepStatus.FAILED)]
    step = situation.running or (ended[-1] if ended else plan.steps[0])
    told = _reasons(step, situation) if plain_words(words).startswith("why") else _progress(step, situation)
    if step.status in (StepStatus.RUNNING, StepStatus.PENDING):
        after = foretold([step], situation.skills.values(), situation.scene, situation.viewpoint, situation.origins)
        effects = after[0]["effects"] if after else ()
        told.insert(1, f"after it, {listed(effects, 'and')}" if effects else "")
    rules = [read_back(one.formula) for one in plan.constraints if not one.goal]
    told.append(f"I keep that {listed(rules, 'and')}" if rules else "")
    return "; ".join(filter(None, told))


def _reasons(step: PlanStep, situation: Situation) -> list[str]:
    """Return the words for which the step is in the plan with the arguments that it has, and all corrections."""
    said = f"you said “{situation.plan.command}”"
    for edit in situation.edits:
        own = [getattr(one, "value", None) for one in edit.operations if getattr(one, "step", "") == step.id]
        if any(value in step.arguments.values() for value in own):
            said = f"you corrected “{situation.plan.command}” by “{edit.words}”"
    words = [f"“{edit.words}”" for edit in situation.edits if edit.words]
    return [f"{step} is in the plan because {said}", f"corrected by {listed(words, 'and')}" if words else ""]


def _progress(step: PlanStep, situation: Situation) -> list[str]:
    """Return what is done and what comes next."""
    steps = situation.plan.steps
    total = f" of {len(steps)}" if situation.plan.complete else ""
    state = {StepStatus.RUNNING: "I do", StepStatus.PENDING: "I wait before", StepStatus.FAILED: "I failed at"}
    why = f" ({step.message})" if step.message else ""
    did = state.get(step.status, "I have done")
    coming = [str(one) for one in steps if one.status is StepStatus.PENDING]
    more = f" and {len(coming) - MOST_AHEAD} more" if len(coming) > MOST_AHEAD else ""
    return [
        f"{did} step {steps.index(step) + 1}{total}, {step}{why}, for “{situation.plan.command}”",
        f"next: {', '.join(coming[:MOST_AHEAD])}{more}" if coming else "nothing comes after it",
    ]

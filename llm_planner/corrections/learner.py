"""The memory's part in a dialogue: what corrections teach, and which lessons apply to the steps of a plan.

`Learner` handles the lessons of one command. `PlanFollower` observes plans that others execute and requests edits for
lessons. Both see plans as situations and edits as values, so they work in process as well as over ROS.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace

from llm_planner.corrections.edits import Adjust, Clarify, Confirm, Edit, Forget, Move, Operation, Remember, Undo
from llm_planner.corrections.preferences.learning import Changes
from llm_planner.corrections.preferences.memory import Memory
from llm_planner.corrections.preferences.preference import EVERYTHING, Occasion, Preference, gist
from llm_planner.corrections.preferences.retrieval import Doubt, Recollection, Use
from llm_planner.corrections.reading import chosen
from llm_planner.corrections.situation import Situation
from llm_planner.plans.plan import StepStatus

Told = tuple[str, ...]  # sentences for the person
OfMemory = tuple[Remember | Forget, ...]
Applied = tuple[int, str]  # id of a lesson and the step it applies to, "" for the plan


@dataclass(frozen=True)
class Asked:
    """Question by the memory: about `lesson`, about the lessons in `doubt`, or whether to forget all lessons."""

    question: Clarify
    lesson: int = 0
    doubt: Doubt | None = None
    forgets: bool = False


class Learner:
    """Lessons of one command; `occasion()` gives the speaker, session, command and time."""

    def __init__(self, memory: Memory, occasion: Callable[[], Occasion]) -> None:
        self._memory, self._occasion = memory, occasion
        self._found = Recollection(0.0)
        self._used: tuple[Use, ...] = ()
        self._applied: frozenset[Applied] = frozenset()
        self._left_out: frozenset[int] = frozenset()
        self._announced: frozenset[int] = frozenset()
        self._asked: tuple[Asked, ...] = ()
        self._doubted: frozenset[tuple[int, ...]] = frozenset()

    @property
    def question(self) -> Clarify | None:
        """Open question by the memory."""
        return self._asked[0].question if self._asked else None

    @property
    def uses(self) -> tuple[Use, ...]:
        """Lessons in force."""
        return self._used

    # Use of lessons

    def recall(self, situation: Situation) -> Recollection:
        """Return lessons for the remaining steps that were not applied yet; call this whenever a step begins."""
        found = self._memory.recall(situation, self._occasion())
        doubts = tuple(doubt for doubt in found.doubts if doubt.lessons not in self._doubted)
        self._doubted |= {doubt.lessons for doubt in doubts}
        self._asked += tuple(Asked(doubt.question, doubt=doubt) for doubt in doubts)
        self._found = replace(found, uses=tuple(filter(self._is_new, found.uses)), doubts=doubts)
        return self._found

    def _is_new(self, use: Use) -> bool:
        number, told = use.lesson.id, use.lesson.provenance
        if use.in_motion and told.command == self._occasion().command:
            return False  # motion changes stay in force during their command
        return number not in self._left_out and not {(number, ""), (number, use.step)} & self._applied

    def uses_in(self, step: str) -> tuple[Use, ...]:
        """Return the lessons for the motion of a step that begins; a restarted step has them already."""
        return tuple(use for use in self._found.uses if use.in_motion and use.step == step)

    def announcement(self, found: Recollection) -> Told:
        """Announce the lessons that have not been announced before."""
        new = tuple(use for use in found.uses if use.lesson.id not in self._announced)
        self._announced |= {use.lesson.id for use in new}
        return (replace(found, uses=new).announcement,) if new else ()

    def applied(self, uses: tuple[Use, ...]) -> None:
        """Record that these lessons are in force."""
        self._used = (*(use for use in self._used if use not in uses), *uses)
        self._applied |= {(use.lesson.id, use.step) for use in uses}

    def refused(self, uses: Iterable[tuple[Use, str]]) -> Told:
        """Record uses that failed their check for the given reasons; report lessons that are not in force at all."""
        told: Told = ()
        for use, reason in uses:
            self._applied |= {(use.lesson.id, use.step)}
            if use.lesson.id not in {other.lesson.id for other in self._used}:
                told += (f"I leave out what you told me, {gist(use.lesson)}: {reason}",)
        return told

    def _leave_out(self, lesson: Preference) -> None:
        """Do not use a revoked lesson for the rest of the command."""
        self._left_out |= {lesson.id}
        self._used = tuple(use for use in self._used if use.lesson.id != lesson.id)

    # Learning

    def taught(self, edit: Edit, situation: Situation) -> Told:
        """Learn from an applied edit or undo; `situation` is from the time of the utterance."""
        if any(isinstance(one, Undo) for one in edit.operations):
            before = standing(situation.edits)
            return self._undone(before[-1]) if before else ()
        steps = {*_steps_of(edit), *(step.id for step in situation.ahead[:1])}
        used = {use.lesson.id for use in self._used if use.step in ("", *steps)}
        return self._changed(self._memory.taught(edit, situation, self._occasion(), used))

    def _undone(self, edit: Edit) -> Told:
        """Drop what an undone edit taught, and leave out the lessons that it consisted of."""
        for use in self._used:
            if all(one in edit.operations for one in use.operations):
                self._leave_out(use.lesson)
        return self._changed(self._memory.undone(edit.words, self._occasion().command))

    def asked_for(self, operation: Remember | Forget) -> Told:
        """Remember or forget lessons on request."""
        if isinstance(operation, Remember):
            return self._changed(self._memory.remember(operation.scope, self._occasion()))
        if operation.about == EVERYTHING and (count := self._memory.meant(EVERYTHING)):
            things = "the one thing" if count == 1 else f"all {count} things"
            question = Clarify(f"Shall I forget {things} that you taught me?", ("yes", "no"))
            self._asked = (Asked(question, forgets=True), *(one for one in self._asked if not one.forgets))
            return ()
        return self._changed(self._memory.forget(operation.about))

    def step_ended(self, step: str, succeeded: bool) -> Told:
        """Update the lessons after a step."""
        used = [use.lesson.id for use in self._used if use.step in ("", step)]
        return self._changed(self._memory.step_ended(replace(self._occasion(), step=step), succeeded, used))

    def command_ended(self, succeeded: bool) -> Told:
        """Update the lessons after the command, with all plans made for it."""
        return self._changed(self._memory.command_ended(self._occasion().command, succeeded))

    # Questions

    def chosen(self, words: str) -> Told:
        """Process the choice between contrary lessons; return () if the words are not a choice."""
        asked = self._asked[0]
        number = chosen(words, asked.question)
        if asked.doubt is None or number is None:
            return ()
        self._asked = self._asked[1:]
        lesson, option = asked.doubt.lessons[number], asked.question.options[number]
        return self._changed(self._memory.prefer(asked.doubt, lesson)) or (f"all right: {option}",)

    def answered(self, edit: Edit) -> Told:
        """Process the answer to a yes-or-no question; any other edit closes the question."""
        asked, self._asked = self._asked[0], self._asked[1:]
        match edit.operations:
            case (Confirm(yes),) if asked.forgets:
                return self._changed(self._memory.forget(EVERYTHING)) if yes else ("all right, I keep it all",)
            case (Confirm(yes),) if asked.doubt is None:
                return self._changed(self._memory.answer(asked.lesson, yes))
            case _:
                return ()

    def _changed(self, changes: Changes) -> Told:
        if changes.question is not None:
            self._asked += (Asked(changes.question, changes.keep[-1].id),)
        return changes.told


def of_memory(edit: Edit) -> tuple[OfMemory, Edit]:
    """Split an edit into its operations for the memory and the rest for the plan."""
    asked = tuple(one for one in edit.operations if isinstance(one, Remember | Forget))
    return asked, replace(edit, operations=tuple(one for one in edit.operations if one not in asked))


def is_of_quantity(operation: Operation) -> bool:
    """Whether the operation changes a quantity, which may be at its limit already."""
    return isinstance(operation, Adjust)


def _steps_of(edit: Edit) -> Iterator[str]:
    """Yield the ids of the steps that the edit names."""
    for operation in edit.operations:
        yield from operation.steps if isinstance(operation, Move) else filter(None, (getattr(operation, "step", ""),))


def standing(edits: tuple[Edit, ...]) -> tuple[Edit, ...]:
    """Return the edits that no later edit has undone, the newest last."""
    kept: tuple[Edit, ...] = ()
    for edit in edits:
        kept = kept[:-1] if any(isinstance(one, Undo) for one in edit.operations) else (*kept, edit)
    return kept


_OVER = (StepStatus.DONE, StepStatus.FAILED)


@dataclass(frozen=True)
class Seen:
    """Observed progress of the plan for `command`.

    The plan is `done`, `dropped` for good, or `moving`; with none of them set, it is paused or may resume.
    """

    command: str
    situation: Situation
    moving: bool = False
    done: bool = False
    dropped: bool = False


@dataclass(frozen=True)
class Wish:
    """Edit that the lessons of `uses` request; without words if it only changes the motion of the step under way."""

    edit: Edit
    uses: tuple[Use, ...]


@dataclass(frozen=True)
class Notes:
    """Sentences for the person, the next requested edit, and the open question by the memory."""

    told: Told = ()
    wish: Wish | None = None
    question: Clarify | None = None


class PlanFollower:
    """Memory's view of running plans: it receives every state of every plan and the results of the person's words.

    `occasion(command)` gives the speaker, the session and the time.
    """

    def __init__(self, memory: Memory, occasion: Callable[[str], Occasion]) -> None:
        self._memory, self._occasion = memory, occasion
        self._begin("")

    def _begin(self, command: str) -> None:
        self._command, self._is_over = command, command == ""
        self._learner = Learner(self._memory, lambda: self._occasion(command))
        self._ended, self._served, self._one_by_one = frozenset[str](), "", False

    @property
    def uses(self) -> tuple[Use, ...]:
        """Lessons in force for the command and the steps they apply to."""
        return self._learner.uses

    def _notes(self, told: Told = (), wish: Wish | None = None) -> Notes:
        return Notes(told, wish, self._learner.question)

    # Progress of the plan

    def looked(self, seen: Seen) -> Notes:
        """Process a state of a plan: confirm lessons by ended steps and request edits for the step that has begun.

        After the response to a request (`made`, `refused`) there may be another one, so call this again.
        """
        told: Told = ()
        if seen.command != self._command:
            told = self._over(False)
            self._begin(seen.command)
        told += self._steps_ended(seen.situation)
        if seen.done or seen.dropped:
            return self._notes(told + self._over(seen.done))
        return self._lessons_for(seen.situation, told) if seen.moving else self._notes(told)

    def _over(self, succeeded: bool) -> Told:
        if self._is_over:
            return ()
        self._is_over = True
        return self._learner.command_ended(succeeded)

    def _steps_ended(self, situation: Situation) -> Told:
        over = {step.id: step.status for step in situation.plan.steps if step.status in _OVER}
        if not over.keys() >= self._ended:  # a new plan for the same command
            self._ended, self._served = frozenset(), ""
        told: Told = ()
        for step, status in over.items():
            if step not in self._ended:
                told += self._learner.step_ended(step, status is StepStatus.DONE)
        self._ended = frozenset(over)
        return told

    def _lessons_for(self, situation: Situation, told: Told) -> Notes:
        """Request lasting changes first, which may insert steps, and then changes of the step's motion."""
        step = situation.running
        if step is None or step.id == self._served:
            return self._notes(told)
        found = self._learner.recall(situation)
        made = tuple(use for use in found.uses if _is_made(use, situation.edits))
        self._learner.applied(made)  # applied by another follower or by the person
        found = replace(found, uses=tuple(use for use in found.uses if use not in made))
        told += self._learner.announcement(found)
        uses = tuple(use for use in found.uses if not use.in_motion)
        if uses:
            return self._notes(told, _wish(found, uses[:1] if self._one_by_one else uses, situation.version))
        self._served = step.id
        uses = self._learner.uses_in(step.id)
        operations = tuple(one for use in uses for one in use.operations)
        return self._notes(told, Wish(Edit(operations, "", situation.version), uses) if uses else None)

    def made(self, wish: Wish) -> Notes:
        """Record that a requested edit is in force."""
        self._learner.applied(wish.uses)
        return self._notes()

    def refused(self, wish: Wish, reason: str) -> Notes:
        """Record that a requested edit cannot be made; the lessons of a combined edit are then tried one by one.

        A quantity that is at its limit already does not count as a refusal.
        """
        if wish.edit.words and len(wish.uses) > 1:
            self._one_by_one = True
            return self._notes()
        uses = tuple(use for use in wish.uses if wish.edit.words or not all(map(is_of_quantity, use.operations)))
        return self._notes(self._learner.refused((use, reason) for use in uses))

    # Utterances

    def chosen(self, words: str) -> Notes:
        """Process words as a choice between contrary lessons; report nothing if they are not."""
        return self._notes(self._learner.chosen(words) if self._learner.question else ())

    def answered(self, edit: Edit) -> Notes:
        """Process an edit as an answer to the memory's question; report nothing if it is not."""
        return self._notes(self._learner.answered(edit) if self._learner.question else ())

    def asked_for(self, operations: OfMemory) -> Notes:
        """Remember or forget lessons on request."""
        return self._notes(tuple(line for one in operations for line in self._learner.asked_for(one)))

    def taught(self, edit: Edit, situation: Situation) -> Notes:
        """Learn from an edit by the person; `situation` is from the time of the utterance."""
        return self._notes(self._learner.taught(edit, situation))


def _wish(found: Recollection, uses: tuple[Use, ...], version: int) -> Wish:
    return Wish(replace(found, uses=uses).edit(version), uses)


def _is_made(use: Use, edits: tuple[Edit, ...]) -> bool:
    """Whether an earlier edit contains the operations."""
    return not use.in_motion and any(all(one in edit.operations for one in use.operations) for edit in edits)

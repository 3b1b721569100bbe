"""What one command's corrections teach, and what was taught before for its steps: the memory's part in a conversation.

It knows plans as situations and edits as values, so that whoever applies edits, here or over ROS, may ask it.

Memory's part while somebody else carries plans out: from what is told of a plan to what is to be done for it.
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
Applied = tuple[int, str]  # a lesson's id and the step for which it was used, "" for the plan


@dataclass(frozen=True)
class Asked:
    """A question of memory's: whether `lesson` is to hold always, which of the lessons in `doubt` holds here, or
    whether all lessons are to be forgotten."""

    question: Clarify
    lesson: int = 0
    doubt: Doubt | None = None
    forgets: bool = False


class Learner:
    """`occasion()` says who speaks, in which session, during which command, and when."""

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
        """The question of memory's that is open."""
        return self._asked[0].question if self._asked else None

    @property
    def uses(self) -> tuple[Use, ...]:
        """What is in force by lessons."""
        return self._used

    # What was taught before

    def recall(self, situation: Situation) -> Recollection:
        """What lessons are for the steps ahead, less what was applied already. To be asked whenever a step begins: what
        was told of one step may have been learned by the next."""
        found = self._memory.recall(situation, self._occasion())
        doubts = tuple(doubt for doubt in found.doubts if doubt.lessons not in self._doubted)
        self._doubted |= {doubt.lessons for doubt in doubts}
        self._asked += tuple(Asked(doubt.question, doubt=doubt) for doubt in doubts)
        self._found = replace(found, uses=tuple(filter(self._is_new, found.uses)), doubts=doubts)
        return self._found

    def _is_new(self, use: Use) -> bool:
        number, told = use.lesson.id, use.lesson.provenance
        if use.in_motion and told.command == self._occasion().command:
            return False  # what was said of motion is in force already while this command lasts
        return number not in self._left_out and not {(number, ""), (number, use.step)} & self._applied

    def uses_in(self, step: str) -> tuple[Use, ...]:
        """What lessons are for the motion of a step that begins; one that begins anew has them already."""
        return tuple(use for use in self._found.uses if use.in_motion and use.step == step)

    def announcement(self, found: Recollection) -> Told:
        """What is said of lessons of which it has not been said before."""
        new = tuple(use for use in found.uses if use.lesson.id not in self._announced)
        self._announced |= {use.lesson.id for use in new}
        return (replace(found, uses=new).announcement,) if new else ()

    def applied(self, uses: tuple[Use, ...]) -> None:
        """These are in force now."""
        self._used = (*(use for use in self._used if use not in uses), *uses)
        self._applied |= {(use.lesson.id, use.step) for use in uses}

    def refused(self, uses: Iterable[tuple[Use, str]]) -> Told:
        """The check has not let these pass, for the reasons given: they are not tried again. What is left of a lesson
        is in force all the same; of one of which nothing is, it is told."""
        told: Told = ()
        for use, reason in uses:
            self._applied |= {(use.lesson.id, use.step)}
            if use.lesson.id not in {other.lesson.id for other in self._used}:
                told += (f"I leave out what you told me, {gist(use.lesson)}: {reason}",)
        return told

    def _leave_out(self, lesson: Preference) -> None:
        """It was taken back: it is not used again while the command lasts."""
        self._left_out |= {lesson.id}
        self._used = tuple(use for use in self._used if use.lesson.id != lesson.id)

    # What is taught now

    def taught(self, edit: Edit, situation: Situation) -> Told:
        """The edit was applied, or took the last one back; `situation` is as it was when it was said."""
        if any(isinstance(one, Undo) for one in edit.operations):
            before = standing(situation.edits)
            return self._undone(before[-1]) if before else ()
        steps = {*_steps_of(edit), *(step.id for step in situation.ahead[:1])}
        used = {use.lesson.id for use in self._used if use.step in ("", *steps)}
        return self._changed(self._memory.taught(edit, situation, self._occasion(), used))

    def _undone(self, edit: Edit) -> Told:
        """The edit was taken back: what it taught is dropped, and lessons that it was made of are left out."""
        for use in self._used:
            if all(one in edit.operations for one in use.operations):
                self._leave_out(use.lesson)
        return self._changed(self._memory.undone(edit.words, self._occasion().command))

    def asked_for(self, operation: Remember | Forget) -> Told:
        """To keep or to drop what was taught."""
        if isinstance(operation, Remember):
            return self._changed(self._memory.remember(operation.scope, self._occasion()))
        if operation.about == EVERYTHING and (count := self._memory.meant(EVERYTHING)):
            things = "the one thing" if count == 1 else f"all {count} things"
            question = Clarify(f"Shall I forget {things} that you taught me?", ("yes", "no"))
            self._asked = (Asked(question, forgets=True), *(one for one in self._asked if not one.forgets))
            return ()
        return self._changed(self._memory.forget(operation.about))

    def step_ended(self, step: str, succeeded: bool) -> Told:
        """A step ended well, or failed."""
        used = [use.lesson.id for use in self._used if use.step in ("", step)]
        return self._changed(self._memory.step_ended(replace(self._occasion(), step=step), succeeded, used))

    def command_ended(self, succeeded: bool) -> Told:
        """The command is over, whatever plans were made for it."""
        return self._changed(self._memory.command_ended(self._occasion().command, succeeded))

    # Questions

    def chosen(self, words: str) -> Told:
        """What comes of an answer to which of several lessons holds; nothing where the words are none."""
        asked = self._asked[0]
        number = chosen(words, asked.question)
        if asked.doubt is None or number is None:
            return ()
        self._asked = self._asked[1:]
        lesson, option = asked.doubt.lessons[number], asked.question.options[number]
        return self._changed(self._memory.prefer(asked.doubt, lesson)) or (f"all right: {option}",)

    def answered(self, edit: Edit) -> Told:
        """What comes of an answer to whether it is always to be so; anything else passes the question over."""
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
    """What the edit asks of memory, and what is left of it for the plan."""
    asked = tuple(one for one in edit.operations if isinstance(one, Remember | Forget))
    return asked, replace(edit, operations=tuple(one for one in edit.operations if one not in asked))


def is_of_quantity(operation: Operation) -> bool:
    """Whether it changes a quantity, which may be at its limit already."""
    return isinstance(operation, Adjust)


def _steps_of(edit: Edit) -> Iterator[str]:
    """The ids of the steps that it names."""
    for operation in edit.operations:
        yield from operation.steps if isinstance(operation, Move) else filter(None, (getattr(operation, "step", ""),))


def standing(edits: tuple[Edit, ...]) -> tuple[Edit, ...]:
    """Those of the edits, the newest last, that have not been taken back by a later one."""
    kept: tuple[Edit, ...] = ()
    for edit in edits:
        kept = kept[:-1] if any(isinstance(one, Undo) for one in edit.operations) else (*kept, edit)
    return kept


_OVER = (StepStatus.DONE, StepStatus.FAILED)


@dataclass(frozen=True)
class Seen:
    """How far the plan of the command `command` is: `done` or `dropped` for good, `moving`, or none of them, where it
    is held or may yet go on."""

    command: str
    situation: Situation
    moving: bool = False
    done: bool = False
    dropped: bool = False


@dataclass(frozen=True)
class Wish:
    """An edit that the lessons of `uses` ask for. One of motion alone, for the step under way, has no words."""

    edit: Edit
    uses: tuple[Use, ...]


@dataclass(frozen=True)
class Notes:
    """What is told, the edit that is wished for next, and the question of memory's that is open then."""

    told: Told = ()
    wish: Wish | None = None
    question: Clarify | None = None


class PlanFollower:
    """To be shown every state of every plan, and what the person's words have come to.

    `occasion(command)` says who speaks, in which session, and when.
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
        """The lessons that are in force by what the command's plan has seen, and for which steps."""
        return self._learner.uses

    def _notes(self, told: Told = (), wish: Wish | None = None) -> Notes:
        return Notes(told, wish, self._learner.question)

    # The plan goes on

    def looked(self, seen: Seen) -> Notes:
        """What was borne out by steps that have ended, and what lessons are for the step that has begun.

        Once the wish was made or not (`made`, `refused`) there may be another: look again.
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
        if not over.keys() >= self._ended:  # another plan for the same command, whose steps are counted anew
            self._ended, self._served = frozenset(), ""
        told: Told = ()
        for step, status in over.items():
            if step not in self._ended:
                told += self._learner.step_ended(step, status is StepStatus.DONE)
        self._ended = frozenset(over)
        return told

    def _lessons_for(self, situation: Situation, told: Told) -> Notes:
        """First what holds from now on, which may put something else before the step; then what is of its motion."""
        step = situation.running
        if step is None or step.id == self._served:
            return self._notes(told)
        found = self._learner.recall(situation)
        made = tuple(use for use in found.uses if _is_made(use, situation.edits))
        self._learner.applied(made)  # by whoever followed the plan before, or as the person said it
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
        """It is in force."""
        self._learner.applied(wish.uses)
        return self._notes()

    def refused(self, wish: Wish, reason: str) -> Notes:
        """It cannot be made. Of several lessons each is tried by itself then; that one is told of. What a lesson asks
        for may be at its limit already: that is no refusal."""
        if wish.edit.words and len(wish.uses) > 1:
            self._one_by_one = True
            return self._notes()
        uses = tuple(use for use in wish.uses if wish.edit.words or not all(map(is_of_quantity, use.operations)))
        return self._notes(self._learner.refused((use, reason) for use in uses))

    # Something was said

    def chosen(self, words: str) -> Notes:
        """The words as an answer to which of several lessons holds; nothing is told where they are none."""
        return self._notes(self._learner.chosen(words) if self._learner.question else ())

    def answered(self, edit: Edit) -> Notes:
        """The edit as an answer to whether it is always to be so; nothing is told where it is none."""
        return self._notes(self._learner.answered(edit) if self._learner.question else ())

    def asked_for(self, operations: OfMemory) -> Notes:
        """To keep or to drop what was taught."""
        return self._notes(tuple(line for one in operations for line in self._learner.asked_for(one)))

    def taught(self, edit: Edit, situation: Situation) -> Notes:
        """The person's edit was made; `situation` is as it was when it was said."""
        return self._notes(self._learner.taught(edit, situation))


def _wish(found: Recollection, uses: tuple[Use, ...], version: int) -> Wish:
    return Wish(replace(found, uses=uses).edit(version), uses)


def _is_made(use: Use, edits: tuple[Edit, ...]) -> bool:
    """Whether the plan was edited so already."""
    return not use.in_motion and any(all(one in edit.operations for one in use.operations) for edit in edits)

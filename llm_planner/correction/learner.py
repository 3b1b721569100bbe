"""What one command's corrections teach, and what was taught before for its steps: the memory's part in a conversation.

It knows plans as situations and edits as values, so that whoever applies edits, here or over ROS, may ask it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace

from llm_planner.correction.memory.forgetting import EVERYTHING
from llm_planner.correction.memory.learning import Changes
from llm_planner.correction.memory.lesson import Lesson, Occasion
from llm_planner.correction.memory.memory import Memory
from llm_planner.correction.memory.retrieval import Doubt, Recollection, Use
from llm_planner.correction.memory.wording import gist
from llm_planner.correction.reading import chosen
from llm_planner.correction.situation import Situation
from llm_planner.plan.edits import Adjust, Clarify, Confirm, Edit, Forget, Move, Operation, Remember, Undo

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

    def _leave_out(self, lesson: Lesson) -> None:
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

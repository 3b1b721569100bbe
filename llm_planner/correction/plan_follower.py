"""Memory's part while somebody else carries plans out: from what is told of a plan to what is to be done for it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from llm_planner.correction.learner import Learner, OfMemory, Told, is_of_quantity
from llm_planner.correction.memory.lesson import Occasion
from llm_planner.correction.memory.memory import Memory
from llm_planner.correction.memory.retrieval import Recollection, Use
from llm_planner.correction.situation import Situation
from llm_planner.plan.edits import Clarify, Edit
from llm_planner.plan.plan import StepStatus

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

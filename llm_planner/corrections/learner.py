"""The memory's part in a dialogue: what corrections teach, and which lessons apply to the steps of a plan.

`PlanFollower` observes plans that others execute and requests edits for lessons. It sees plans as situations and edits
as values, so it works in process as well as over ROS.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from llm_planner.corrections.edits import Adjust, Clarify, Confirm, Edit, Forget, Move, Remember, Undo
from llm_planner.corrections.preferences.learning import Changes
from llm_planner.corrections.preferences.memory import Memory
from llm_planner.corrections.preferences.preference import EVERYTHING, Occasion, gist
from llm_planner.corrections.preferences.retrieval import Doubt, Recollection, Use
from llm_planner.corrections.reading import chosen
from llm_planner.corrections.situation import Situation
from llm_planner.plans.plan import StepStatus

Told = tuple[str, ...]  # sentences for the person
OfMemory = tuple[Remember | Forget, ...]
Applied = tuple[int, str]  # id of a lesson and the step it applies to, "" for the plan
_OVER = (StepStatus.DONE, StepStatus.FAILED)


@dataclass(frozen=True)
class Asked:
    """Question by the memory: about `lesson`, about the lessons in `doubt`, or whether to forget all lessons."""

    question: Clarify
    lesson: int = 0
    doubt: Doubt | None = None
    forgets: bool = False


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

    `occasion(command)` gives the speaker, the session and the time. `uses` are the lessons in force for the command.
    """

    def __init__(self, memory: Memory, occasion: Callable[[str], Occasion]) -> None:
        self._memory, self._occasion_of = memory, occasion
        self._begin("")

    def _begin(self, command: str) -> None:
        self._command, self._is_over = command, command == ""
        self._ended, self._served, self._one_by_one = frozenset[str](), "", False
        self.uses: tuple[Use, ...] = ()
        self._applied: frozenset[Applied] = frozenset()
        self._left_out: frozenset[int] = frozenset()  # ids of lessons that are revoked for the rest of the command
        self._announced: frozenset[int] = frozenset()
        self._asked: tuple[Asked, ...] = ()
        self._doubted: frozenset[tuple[int, ...]] = frozenset()

    def _occasion(self) -> Occasion:
        return self._occasion_of(self._command)

    def _notes(self, told: Told = (), wish: Wish | None = None) -> Notes:
        return Notes(told, wish, self._asked[0].question if self._asked else None)

    def _changed(self, changes: Changes) -> Told:
        """Return the sentences of a change of the memory, and keep its question."""
        if changes.question is not None:
            self._asked += (Asked(changes.question, changes.keep[-1].id),)
        return changes.told

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
        """Update the lessons after the command, with all plans made for it."""
        if self._is_over:
            return ()
        self._is_over = True
        return self._changed(self._memory.command_ended(self._command, succeeded))

    def _steps_ended(self, situation: Situation) -> Told:
        over = {step.id: step.status for step in situation.plan.steps if step.status in _OVER}
        if not over.keys() >= self._ended:  # a new plan for the same command
            self._ended, self._served = frozenset(), ""
        told: Told = ()
        for step in (one for one in over if one not in self._ended):
            occasion, succeeded = replace(self._occasion(), step=step), over[step] is StepStatus.DONE
            used = [use.lesson.id for use in self.uses if use.step in ("", step)]
            told += self._changed(self._memory.step_ended(occasion, succeeded, used))
        self._ended = frozenset(over)
        return told

    def _lessons_for(self, situation: Situation, told: Told) -> Notes:
        """Request lasting changes first, which may insert steps, and then changes of the step's motion."""
        step = situation.running
        if step is None or step.id == self._served:
            return self._notes(told)
        found = self._recalled(situation)
        unannounced = tuple(use for use in found.uses if use.lesson.id not in self._announced)
        self._announced |= {use.lesson.id for use in unannounced}
        told += (replace(found, uses=unannounced).announcement,) if unannounced else ()
        if lasting := tuple(use for use in found.uses if not use.in_motion):
            first = replace(found, uses=lasting[:1] if self._one_by_one else lasting)
            return self._notes(told, Wish(first.edit(situation.version), first.uses))
        self._served = step.id
        uses = tuple(use for use in found.uses if use.step == step.id)  # a restarted step has them already
        operations = tuple(one for use in uses for one in use.operations)
        return self._notes(told, Wish(Edit(operations, "", situation.version), uses) if uses else None)

    def _recalled(self, situation: Situation) -> Recollection:
        """Return the lessons for the remaining steps that are not in force yet; keep the questions about others."""
        found = self._memory.recall(situation, self._occasion())
        doubts = tuple(doubt for doubt in found.doubts if doubt.lessons not in self._doubted)
        self._doubted |= {doubt.lessons for doubt in doubts}
        self._asked += tuple(Asked(doubt.question, doubt=doubt) for doubt in doubts)
        command, new, made = self._occasion().command, list[Use](), list[Use]()
        for use in found.uses:
            number = use.lesson.id
            if use.in_motion and use.lesson.provenance.command == command:
                continue  # motion changes stay in force during their command
            if number in self._left_out or {(number, ""), (number, use.step)} & self._applied:
                continue
            in_edit = (all(one in edit.operations for one in use.operations) for edit in situation.edits)
            is_made = not use.in_motion and any(in_edit)  # by another follower or by the person
            (made if is_made else new).append(use)
        self._apply(tuple(made))
        return replace(found, uses=tuple(new), doubts=doubts)

    def _apply(self, uses: tuple[Use, ...]) -> None:
        self.uses = (*(use for use in self.uses if use not in uses), *uses)
        self._applied |= {(use.lesson.id, use.step) for use in uses}

    def made(self, wish: Wish) -> Notes:
        """Record that a requested edit is in force."""
        self._apply(wish.uses)
        return self._notes()

    def refused(self, wish: Wish, reason: str) -> Notes:
        """Record that a requested edit cannot be made; the lessons of a combined edit are then tried one by one.

        A quantity that is at its limit already does not count as a refusal, nor does a lesson in force elsewhere.
        """
        if wish.edit.words and len(wish.uses) > 1:
            self._one_by_one = True
            return self._notes()
        told: Told = ()
        for use in wish.uses:
            if not wish.edit.words and all(isinstance(one, Adjust) for one in use.operations):
                continue
            self._applied |= {(use.lesson.id, use.step)}
            if use.lesson.id not in {other.lesson.id for other in self.uses}:
                told += (f"I leave out what you told me, {gist(use.lesson)}: {reason}",)
        return self._notes(told)

    # Utterances

    def chosen(self, words: str) -> Notes:
        """Process words as a choice between contrary lessons; report nothing if they are not."""
        asked = self._asked[0] if self._asked else None
        number = chosen(words, asked.question) if asked else None
        if asked is None or asked.doubt is None or number is None:
            return self._notes()
        self._asked = self._asked[1:]
        lesson, option = asked.doubt.lessons[number], asked.question.options[number]
        return self._notes(self._changed(self._memory.prefer(asked.doubt, lesson)) or (f"all right: {option}",))

    def answered(self, edit: Edit) -> Notes:
        """Process an edit as an answer to the memory's yes-or-no question; any other edit closes the question."""
        if not self._asked:
            return self._notes()
        asked, self._asked = self._asked[0], self._asked[1:]
        told: Told = ()
        match edit.operations:
            case (Confirm(yes),) if asked.forgets:
                told = self._changed(self._memory.forget(EVERYTHING)) if yes else ("all right, I keep it all",)
            case (Confirm(yes),) if asked.doubt is None:
                told = self._changed(self._memory.answer(asked.lesson, yes))
        return self._notes(told)

    def asked_for(self, operations: OfMemory) -> Notes:
        """Remember or forget lessons on request."""
        return self._notes(tuple(line for one in operations for line in self._done(one)))

    def _done(self, operation: Remember | Forget) -> Told:
        if isinstance(operation, Remember):
            return self._changed(self._memory.remember(operation.scope, self._occasion()))
        if operation.about == EVERYTHING and (count := self._memory.meant(EVERYTHING)):
            things = "the one thing" if count == 1 else f"all {count} things"
            question = Clarify(f"Shall I forget {things} that you taught me?", ("yes", "no"))
            self._asked = (Asked(question, forgets=True), *(one for one in self._asked if not one.forgets))
            return ()
        return self._changed(self._memory.forget(operation.about))

    def taught(self, edit: Edit, situation: Situation) -> Notes:
        """Learn from an edit or undo by the person; `situation` is from the time of the utterance."""
        if any(isinstance(one, Undo) for one in edit.operations):
            before = standing(situation.edits)
            if not before:
                return self._notes()
            undone = before[-1]  # what it taught is dropped, and the lessons that it consisted of are left out
            revoked = {use.lesson.id for use in self.uses if all(one in undone.operations for one in use.operations)}
            self._left_out |= revoked
            self.uses = tuple(use for use in self.uses if use.lesson.id not in revoked)
            return self._notes(self._changed(self._memory.undone(undone.words, self._occasion().command)))
        named = (one.steps if isinstance(one, Move) else (getattr(one, "step", ""),) for one in edit.operations)
        steps = {*(step for some in named for step in some), *(step.id for step in situation.ahead[:1])}
        used = {use.lesson.id for use in self.uses if use.step in ("", *steps)}
        return self._notes(self._changed(self._memory.taught(edit, situation, self._occasion(), used)))


def of_memory(edit: Edit) -> tuple[OfMemory, Edit]:
    """Split an edit into its operations for the memory and the rest for the plan."""
    asked = tuple(one for one in edit.operations if isinstance(one, Remember | Forget))
    return asked, replace(edit, operations=tuple(one for one in edit.operations if one not in asked))


def standing(edits: tuple[Edit, ...]) -> tuple[Edit, ...]:
    """Return the edits that no later edit has undone, the newest last."""
    kept: tuple[Edit, ...] = ()
    for edit in edits:
        kept = kept[:-1] if any(isinstance(one, Undo) for one in edit.operations) else (*kept, edit)
    return kept

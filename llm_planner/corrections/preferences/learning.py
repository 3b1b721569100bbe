"""Learning of lessons from events, as pure functions from the present lessons to changes.

A lesson is proposed when its edit is applied. It is learned once its step has ended well, or the person has confirmed
it. Rules are learned at once, because no step can confirm them. A correction for one occasion stays a proposal; when it
is repeated for another step, the person is asked whether it applies always. The module also compares operations: what
they decide, their sum, and whether they contradict each other.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from math import dist, hypot

from llm_planner.corrections.edits import (
    AddRule,
    Adjust,
    Change,
    Clarify,
    Insert,
    Move,
    Operation,
    Rebind,
    Remove,
    Replace,
    Shift,
)
from llm_planner.corrections.preferences.preference import Occasion, Preference, Slots, State, gist, of_what
from llm_planner.language.correction_requests import MOTION_QUANTITIES, Scope

ALIKE = 0.25  # relative difference up to which amounts are the same
NOTHING = 0.02  # relative change of a quantity that has no effect
_MILLIMETRE = 0.001


def decides(operation: Operation) -> tuple[str, ...]:
    """Return a key for what the operation decides; of several lessons with the same key, a step uses one."""
    match operation:
        case Adjust():
            return "adjust", operation.quantity, operation.step
        case Rebind():
            return "bind", operation.parameter
        case Insert():
            return "insert", operation.skill, *sorted(map(str, operation.arguments.values()))
        case AddRule():
            return "rule", operation.formula
        case Replace():
            return ("replace",)
        case _:
            return (type(operation).__name__.lower(),)


def together(before: Operation, after: Operation) -> Operation | None:
    """Combine two operations that decide the same; None if they cancel out."""
    if isinstance(before, Shift) and isinstance(after, Shift) and before.frame is after.frame:
        x, y, z = (round(a + b, 4) for a, b in zip(before.offset, after.offset, strict=True))
        return replace(after, offset=(x, y, z)) if hypot(x, y, z) >= _MILLIMETRE else None
    if isinstance(before, Adjust) and isinstance(after, Adjust):
        return _adjusted(before, after)
    return after


def _adjusted(before: Adjust, after: Adjust) -> Adjust | None:
    if after.change is Change.SCALE and before.change is not Change.SHIFT:
        both = replace(before, value=round(before.value * after.value, 4))
    elif after.change is Change.SHIFT and before.change is not Change.SCALE:
        both = replace(before, value=round(before.value + after.value, 4))
    else:  # a new value, or a factor and an amount, which do not combine
        both = after
    return both if _sense(both) else None


def same_amount(one: Operation, other: Operation) -> bool:
    """Whether two operations are equal, with amounts that differ by at most `ALIKE`."""
    if isinstance(one, Shift) and isinstance(other, Shift):
        most = ALIKE * max(hypot(*one.offset), hypot(*other.offset))
        return one.frame is other.frame and dist(one.offset, other.offset) <= most
    if isinstance(one, Adjust) and isinstance(other, Adjust):
        most = ALIKE * max(abs(one.value), abs(other.value))
        return replace(one, value=0.0) == replace(other, value=0.0) and abs(one.value - other.value) <= most
    if isinstance(one, AddRule) and isinstance(other, AddRule):
        return one.formula == other.formula
    return one == other


def same_operations(some: Sequence[Operation], others: Sequence[Operation]) -> bool:
    """Whether the operations are equal in pairs, see `same_amount`."""
    return len(some) == len(others) and all(map(same_amount, some, others))


def contrary(one: Operation, other: Operation) -> bool:
    """Whether two operations that decide the same contradict each other; different amounts do not."""
    match one, other:
        case Shift(), Shift():
            return sum(a * b for a, b in zip(one.offset, other.offset, strict=True)) < 0
        case Adjust(), Adjust():
            return _sense(one) * _sense(other) < 0
        case (Rebind(), Rebind()) | (Replace(), Replace()) | (Move(), Move()):
            return one != other
        case (Remove(), Insert()) | (Insert(), Remove()):
            return True
        case _:
            return False


def _sense(operation: Adjust) -> int:
    """Return 1 for more of the quantity, -1 for less, 0 for neither or unknown."""
    normal = 0.0
    if operation.change is Change.SCALE:
        normal = 1.0
    elif operation.change is Change.SET:
        if operation.quantity not in MOTION_QUANTITIES or operation.step:
            return 1
        normal = MOTION_QUANTITIES[operation.quantity].normal
    change = operation.value - normal
    return 0 if abs(change) <= NOTHING * abs(normal) else 1 if change > 0 else -1


Lessons = Sequence[Preference]  # all lessons in the memory
_REACH = tuple(Scope)  # shortest first
_TELLING = ("kind", "color", "name", "skill", "place", "user")  # slots that tell cases apart, best first


@dataclass(frozen=True)
class Changes:
    """Changes of the memory: lessons to `keep` (new ones have no id), ids to `drop`, and sentences for the person.

    `question` is about the last lesson in `keep`.
    """

    keep: tuple[Preference, ...] = ()
    drop: tuple[int, ...] = ()
    told: tuple[str, ...] = ()
    question: Clarify | None = None

    def and_then(self, other: Changes) -> Changes:
        """Combine both changes; of two questions the first is asked."""
        first, last = (other, self) if self.question else (self, other)
        return Changes(first.keep + last.keep, self.drop + other.drop, self.told + other.told, last.question)


def taught(lessons: Lessons, made: Iterable[Preference], used: Collection[int] = ()) -> Changes:
    """Learn the lessons `made` by an applied edit; `used` are the ids of lessons in force for its steps."""
    changes = Changes()
    for lesson in made:
        changes = changes.and_then(_taught(lessons, lesson, used))
    return changes


def _taught(lessons: Lessons, new: Preference, used: Collection[int]) -> Changes:
    before = [item for item in lessons if item.state is State.PROPOSED and _of_one_step(item, new)]
    in_force = [item for item in lessons if item.id in used and item.state is State.LEARNED]
    by = [item for item in in_force if item.slots.fit(new.case) and _decide_alike(item, new)]
    left: Preference | None = new
    for item in before or by:  # an earlier correction of this step includes them
        left = left and _on_top(item, left)
    changes = Changes(drop=tuple(item.id for item in before))
    for item in by:
        if left is None or any(map(contrary, item.operations, left.operations)):
            changes = changes.and_then(against(item, new.case))
    if left is None:
        return changes
    scope = max((item.scope for item in (*before, left)), key=_REACH.index)
    return changes.and_then(_kept(lessons, replace(left, scope=scope)))


def _on_top(before: Preference, lesson: Preference) -> Preference | None:
    """Combine the operations of both lessons; None if they cancel out. Of several operations, the newer ones win."""
    if len(before.operations) != 1 or len(lesson.operations) != 1:
        return lesson
    both = together(before.operations[0], lesson.operations[0])
    return replace(lesson, operations=(both,)) if both else None


def _kept(lessons: Lessons, lesson: Preference) -> Changes:
    if lesson.scope is not Scope.ONCE:
        return _learned(lessons, lesson) if isinstance(lesson.operations[0], AddRule) else Changes((lesson,))
    told = [item for item in lessons if item.scope is Scope.ONCE and not _of_one_step(item, lesson)]
    twins = [
        item for item in told if item.slots == lesson.slots and same_operations(item.operations, lesson.operations)
    ]
    if any(item.state is State.RETIRED for item in twins):  # the person declined before
        return Changes()
    if not twins:
        return Changes((lesson,))
    question = Clarify(f"You told me the same before. Shall I always do so: {gist(lesson)}?", ("yes", "no"))
    return Changes((lesson,), tuple(item.id for item in twins), question=question)


def _of_one_step(one: Preference, other: Preference) -> bool:
    here, there = one.provenance, other.provenance
    return (here.command, here.step, here.user) == (there.command, there.step, there.user) and _decide_alike(one, other)


def _decide_alike(one: Preference, other: Preference) -> bool:
    return decides(one.operations[0]) == decides(other.operations[0])


def _learned(lessons: Lessons, lesson: Preference) -> Changes:
    """Learn the lesson; it replaces lessons with the same slots and no larger scope."""
    old = [
        item
        for item in lessons
        if item.state is State.LEARNED and item.id != lesson.id and item.slots == lesson.slots
        if _decide_alike(item, lesson) and _REACH.index(item.scope) <= _REACH.index(lesson.scope)
    ]
    last = old[-1].id if old else lesson.supersedes
    retired = (replace(item, state=State.RETIRED) for item in old)
    return Changes((*retired, replace(lesson, state=State.LEARNED, supersedes=last)))


def against(lesson: Preference, case: Slots) -> Changes:
    """Narrow the slots of a lesson that was used in a wrong case; retire it if no slot tells the cases apart."""
    narrow = narrowed(lesson, case)
    if narrow is None:
        return retired(lesson)
    return Changes((narrow,), told=(f"from now on only {of_what(narrow.slots)}: {gist(lesson)}",))


def retired(lesson: Preference) -> Changes:
    """Retire a lesson and report it."""
    return Changes((replace(lesson, state=State.RETIRED),), told=(f"I will no longer do so: {gist(lesson)}",))


def narrowed(lesson: Preference, case: Slots) -> Preference | None:
    """Add the first slot that tells the lesson's case from this one; None if there is none."""
    for name in _TELLING:
        own = getattr(lesson.case, name)
        if own and not getattr(lesson.slots, name) and own != getattr(case, name):
            return replace(lesson, slots=replace(lesson.slots, **{name: own}))
    return None


def step_ended(lessons: Lessons, occasion: Occasion, succeeded: bool, used: Collection[int] = ()) -> Changes:
    """Confirm or drop what was taught during the step of `occasion`; `used` are the ids of lessons in force."""
    counted = [
        replace(one, uses=one.uses + 1, failures=one.failures + (not succeeded), used=occasion.time)
        if one.id in used
        else one
        for one in lessons
    ]
    changes = Changes(tuple(lesson for lesson in counted if lesson.id in used))
    for lesson in counted:
        told = lesson.provenance
        if lesson.state is State.PROPOSED and (told.command, told.step) == (occasion.command, occasion.step):
            changes = changes.and_then(_borne_out(counted, lesson, succeeded))
    return changes


def _borne_out(lessons: Lessons, lesson: Preference, succeeded: bool) -> Changes:
    if not succeeded:
        told = (f"not remembered, because it did not end well: {gist(lesson)}",)
        return Changes(drop=(lesson.id,), told=told if lesson.scope is not Scope.ONCE else ())
    return Changes() if lesson.scope is Scope.ONCE else _learned(lessons, lesson)


def command_ended(lessons: Lessons, command: str, succeeded: bool) -> Changes:
    """Drop lessons for this command only; confirm or drop its other proposals."""
    changes = Changes()
    for lesson in lessons:
        if lesson.provenance.command != command:
            continue
        if lesson.scope is Scope.TASK:
            changes = changes.and_then(Changes(drop=(lesson.id,)))
        elif lesson.state is State.PROPOSED and lesson.scope is not Scope.ONCE:
            changes = changes.and_then(_borne_out(lessons, lesson, succeeded))
    return changes


def remembered(lessons: Lessons, scope: Scope, occasion: Occasion) -> Changes:
    """Learn what this person taught last for `scope` ("remember that"); `Scope.ONCE` drops it."""
    here = occasion.user, occasion.session
    alive = [item for item in lessons if item.state is not State.RETIRED]
    own = [item for item in alive if (item.provenance.user, item.provenance.session) == here]
    if not own:
        return Changes(told=("you have told me nothing yet that I could remember",))
    last = max(own, key=lambda lesson: (lesson.provenance.time, lesson.id))
    if scope is Scope.ONCE:
        return Changes(drop=(last.id,), told=(f"only this once: {gist(last)}",))
    changes = _learned(lessons, replace(last, scope=scope))
    return replace(changes, told=(f"I will remember: {gist(last)}",))


def undone(lessons: Lessons, words: str, command: str) -> Changes:
    """Drop what an undone edit with these words taught."""
    said = [item for item in lessons if (item.words, item.provenance.command) == (words, command)]
    last = max((item.provenance.time for item in said), default=0.0)
    return Changes(drop=tuple(item.id for item in said if item.provenance.time == last))


def answered(lessons: Lessons, asked: int, yes: bool) -> Changes:
    """Process the answer to "shall I always do so?"; a no is kept, so that the question is not repeated."""
    lesson = next((item for item in lessons if item.id == asked), None)
    if lesson is None:
        return Changes(told=("I have forgotten what the question was about",))
    if not yes:
        return Changes((replace(lesson, state=State.RETIRED),), told=("all right, only when you say so",))
    return replace(
        _learned(lessons, replace(lesson, scope=Scope.ALWAYS)), told=(f"I will always do so: {gist(lesson)}",)
    )


def preferred(lessons: Lessons, chosen: int, others: Iterable[int], case: Slots) -> Changes:
    """Process the choice between contrary lessons: the others no longer apply to the case."""
    changes = Changes()
    for lesson in lessons:
        if lesson.id in others and lesson.id != chosen:
            changes = changes.and_then(against(lesson, case))
    return changes

"""What becomes of lessons when something is said, done or asked: pure, from the lessons there are to what changes.

A lesson is proposed when its edit is applied and learned once the step that it was told of has ended well, or the
person has confirmed it; rules, which no step bears out, are learned at once. What was told once only waits as a
proposal: when the same is told of another step, the person is asked whether it is always to be so.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace

from llm_planner.correction.memory.choices import contrary, decides, same_operations, together
from llm_planner.correction.memory.lesson import Lesson, Occasion, Slots, State
from llm_planner.correction.memory.wording import gist, of_what
from llm_planner.plan.edits import AddRule, Clarify, Scope

Lessons = Sequence[Lesson]  # all that there are
_REACH = tuple(Scope)  # from the shortest
_TELLING = ("kind", "color", "name", "skill", "place", "user")  # what may tell two cases apart, the best first


@dataclass(frozen=True)
class Changes:
    """Lessons to `keep` as they are here (those without an id are new), ids to `drop`, and sentences to tell.

    `question` is about the last lesson in `keep`.
    """

    keep: tuple[Lesson, ...] = ()
    drop: tuple[int, ...] = ()
    told: tuple[str, ...] = ()
    question: Clarify | None = None

    def and_then(self, other: Changes) -> Changes:
        """Both; of two questions the first, and what the other was about is only kept."""
        first, last = (other, self) if self.question else (self, other)
        return Changes(first.keep + last.keep, self.drop + other.drop, self.told + other.told, last.question)


def taught(lessons: Lessons, made: Iterable[Lesson], used: Collection[int] = ()) -> Changes:
    """`made` come from an edit that was applied; `used` are the ids of lessons by which its steps were done."""
    changes = Changes()
    for lesson in made:
        changes = changes.and_then(_taught(lessons, lesson, used))
    return changes


def _taught(lessons: Lessons, new: Lesson, used: Collection[int]) -> Changes:
    before = [item for item in lessons if item.state is State.PROPOSED and _of_one_step(item, new)]
    by = [item for item in lessons if item.id in used and _is_about(item, new)]
    left: Lesson | None = new
    for item in before or by:  # what was told before of this step had the lessons in it already
        left = left and _on_top(item, left)
    changes = Changes(drop=tuple(item.id for item in before))
    for item in by:
        if left is None or any(map(contrary, item.operations, left.operations)):
            changes = changes.and_then(against(item, new.case))
    if left is None:
        return changes
    scope = max((item.scope for item in (*before, left)), key=_REACH.index)
    return changes.and_then(_kept(lessons, replace(left, scope=scope)))


def _is_about(lesson: Lesson, new: Lesson) -> bool:
    return lesson.state is State.LEARNED and lesson.slots.fit(new.case) and _decide_alike(lesson, new)


def _on_top(before: Lesson, lesson: Lesson) -> Lesson | None:
    """The lesson with what both amount to; None where nothing is left. Of several operations the newer stand."""
    if len(before.operations) != 1 or len(lesson.operations) != 1:
        return lesson
    both = together(before.operations[0], lesson.operations[0])
    return replace(lesson, operations=(both,)) if both else None


def _kept(lessons: Lessons, lesson: Lesson) -> Changes:
    if lesson.scope is not Scope.ONCE:
        return _learned(lessons, lesson) if isinstance(lesson.operations[0], AddRule) else Changes((lesson,))
    told = [item for item in lessons if item.scope is Scope.ONCE and not _of_one_step(item, lesson)]
    twins = [
        item for item in told if item.slots == lesson.slots and same_operations(item.operations, lesson.operations)
    ]
    if any(item.state is State.RETIRED for item in twins):  # it was asked, and the answer was no
        return Changes()
    if not twins:
        return Changes((lesson,))
    question = Clarify(f"You told me the same before. Shall I always do so: {gist(lesson)}?", ("yes", "no"))
    return Changes((lesson,), tuple(item.id for item in twins), question=question)


def _of_one_step(one: Lesson, other: Lesson) -> bool:
    here, there = one.provenance, other.provenance
    return (here.command, here.step, here.user) == (there.command, there.step, there.user) and _decide_alike(one, other)


def _decide_alike(one: Lesson, other: Lesson) -> bool:
    return decides(one.operations[0]) == decides(other.operations[0])


def _learned(lessons: Lessons, lesson: Lesson) -> Changes:
    """The lesson learned, in the place of one for the same slots that reaches no farther: the newest wins."""
    old = [
        item
        for item in lessons
        if item.state is State.LEARNED and item.id != lesson.id and item.slots == lesson.slots
        if _decide_alike(item, lesson) and _REACH.index(item.scope) <= _REACH.index(lesson.scope)
    ]
    last = old[-1].id if old else lesson.supersedes
    retired = (replace(item, state=State.RETIRED) for item in old)
    return Changes((*retired, replace(lesson, state=State.LEARNED, supersedes=last)))


def against(lesson: Lesson, case: Slots) -> Changes:
    """A lesson that was used where it does not belong holds no more for such a case; else for no case at all."""
    narrow = narrowed(lesson, case)
    if narrow is None:
        return retired(lesson)
    return Changes((narrow,), told=(f"from now on only {of_what(narrow.slots)}: {gist(lesson)}",))


def retired(lesson: Lesson) -> Changes:
    """The lesson is used no more, and that is told."""
    return Changes((replace(lesson, state=State.RETIRED),), told=(f"I will no longer do so: {gist(lesson)}",))


def narrowed(lesson: Lesson, case: Slots) -> Lesson | None:
    """The lesson with what tells its own case from this one; None where nothing does."""
    for name in _TELLING:
        own = getattr(lesson.case, name)
        if own and not getattr(lesson.slots, name) and own != getattr(case, name):
            return replace(lesson, slots=replace(lesson.slots, **{name: own}))
    return None


def step_ended(lessons: Lessons, occasion: Occasion, succeeded: bool, used: Collection[int] = ()) -> Changes:
    """What was told of the step of `occasion` has been borne out, or is dropped; `used` are ids of lessons."""
    counted = [_counted(lesson, occasion.time, succeeded) if lesson.id in used else lesson for lesson in lessons]
    changes = Changes(tuple(lesson for lesson in counted if lesson.id in used))
    for lesson in counted:
        told = lesson.provenance
        if lesson.state is State.PROPOSED and (told.command, told.step) == (occasion.command, occasion.step):
            changes = changes.and_then(_borne_out(counted, lesson, succeeded))
    return changes


def _counted(lesson: Lesson, time: float, succeeded: bool) -> Lesson:
    return replace(lesson, uses=lesson.uses + 1, failures=lesson.failures + (not succeeded), used=time)


def _borne_out(lessons: Lessons, lesson: Lesson, succeeded: bool) -> Changes:
    if not succeeded:
        told = (f"not remembered, because it did not end well: {gist(lesson)}",)
        return Changes(drop=(lesson.id,), told=told if lesson.scope is not Scope.ONCE else ())
    return Changes() if lesson.scope is Scope.ONCE else _learned(lessons, lesson)


def command_ended(lessons: Lessons, command: str, succeeded: bool) -> Changes:
    """The command is over: what was told for it alone is dropped, what no step bore out stands if it succeeded."""
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
    """What this person taught last is learned, for as long as said ("remember that"); "just this once" drops it."""
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
    """An edit was taken back, which was made of these words: what it taught is dropped."""
    said = [item for item in lessons if (item.words, item.provenance.command) == (words, command)]
    last = max((item.provenance.time for item in said), default=0.0)
    return Changes(drop=tuple(item.id for item in said if item.provenance.time == last))


def answered(lessons: Lessons, asked: int, yes: bool) -> Changes:
    """The answer to "shall I always do so?"; a no is kept, so that it is not asked again."""
    lesson = next((item for item in lessons if item.id == asked), None)
    if lesson is None:
        return Changes(told=("I have forgotten what the question was about",))
    if not yes:
        return Changes((replace(lesson, state=State.RETIRED),), told=("all right, only when you say so",))
    return replace(
        _learned(lessons, replace(lesson, scope=Scope.ALWAYS)), told=(f"I will always do so: {gist(lesson)}",)
    )


def preferred(lessons: Lessons, chosen: int, others: Iterable[int], case: Slots) -> Changes:
    """The answer to which of several contrary lessons holds for a case: the others hold there no more."""
    changes = Changes()
    for lesson in lessons:
        if lesson.id in others and lesson.id != chosen:
            changes = changes.and_then(against(lesson, case))
    return changes

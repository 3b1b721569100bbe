"""The memory of corrections as its callers see it: each event is one transaction on the store."""

from __future__ import annotations

from collections.abc import Callable, Collection

from llm_planner.correction.memory import learning
from llm_planner.correction.memory.binding import is_rule
from llm_planner.correction.memory.forgetting import last_in_mind, meant
from llm_planner.correction.memory.learning import Changes
from llm_planner.correction.memory.lesson import Lesson, Occasion, State
from llm_planner.correction.memory.lesson_making import make_lessons
from llm_planner.correction.memory.lesson_store import LessonStore
from llm_planner.correction.memory.retrieval import Doubt, Recollection, recall
from llm_planner.correction.memory.wording import gist
from llm_planner.correction.situation import Situation
from llm_planner.plan.edits import Edit, LiftRule, Scope


class Memory:
    """What is learned from corrections. Every change is on the disk before its method returns.

    `used` are the ids of the lessons by which a step is done: `Recollection.used`. `Changes.told` is what to say;
    `Changes.question`, where there is one, is about the lesson `Changes.keep[-1]`.
    """

    def __init__(self, store: LessonStore) -> None:
        self._store = store
        self._gone: Lesson | None = None  # the last that was to hold for longer and was dropped when something ended

    def recall(self, situation: Situation, occasion: Occasion) -> Recollection:
        """A plan was made: what lessons are for it."""
        return recall(self._store.lessons(), situation, occasion)

    def taught(self, edit: Edit, situation: Situation, occasion: Occasion, used: Collection[int] = ()) -> Changes:
        """`edit` was applied; `situation` is as it was when it was said."""
        made = make_lessons(edit, situation, occasion)
        lifted = [operation.formula for operation in edit.operations if isinstance(operation, LiftRule)]

        def decide(lessons: learning.Lessons) -> Changes:
            changes = learning.taught(lessons, made, used)
            for lesson in lessons:
                if lesson.state is State.LEARNED and any(is_rule(lesson, rule, situation.scene) for rule in lifted):
                    changes = changes.and_then(learning.retired(lesson))
            return changes

        return self._store.change(decide)

    def undone(self, words: str, command: str) -> Changes:
        """The edit was taken back that these words had asked for during the command of this id."""
        return self._store.change(lambda lessons: learning.undone(lessons, words, command))

    def step_ended(self, occasion: Occasion, succeeded: bool, used: Collection[int] = ()) -> Changes:
        """The step of `occasion` ended, which was done by the lessons `used`."""
        return self._ended(lambda lessons: learning.step_ended(lessons, occasion, succeeded, used))

    def command_ended(self, command: str, succeeded: bool) -> Changes:
        """The command is over, whatever plans were made for it."""
        return self._ended(lambda lessons: learning.command_ended(lessons, command, succeeded))

    def _ended(self, decide: Callable[[learning.Lessons], Changes]) -> Changes:
        def noted(lessons: learning.Lessons) -> Changes:
            changes = decide(lessons)
            gone = [item for item in lessons if item.id in changes.drop and item.scope is not Scope.ONCE]
            self._gone = gone[-1] if gone else self._gone
            return changes

        return self._store.change(noted)

    def remember(self, scope: Scope, occasion: Occasion) -> Changes:
        """`Remember`: what was taught last is to be kept."""
        return self._store.change(lambda lessons: learning.remembered(lessons, scope, occasion))

    def forget(self, about: str) -> Changes:
        """`Forget`: lessons are dropped for good. "Forget that" drops no older one where the last is gone already."""

        def forgotten(lessons: learning.Lessons) -> Changes:
            gone = meant(lessons, about)
            if not about and self._gone and all(last_in_mind(self._gone) > last_in_mind(lesson) for lesson in gone):
                return Changes(told=(f"that is gone already: {gist(self._gone)}",))
            told = tuple(f"forgotten: {gist(lesson)}" for lesson in gone) or ("I remember nothing of that",)
            return Changes(drop=tuple(lesson.id for lesson in gone), told=told)

        return self._store.change(forgotten)

    def meant(self, about: str) -> int:
        """How many lessons that are in use `forget` would drop."""
        return sum(lesson.state is State.LEARNED for lesson in meant(self._store.lessons(), about))

    def answer(self, lesson: int, yes: bool) -> Changes:
        """`Confirm`, where the open question was "shall I always do so?" about the lesson of this id."""
        return self._store.change(lambda lessons: learning.answered(lessons, lesson, yes))

    def prefer(self, doubt: Doubt, chosen: int) -> Changes:
        """The option was chosen that stands for the lesson of the id `chosen`; plans made from now on keep to it."""
        return self._store.change(lambda lessons: learning.preferred(lessons, chosen, doubt.lessons, doubt.case))

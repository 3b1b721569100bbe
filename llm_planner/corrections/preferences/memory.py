"""The memory of corrections as its callers see it: each event is one transaction on the store.

Lessons on the disk: a SQLite file that several processes may read and change.

Lessons as JSON: what the store keeps and `llm-planner memory export` prints.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterable
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from llm_planner.corrections.edit_json import operation_from_json, operation_json
from llm_planner.corrections.edits import Edit, LiftRule
from llm_planner.corrections.preferences import learning
from llm_planner.corrections.preferences.binding import is_rule
from llm_planner.corrections.preferences.learning import Changes
from llm_planner.corrections.preferences.preference import Occasion, Preference, Slots, State, gist, last_in_mind, meant
from llm_planner.corrections.preferences.preference_making import make_lessons
from llm_planner.corrections.preferences.retrieval import Doubt, Recollection, recall
from llm_planner.corrections.situation import Situation
from llm_planner.database import Format, open_database, refusals, transaction
from llm_planner.errors import InputError
from llm_planner.language.correction_requests import Scope


def lesson_json(lesson: Preference) -> dict[str, Any]:
    """The lesson as plain values."""
    values = asdict(replace(lesson, operations=()))
    values["operations"] = [operation_json(operation) for operation in lesson.operations]
    return values | {"scope": lesson.scope.value, "state": lesson.state.value}


def lesson_from_json(values: dict[str, Any]) -> Preference:
    """The lesson that `lesson_json` made these values of; raises InputError where an operation is none of ours."""
    return Preference(
        **values
        | {
            "operations": tuple(map(operation_from_json, values["operations"])),
            "slots": Slots(**values["slots"]),
            "case": Slots(**values["case"]),
            "scope": Scope(values["scope"]),
            "provenance": Occasion(**values["provenance"]),
            "things": {name: Slots(**slots) for name, slots in values["things"].items()},
            "state": State(values["state"]),
        }
    )


_FORM = Format(
    "memory",
    0x6C706D65,  # "lpme"
    ("CREATE TABLE lesson (id INTEGER PRIMARY KEY AUTOINCREMENT, lesson TEXT NOT NULL)",),  # ids are never used again
)


class PreferenceStore:
    """Keeps lessons in the file `path`, which is made with its folder when it is not there.

    Lessons that cannot be read are left out; `unreadable` says which (id -> reason). They stay in the file.

    Raises InputError, naming the path, when it cannot be written, is no memory, or is a newer llm-planner's.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.unreadable: dict[int, str] = {}
        self._database = open_database(path, _FORM)

    def lessons(self) -> tuple[Preference, ...]:
        """All lessons, by their ids."""
        with refusals(self.path, _FORM.what):
            rows = self._database.execute("SELECT id, lesson FROM lesson ORDER BY id").fetchall()
        return tuple(lesson for row in rows if (lesson := self._lesson(*row)) is not None)

    def change(self, decide: Callable[[tuple[Preference, ...]], Changes]) -> Changes:
        """Ask `decide` what is to become of the lessons, and do that, all of it or nothing, before anybody else writes.

        New lessons have their ids in what is returned. What somebody else has forgotten is not kept again.
        """
        with refusals(self.path, _FORM.what), transaction(self._database):
            changes = decide(self.lessons())
            self._database.executemany("DELETE FROM lesson WHERE id = ?", [(number,) for number in changes.drop])
            return replace(changes, keep=tuple(map(self._keep, changes.keep)))

    def forget(self, ids: Iterable[int]) -> None:
        """Drop the lessons for good."""
        self.change(lambda lessons: Changes(drop=tuple(ids)))

    def close(self) -> None:
        """Nothing can be read or changed afterwards."""
        self._database.close()

    def _lesson(self, number: int, text: str) -> Preference | None:
        try:
            return replace(lesson_from_json(json.loads(text)), id=number)
        except (AttributeError, KeyError, TypeError, ValueError, RecursionError, InputError) as error:
            told = f"{type(error).__name__}: {error}"
            self.unreadable[number] = f"lesson {number} of {self.path} cannot be read and is left out ({told})"
            return None

    def _keep(self, lesson: Preference) -> Preference:
        text = json.dumps(lesson_json(lesson), ensure_ascii=False)
        if lesson.id:
            self._database.execute("UPDATE lesson SET lesson = ? WHERE id = ?", (text, lesson.id))
            return lesson
        number = self._database.execute("INSERT INTO lesson (lesson) VALUES (?)", (text,)).lastrowid
        return replace(lesson, id=int(number or 0))


class Memory:
    """What is learned from corrections. Every change is on the disk before its method returns.

    `used` are the ids of the lessons by which a step is done: `Recollection.used`. `Changes.told` is what to say;
    `Changes.question`, where there is one, is about the lesson `Changes.keep[-1]`.
    """

    def __init__(self, store: PreferenceStore) -> None:
        self._store = store
        self._gone: Preference | None = (
            None  # the last that was to hold for longer and was dropped when something ended
        )

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

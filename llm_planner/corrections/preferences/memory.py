"""Memory of corrections: a SQLite file with lessons as JSON, which several processes may share.

Each event is one transaction. `llm-planner memory export` prints the same JSON.
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
    """Convert a lesson to plain values."""
    values = asdict(replace(lesson, operations=()))
    values["operations"] = [operation_json(operation) for operation in lesson.operations]
    return values | {"scope": lesson.scope.value, "state": lesson.state.value}


def lesson_from_json(values: dict[str, Any]) -> Preference:
    """Parse the values of `lesson_json`; raise InputError for an unknown operation."""
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
    ("CREATE TABLE lesson (id INTEGER PRIMARY KEY AUTOINCREMENT, lesson TEXT NOT NULL)",),  # ids are never reused
)


class PreferenceStore:
    """Store of lessons in the file `path`, which is created with its folder if necessary.

    Unreadable lessons are skipped but stay in the file; `unreadable` maps their ids to reasons. Raises InputError if
    the file cannot be written, is not a memory, or comes from a newer version of llm-planner.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.unreadable: dict[int, str] = {}
        self._database = open_database(path, _FORM)

    def lessons(self) -> tuple[Preference, ...]:
        """Return all lessons, ordered by id."""
        with refusals(self.path, _FORM.what):
            rows = self._database.execute("SELECT id, lesson FROM lesson ORDER BY id").fetchall()
        return tuple(lesson for row in rows if (lesson := self._lesson(*row)) is not None)

    def change(self, decide: Callable[[tuple[Preference, ...]], Changes]) -> Changes:
        """Apply the changes that `decide` returns for the present lessons, in one transaction.

        In the returned changes, new lessons have ids. Lessons that another process has dropped are not stored again.
        """
        with refusals(self.path, _FORM.what), transaction(self._database):
            changes = decide(self.lessons())
            self._database.executemany("DELETE FROM lesson WHERE id = ?", [(number,) for number in changes.drop])
            return replace(changes, keep=tuple(map(self._keep, changes.keep)))

    def forget(self, ids: Iterable[int]) -> None:
        """Delete the lessons."""
        self.change(lambda lessons: Changes(drop=tuple(ids)))

    def close(self) -> None:
        """Close the file."""
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
    """Learned lessons; every change is on the disk before its method returns.

    `used` are the ids of the lessons in force for a step (`Recollection.used`). `Changes.told` are sentences for the
    person, and `Changes.question` is about the lesson `Changes.keep[-1]`.
    """

    def __init__(self, store: PreferenceStore) -> None:
        self._store = store
        self._gone: Preference | None = None  # last lesson that was dropped at the end of a step or command

    def recall(self, situation: Situation, occasion: Occasion) -> Recollection:
        """Return the lessons that apply to a plan."""
        return recall(self._store.lessons(), situation, occasion)

    def taught(self, edit: Edit, situation: Situation, occasion: Occasion, used: Collection[int] = ()) -> Changes:
        """Learn from an applied edit; `situation` is from the time of the utterance."""
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
        """Drop what an undone edit taught, by its words and the id of its command."""
        return self._store.change(lambda lessons: learning.undone(lessons, words, command))

    def step_ended(self, occasion: Occasion, succeeded: bool, used: Collection[int] = ()) -> Changes:
        """Update the lessons after the step of `occasion`, during which the lessons `used` were in force."""
        return self._ended(lambda lessons: learning.step_ended(lessons, occasion, succeeded, used))

    def command_ended(self, command: str, succeeded: bool) -> Changes:
        """Update the lessons after the command, with all plans made for it."""
        return self._ended(lambda lessons: learning.command_ended(lessons, command, succeeded))

    def _ended(self, decide: Callable[[learning.Lessons], Changes]) -> Changes:
        def noted(lessons: learning.Lessons) -> Changes:
            changes = decide(lessons)
            gone = [item for item in lessons if item.id in changes.drop and item.scope is not Scope.ONCE]
            self._gone = gone[-1] if gone else self._gone
            return changes

        return self._store.change(noted)

    def remember(self, scope: Scope, occasion: Occasion) -> Changes:
        """Keep what was taught last (`Remember`)."""
        return self._store.change(lambda lessons: learning.remembered(lessons, scope, occasion))

    def forget(self, about: str) -> Changes:
        """Delete lessons (`Forget`); "forget that" does not delete an older lesson if the last one is gone."""

        def forgotten(lessons: learning.Lessons) -> Changes:
            gone = meant(lessons, about)
            if not about and self._gone and all(last_in_mind(self._gone) > last_in_mind(lesson) for lesson in gone):
                return Changes(told=(f"that is gone already: {gist(self._gone)}",))
            told = tuple(f"forgotten: {gist(lesson)}" for lesson in gone) or ("I remember nothing of that",)
            return Changes(drop=tuple(lesson.id for lesson in gone), told=told)

        return self._store.change(forgotten)

    def meant(self, about: str) -> int:
        """Return the number of learned lessons that `forget` would delete."""
        return sum(lesson.state is State.LEARNED for lesson in meant(self._store.lessons(), about))

    def answer(self, lesson: int, yes: bool) -> Changes:
        """Process the answer to "shall I always do so?" about the lesson of this id (`Confirm`)."""
        return self._store.change(lambda lessons: learning.answered(lessons, lesson, yes))

    def prefer(self, doubt: Doubt, chosen: int) -> Changes:
        """Process the choice of the lesson `chosen`; it applies to plans from now on."""
        return self._store.change(lambda lessons: learning.preferred(lessons, chosen, doubt.lessons, doubt.case))

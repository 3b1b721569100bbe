"""Lessons on the disk: a SQLite file that several processes may read and change."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from dataclasses import replace
from pathlib import Path

from llm_planner.correction.memory.learning import Changes
from llm_planner.correction.memory.lesson import Lesson
from llm_planner.correction.memory.lesson_json import lesson_from_json, lesson_json
from llm_planner.database import Format, open_database, refusals, transaction
from llm_planner.errors import InputError

_FORM = Format(
    "memory",
    0x6C706D65,  # "lpme"
    ("CREATE TABLE lesson (id INTEGER PRIMARY KEY AUTOINCREMENT, lesson TEXT NOT NULL)",),  # ids are never used again
)


class LessonStore:
    """Keeps lessons in the file `path`, which is made with its folder when it is not there.

    Lessons that cannot be read are left out; `unreadable` says which (id -> reason). They stay in the file.

    Raises InputError, naming the path, when it cannot be written, is no memory, or is a newer llm-planner's.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.unreadable: dict[int, str] = {}
        self._database = open_database(path, _FORM)

    def lessons(self) -> tuple[Lesson, ...]:
        """All lessons, by their ids."""
        with refusals(self.path, _FORM.what):
            rows = self._database.execute("SELECT id, lesson FROM lesson ORDER BY id").fetchall()
        return tuple(lesson for row in rows if (lesson := self._lesson(*row)) is not None)

    def change(self, decide: Callable[[tuple[Lesson, ...]], Changes]) -> Changes:
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

    def _lesson(self, number: int, text: str) -> Lesson | None:
        try:
            return replace(lesson_from_json(json.loads(text)), id=number)
        except (AttributeError, KeyError, TypeError, ValueError, RecursionError, InputError) as error:
            told = f"{type(error).__name__}: {error}"
            self.unreadable[number] = f"lesson {number} of {self.path} cannot be read and is left out ({told})"
            return None

    def _keep(self, lesson: Lesson) -> Lesson:
        text = json.dumps(lesson_json(lesson), ensure_ascii=False)
        if lesson.id:
            self._database.execute("UPDATE lesson SET lesson = ? WHERE id = ?", (text, lesson.id))
            return lesson
        number = self._database.execute("INSERT INTO lesson (lesson) VALUES (?)", (text,)).lastrowid
        return replace(lesson, id=int(number or 0))

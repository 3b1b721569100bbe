"""What has been commanded, planned, edited, done and learned: records in a SQLite file, appended and never changed.

A record is on the disk before `append` returns, so that after a crash it can be told which command was left unfinished.
Several processes may append to one file at the same time.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from contextlib import closing
from dataclasses import dataclass, field
from enum import Enum
from pathlib import Path
from typing import Any

from llm_planner.database import Format, open_database, refusals


class RecordKind(str, Enum):
    """What a record tells."""

    COMMAND = "command"
    PLAN = "plan"
    EDIT = "edit"
    STEP = "step"
    OUTCOME = "outcome"
    LESSON = "lesson"


@dataclass(frozen=True)
class Record:
    """One entry: when (seconds since the epoch), of which command, and what."""

    time: float
    kind: RecordKind
    command_id: str
    data: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Unfinished:
    """A command without an outcome, and the last that is known of its steps (id -> status).

    `done` are the steps that were done, `edits` what was said to correct it, both as people read them; `planned` is
    whether a plan for it was under way.
    """

    command_id: str
    command: str
    steps: dict[str, str]
    done: tuple[str, ...] = ()
    edits: tuple[str, ...] = ()
    planned: bool = False

    def __str__(self) -> str:
        done = f"after {len(self.done)} steps ({', '.join(self.done)})" if self.done else "before any step was done"
        edits = f", corrected by {', '.join(f'“{words}”' for words in self.edits)}" if self.edits else ""
        return f"“{self.command}”, {done}{edits}"


_FORM = Format(
    "journal",
    0x6C706A6E,  # "lpjn"
    (
        "CREATE TABLE record (number INTEGER PRIMARY KEY AUTOINCREMENT, time REAL NOT NULL, kind TEXT NOT NULL, "
        "command_id TEXT NOT NULL, data TEXT NOT NULL)",
    ),
)


class Journal:
    """Appends to the file `path`, which is made with its folder when it is not there.

    Raises InputError, naming the path, when it cannot be written or is no journal.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._database = open_database(path, _FORM)

    def append(self, record: Record) -> None:
        """Write one record and wait until it is on the disk; raises InputError where the disk takes no more."""
        data = json.dumps(record.data, ensure_ascii=False)
        with refusals(self.path, _FORM.what):
            self._database.execute(
                "INSERT INTO record (time, kind, command_id, data) VALUES (?, ?, ?, ?)",
                (record.time, record.kind.value, record.command_id, data),
            )

    def close(self) -> None:
        """Nothing can be appended afterwards."""
        self._database.close()


def read_journal(path: Path) -> tuple[Record, ...]:
    """Every record, the oldest first. A journal that is not there is empty; raises InputError as `Journal`."""
    if not path.exists():
        return ()
    with closing(open_database(path, _FORM)) as database, refusals(path, _FORM.what):
        rows = database.execute("SELECT time, kind, command_id, data FROM record ORDER BY number").fetchall()
    return tuple(Record(time, RecordKind(kind), name, json.loads(data)) for time, kind, name, data in rows)


def unfinished(records: Iterable[Record]) -> tuple[Unfinished, ...]:
    """The commands that were begun and have no outcome, or only that whoever did them was `lost`; oldest first."""
    commands: dict[str, str] = {}
    steps: dict[str, dict[str, str]] = {}
    texts: dict[str, dict[str, str]] = {}
    edits: dict[str, list[str]] = {}
    planned: set[str] = set()
    for record in records:
        name, data = record.command_id, record.data
        if record.kind is RecordKind.COMMAND:
            commands[name] = str(data.get("command", ""))
        elif record.kind is RecordKind.PLAN:
            planned.add(name)
            if name in commands:  # the words of the plan: those of the command that it goes on with
                commands[name] = str(data.get("command", commands[name]))
        elif record.kind is RecordKind.STEP:
            step_id = str(data.get("step_id", ""))
            steps.setdefault(name, {})[step_id] = str(data.get("status", ""))
            texts.setdefault(name, {})[step_id] = str(data.get("step", ""))
        elif record.kind is RecordKind.EDIT:
            edits.setdefault(name, []).append(str(data.get("words", "")))
        elif record.kind is RecordKind.OUTCOME and not data.get("lost"):
            commands.pop(name, None)

    def done(name: str) -> tuple[str, ...]:
        return tuple(texts[name][step] for step, status in steps.get(name, {}).items() if status == "done")

    return tuple(
        Unfinished(name, text, steps.get(name, {}), done(name), tuple(edits.get(name, ())), name in planned)
        for name, text in commands.items()
    )

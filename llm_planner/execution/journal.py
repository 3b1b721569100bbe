"""What has been commanded, planned, edited, done and learned: records in a SQLite file, appended and never changed.

A record is on the disk before `append` returns, so that after a crash it can be told which command was left unfinished.
Several processes may append to one file at the same time. Nodes do not use `JournalFile` itself, which waits for the
disk and raises where it is full, but `plan.journal_buffer.Journal`.

The records of one process are in their order. Those of another may be late where the disk was full, so that a plan may
come before its command: readers go by the ids of commands, never by the order of records of different kinds.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Iterable, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from enum import Enum
from pathlib import Path
from typing import Any

from llm_planner.database import PATIENCE, Format, open_database, refusals, transaction


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


MOST_BYTES = 32 * 2**20  # that records and indices may take before the oldest finished commands are dropped
KEPT_COMMANDS = 50  # the newest, which are never dropped
MOST_LOOKED_AT = 1000  # commands that `tail` goes back
MOST_UNFINISHED = 100  # commands without an end that are read, the newest
MOST_STEPS = 10_000  # records of one command's steps that are read, the newest; of its other records a tenth
_PORTION = 500  # records that one transaction of `compact` drops, about
_ENDS = "kind = 'outcome' AND instr(data, '\"lost\": true') = 0"  # as `json.dumps` writes it
_FORM = Format(
    "journal",
    0x6C706A6E,  # "lpjn"
    (
        "CREATE TABLE record (number INTEGER PRIMARY KEY AUTOINCREMENT, time REAL NOT NULL, kind TEXT NOT NULL, "
        "command_id TEXT NOT NULL, data TEXT NOT NULL)",
        "CREATE INDEX record_of_command ON record (command_id, kind)",
        "CREATE INDEX record_of_kind ON record (kind)",
        "CREATE TABLE unfinished (command_id TEXT PRIMARY KEY)",
        "INSERT OR IGNORE INTO unfinished SELECT command_id FROM record WHERE kind = 'command' "
        f"AND command_id NOT IN (SELECT command_id FROM record WHERE {_ENDS}) ORDER BY number",
        "CREATE TRIGGER command_begins AFTER INSERT ON record WHEN NEW.kind = 'command' AND NOT EXISTS "
        f"(SELECT 1 FROM record WHERE command_id = NEW.command_id AND {_ENDS}) "
        "BEGIN INSERT OR IGNORE INTO unfinished VALUES (NEW.command_id); END",
        "CREATE TRIGGER command_ends AFTER INSERT ON record WHEN NEW.kind = 'outcome' "
        "BEGIN DELETE FROM unfinished WHERE command_id = NEW.command_id AND EXISTS "
        f"(SELECT 1 FROM record WHERE number = NEW.number AND {_ENDS}); END",
    ),
)
_COLUMNS = "number, time, kind, command_id, CAST(data AS BLOB)"


class JournalFile:
    """Appends to the file `path`, which is made with its folder when it is not there, and reads its end.

    Raises InputError, naming the path, when it cannot be written or is no journal. Records that cannot be read are
    left out; `unreadable` says which (number -> reason).

    Args:
        path: The file.
        most_bytes: What `compact` keeps it to, unless what is unfinished takes more.
        patience: How long to wait for another process's transaction once it is open [s].
    """

    def __init__(self, path: Path, most_bytes: int = MOST_BYTES, patience: float = PATIENCE) -> None:
        self.path = path
        self.unreadable: dict[int, str] = {}
        self._most = self._goal = most_bytes
        self._database = open_database(path, _FORM)
        self._database.execute(f"PRAGMA busy_timeout={int(1000 * patience)}")
        self._inode = path.lstat().st_ino
        self._is_vacuumed = False

    def append(self, *records: Record) -> None:
        """Write the records, all or none, and wait until they are on the disk; raises InputError where they are not."""
        rows = [(one.time, one.kind.value, one.command_id, as_text(one)) for one in records]
        with refusals(self.path, _FORM.what), transaction(self._database):
            self._database.executemany("INSERT INTO record (time, kind, command_id, data) VALUES (?, ?, ?, ?)", rows)

    def records(self) -> tuple[Record, ...]:
        """Every record, the oldest first."""
        return self._read(f"SELECT {_COLUMNS} FROM record ORDER BY number")

    def unfinished(self) -> tuple[Unfinished, ...]:
        """As `unfinished(records())`, for the newest `MOST_UNFINISHED` of them; reads no other records."""
        names = self._names("SELECT command_id FROM unfinished ORDER BY rowid DESC LIMIT ?", MOST_UNFINISHED)
        return unfinished(record for name in reversed(names) for record in self._of_command(name))

    def tail(self, enough: Callable[[Sequence[Record]], bool], before: str = "") -> tuple[Record, ...]:
        """The records of the newest commands, back to the first whose records are `enough`; the oldest first.

        Args:
            enough: Whether no older command is wanted, from the records of one.
            before: The id of a command: only older ones count. "": all do.
        """
        found: list[tuple[Record, ...]] = []
        first = self._names("SELECT min(number) FROM record WHERE command_id = ? AND kind = 'command'", before)[0]
        newest = (
            "SELECT command_id FROM record WHERE kind = 'command' AND (? IS NULL OR number < ?) "
            "ORDER BY number DESC LIMIT ?"
        )
        for name in self._names(newest, first, first, MOST_LOOKED_AT):
            found.append(self._of_command(name))
            if enough(found[-1]):
                break
        return tuple(record for records in reversed(found) for record in records)

    def compact(self) -> bool:
        """Where the file has outgrown `most_bytes`, drop a portion of the oldest finished commands down to 3/4 of it.

        Returns:
            Whether there is more to do. One call keeps other writers waiting for a portion only.
        """
        with refusals(self.path, _FORM.what):
            pages, free, size, vacuum = map(self._pragma, ("page_count", "freelist_count", "page_size", "auto_vacuum"))
            if (pages - free) * size > self._goal:
                self._goal = self._most * 3 // 4
                if self._drop():
                    return True
            self._goal = self._most
            if free * size <= self._most // 4:
                return False
            if vacuum:
                self._database.execute("PRAGMA incremental_vacuum(1000)").fetchall()
                return self._pragma("freelist_count") < free
            if not self._is_vacuumed:  # made by an older llm-planner
                self._is_vacuumed = True
                self._database.execute("PRAGMA auto_vacuum=INCREMENTAL")
                self._database.execute("VACUUM")
        return False

    def is_in_place(self) -> bool:
        """Whether the path still names the file that was opened, and it can be read."""
        try:
            self._database.execute("SELECT count(*) FROM unfinished").fetchone()
            return self.path.lstat().st_ino == self._inode
        except (OSError, sqlite3.Error):
            return False

    def close(self) -> None:
        """Nothing can be read or appended afterwards."""
        self._database.close()

    def _drop(self) -> bool:
        oldest = (
            "SELECT DISTINCT command_id FROM (SELECT command_id FROM record WHERE command_id NOT IN "
            "(SELECT command_id FROM unfinished) AND command_id NOT IN "
            "(SELECT command_id FROM record WHERE kind = 'command' ORDER BY number DESC LIMIT ?) "
            "ORDER BY number LIMIT ?)"
        )
        with transaction(self._database):
            rows = self._database.execute(oldest, (KEPT_COMMANDS, _PORTION)).fetchall()
            self._database.executemany("DELETE FROM record WHERE command_id = ?", rows)
        return bool(rows)

    def _of_command(self, name: str) -> tuple[Record, ...]:
        some = f"SELECT * FROM (SELECT {_COLUMNS} FROM record WHERE command_id = ? AND kind"
        command = f"{some} = 'command' ORDER BY number LIMIT 1)"
        others = f"{some} IN ('plan', 'edit', 'outcome') ORDER BY number DESC LIMIT {MOST_STEPS // 10})"
        steps = f"{some} = 'step' ORDER BY number DESC LIMIT {MOST_STEPS})"
        return self._read(f"{command} UNION ALL {others} UNION ALL {steps} ORDER BY number", name, name, name)

    def _read(self, query: str, *values: object) -> tuple[Record, ...]:
        with refusals(self.path, _FORM.what, "read"):
            rows = self._database.execute(query, values).fetchall()
        return tuple(record for row in rows if (record := self._record(*row)) is not None)

    def _record(self, number: int, time: object, kind: object, name: object, data: bytes) -> Record | None:
        try:
            values = json.loads(data)
            if not (isinstance(values, dict) and isinstance(time, float) and isinstance(name, str)):
                raise TypeError("no JSON object with a time and a command")
            return Record(time, RecordKind(kind), name, values)
        except (TypeError, ValueError, RecursionError) as error:
            self.unreadable[number] = str(error)
            return None

    def _names(self, query: str, *values: object) -> list[Any]:
        with refusals(self.path, _FORM.what, "read"):
            return [name for (name,) in self._database.execute(query, values)]

    def _pragma(self, name: str) -> int:
        return int(self._database.execute(f"PRAGMA {name}").fetchone()[0])


def as_text(record: Record) -> str:
    """The data as JSON that SQLite takes: half a surrogate pair, which some programs write, is no text to it."""
    return json.dumps(record.data, ensure_ascii=False).encode(errors="replace").decode()


def read_journal(path: Path, report: Callable[[str], None] = lambda line: None) -> tuple[Record, ...]:
    """Every record, the oldest first. A journal that is not there is empty; raises InputError as `JournalFile`.

    `report` is told of each record that cannot be read; they are left out.
    """
    if not path.exists():
        return ()
    with closing(JournalFile(path)) as journal:
        records = journal.records()
    for number, reason in journal.unreadable.items():
        report(left_out(path, number, reason))
    return records


def left_out(path: Path, number: int, reason: str) -> str:
    """What a person is told of a record that cannot be read."""
    return f"record {number} of the journal {path} cannot be read and is left out: {reason}"


def unfinished(records: Iterable[Record]) -> tuple[Unfinished, ...]:
    """The commands that were begun and have no outcome, or only that whoever did them was `lost`; oldest first."""
    commands: dict[str, str] = {}
    plans: dict[str, str] = {}  # the words of the plan: those of the command that it goes on with
    steps: dict[str, dict[str, str]] = {}
    texts: dict[str, dict[str, str]] = {}
    edits: dict[str, list[str]] = {}
    ended: set[str] = set()
    for record in records:
        name, data = record.command_id, record.data
        if record.kind is RecordKind.COMMAND:
            commands[name] = str(data.get("command", ""))
        elif record.kind is RecordKind.PLAN:
            plans[name] = str(data.get("command", commands.get(name, "")))
        elif record.kind is RecordKind.STEP:
            step_id = str(data.get("step_id", ""))
            steps.setdefault(name, {})[step_id] = str(data.get("status", ""))
            texts.setdefault(name, {})[step_id] = str(data.get("step", ""))
        elif record.kind is RecordKind.EDIT:
            edits.setdefault(name, []).append(str(data.get("words", "")))
        elif record.kind is RecordKind.OUTCOME and not data.get("lost"):
            ended.add(name)

    def left(name: str, command: str) -> Unfinished:
        of_steps, words = steps.get(name, {}), plans.get(name, command)
        done = tuple(texts[name][step] for step, status in of_steps.items() if status == "done")
        return Unfinished(name, words, of_steps, done, tuple(edits.get(name, ())), name in plans)

    return tuple(left(name, command) for name, command in commands.items() if name not in ended)

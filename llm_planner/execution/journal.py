"""Journal of what was commanded, planned, edited, done and learned: append-only records in a SQLite file.

`append` returns after the record is on the disk, so that a crash leaves a trace of the unfinished command. Several
processes may append to one file. `JournalFile` waits for the disk and raises if it is full; nodes use
`execution.journal_buffer.Journal` instead. Records of one process are in order, but those of another may arrive late
after a full disk, so that a plan may precede its command: readers group by command id and do not rely on the order of
records of different kinds.
"""

from __future__ import annotations

import json
import sqlite3
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from enum import Enum
from pathlib import Path
from typing import Any

from llm_planner.database import PATIENCE, Format, open_database, refusals, transaction


class RecordKind(str, Enum):
    """Kind of a record."""

    COMMAND = "command"
    PLAN = "plan"
    EDIT = "edit"
    STEP = "step"
    OUTCOME = "outcome"
    LESSON = "lesson"


@dataclass(frozen=True)
class Record:
    """One journal entry; `time` is in seconds since the epoch."""

    time: float
    kind: RecordKind
    command_id: str
    data: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Unfinished:
    """A command without an outcome.

    `steps` has the last status of each step by id, `done` the finished steps and `edits` the corrections as people read
    them. `planned` is whether a plan for the command was under way.
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


MOST_BYTES = 32 * 2**20  # bytes of records and indices above which the oldest finished commands are dropped
KEPT_COMMANDS = 50  # newest commands, which are never dropped
MOST_LOOKED_AT = 1000  # commands that `tail` searches
MOST_UNFINISHED = 100  # newest unfinished commands that are read
MOST_STEPS = 10_000  # newest step records that are read per command; a tenth for other records
_PORTION = 500  # approximate number of records that one transaction of `compact` drops
_ENDS = "kind = 'outcome' AND instr(data, '\"lost\": true') = 0"  # in the format of `json.dumps`
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
    """Journal in the file `path`, which is created with its folder if it does not exist.

    Unreadable records are left out; `unreadable` maps their numbers to the reasons. Raises InputError if the file
    cannot be written or is not a journal.

    Args:
        most_bytes: Size to which `compact` reduces the file, unless unfinished commands take more.
        patience: Time to wait for another process's transaction [s].
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
        """Write all records or none, and wait until they are on the disk; raise InputError on failure."""
        rows = [(one.time, one.kind.value, one.command_id, as_text(one)) for one in records]
        with refusals(self.path, _FORM.what), transaction(self._database):
            self._database.executemany("INSERT INTO record (time, kind, command_id, data) VALUES (?, ?, ?, ?)", rows)

    def records(self) -> tuple[Record, ...]:
        """Return every record, oldest first."""
        return self._read(f"SELECT {_COLUMNS} FROM record ORDER BY number")

    def unfinished(self) -> tuple[Unfinished, ...]:
        """Return the newest `MOST_UNFINISHED` unfinished commands without reading other records."""
        names = self._names("SELECT command_id FROM unfinished ORDER BY rowid DESC LIMIT ?", MOST_UNFINISHED)
        return unfinished(record for name in reversed(names) for record in self._of_command(name))

    def tail(self, enough: Callable[[Sequence[Record]], bool], before: str = "") -> tuple[Record, ...]:
        """Return the records of the newest commands, oldest first.

        Args:
            enough: Whether the search ends at a command, given its records.
            before: Id of a command; only older commands count. "" for all.
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
        """Drop a portion of the oldest finished commands and return whether there is more to do.

        This starts above `most_bytes` and continues down to 3/4 of it. One call blocks other writers for one portion
        only.
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
            if not self._is_vacuumed:  # file of an older llm-planner
                self._is_vacuumed = True
                self._database.execute("PRAGMA auto_vacuum=INCREMENTAL")
                self._database.execute("VACUUM")
        return False

    def is_in_place(self) -> bool:
        """Return whether the path still names the opened file and the file is readable."""
        try:
            self._database.execute("SELECT count(*) FROM unfinished").fetchone()
            return self.path.lstat().st_ino == self._inode
        except (OSError, sqlite3.Error):
            return False

    def close(self) -> None:
        """Close the file; nothing can be read or appended afterwards."""
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
    """Return the data as JSON for SQLite, which rejects unpaired surrogates: they are replaced."""
    return json.dumps(record.data, ensure_ascii=False).encode(errors="replace").decode()


def read_journal(path: Path) -> tuple[Record, ...]:
    """Read every readable record, oldest first; a missing file counts as empty. Raises InputError as `JournalFile`."""
    if not path.exists():
        return ()
    with closing(JournalFile(path)) as journal:
        return journal.records()


def unfinished(records: Iterable[Record]) -> tuple[Unfinished, ...]:
    """Return the commands without an outcome, oldest first; an outcome marked as `lost` does not count."""
    commands: dict[str, str] = {}
    plans: dict[str, str] = {}  # command of the plan, which may continue an earlier command
    steps: defaultdict[str, dict[str, str]] = defaultdict(dict)
    texts: defaultdict[str, dict[str, str]] = defaultdict(dict)
    edits: defaultdict[str, list[str]] = defaultdict(list)
    ended: set[str] = set()
    for record in records:
        name, data = record.command_id, record.data
        if record.kind is RecordKind.COMMAND:
            commands[name] = str(data.get("command", ""))
        elif record.kind is RecordKind.PLAN:
            plans[name] = str(data.get("command", commands.get(name, "")))
        elif record.kind is RecordKind.STEP:
            step_id = str(data.get("step_id", ""))
            steps[name][step_id] = str(data.get("status", ""))
            texts[name][step_id] = str(data.get("step", ""))
        elif record.kind is RecordKind.EDIT:
            edits[name].append(str(data.get("words", "")))
        elif record.kind is RecordKind.OUTCOME and not data.get("lost"):
            ended.add(name)
    left = []
    for name, command in commands.items():
        if name not in ended:
            done = tuple(texts[name][step] for step, status in steps[name].items() if status == "done")
            words = plans.get(name, command)
            left.append(Unfinished(name, words, steps[name], done, tuple(edits[name]), name in plans))
    return tuple(left)

"""What has been commanded, planned and done, one JSON object a line, appended and never changed.

A record is on the disk before `append` returns, so that after a crash it can be told which command was left unfinished.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable
from dataclasses import dataclass, field
from enum import Enum
from pathlib import Path
from typing import Any

from llm_planner.errors import InputError


class RecordKind(str, Enum):
    """What a record tells."""

    COMMAND = "command"
    PLAN = "plan"
    STEP = "step"
    OUTCOME = "outcome"


@dataclass(frozen=True)
class Record:
    """One line: when (seconds since the epoch), of which command, and what."""

    time: float
    kind: RecordKind
    command_id: str
    data: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Unfinished:
    """A command without an outcome, and the last that is known of its steps (id -> status)."""

    command_id: str
    command: str
    steps: dict[str, str]


class Journal:
    """Appends to the file `path`, which is made with its folder when it is not there.

    Raises InputError, naming the path, when it cannot be written.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            torn = path.exists() and path.stat().st_size > 0 and not path.read_bytes().endswith(b"\n")
            self._file = path.open("a", encoding="utf-8")
        except OSError as error:
            raise InputError(
                f"the journal {path} cannot be written: {error.strerror}; choose another place for it"
            ) from error
        if torn:  # a crash in the middle of a line must not spoil the next one
            self._file.write("\n")

    def append(self, record: Record) -> None:
        """Write one record and wait until it is on the disk."""
        line = {"time": record.time, "kind": record.kind.value, "command_id": record.command_id, **record.data}
        self._file.write(json.dumps(line, ensure_ascii=False) + "\n")
        self._file.flush()
        os.fsync(self._file.fileno())

    def close(self) -> None:
        """Nothing can be appended afterwards."""
        self._file.close()


def read_journal(path: Path) -> tuple[Record, ...]:
    """Every whole record; lines torn by a crash are left out. A journal that is not there is empty."""
    if not path.exists():
        return ()
    records = []
    for line in path.read_text(encoding="utf-8", errors="replace").splitlines():
        try:
            records.append(_record(dict(json.loads(line))))
        except (ValueError, KeyError, TypeError):
            continue
    return tuple(records)


def _record(values: dict[str, Any]) -> Record:
    data = {key: value for key, value in values.items() if key not in ("time", "kind", "command_id")}
    return Record(float(values["time"]), RecordKind(values["kind"]), str(values["command_id"]), data)


def unfinished(records: Iterable[Record]) -> tuple[Unfinished, ...]:
    """The commands that were begun and have no outcome, oldest first."""
    commands: dict[str, str] = {}
    steps: dict[str, dict[str, str]] = {}
    for record in records:
        if record.kind is RecordKind.COMMAND:
            commands[record.command_id] = str(record.data.get("command", ""))
        elif record.kind is RecordKind.STEP:
            statuses = steps.setdefault(record.command_id, {})
            statuses[str(record.data.get("step_id", ""))] = str(record.data.get("status", ""))
        elif record.kind is RecordKind.OUTCOME:
            commands.pop(record.command_id, None)
    return tuple(Unfinished(name, text, steps.get(name, {})) for name, text in commands.items())

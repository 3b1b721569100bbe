"""Where the nodes keep their journal, and what was learned from corrections."""

from __future__ import annotations

import os
import time
from pathlib import Path

from llm_planner.plan.journal import Journal, Record, RecordKind


def journal_path(setting: str) -> Path:
    """The path set, or else a file under ROS's own folder (`ROS_HOME`, or ~/.ros)."""
    return _path(setting, "journal.sqlite")


def memory_path(setting: str) -> Path:
    """The path set, or else a file beside the journal's usual place."""
    return _path(setting, "memory.sqlite")


def _path(setting: str, name: str) -> Path:
    if setting:
        return Path(setting).expanduser()
    return Path(os.environ.get("ROS_HOME") or Path.home() / ".ros") / "llm_planner" / name


def note(journal: Journal, kind: RecordKind, command_id: str, **data: object) -> None:
    """Append a record with the present time."""
    journal.append(Record(time.time(), kind, command_id, dict(data)))

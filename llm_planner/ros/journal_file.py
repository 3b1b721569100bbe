"""Where the nodes keep their journal, and what was learned from corrections."""

from __future__ import annotations

import os
import time
from pathlib import Path

from rclpy.node import Node

from llm_planner.execution.journal import Record, RecordKind
from llm_planner.execution.journal_buffer import Journal
from llm_planner.text import redacted_data


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


def record(kind: RecordKind, command_id: str, **data: object) -> Record:
    """A record with the present time, and without secrets: a server's words may hold one."""
    return Record(time.time(), kind, command_id, redacted_data(data))


def note(journal: Journal, kind: RecordKind, command_id: str, **data: object) -> None:
    """Append a record with the present time."""
    journal.append(record(kind, command_id, **data))


def log_news(node: Node, journal: Journal) -> None:
    """Log what has become of the journal since the last call; to be called now and then."""
    for line in journal.news():
        node.get_logger().warning(line)


def close_journal(node: Node, journal: Journal) -> None:
    """Close it, and log what could not be written."""
    unwritten = journal.close()
    log_news(node, journal)
    if unwritten:
        node.get_logger().error(f"{unwritten} records of what was done are lost: {journal.trouble}")


def with_notice(message: str, journal: Journal) -> str:
    """The message to a person, with a sentence about the journal where that has got into trouble since the last one."""
    notice = journal.notice()
    return f"{message} {notice[0].upper()}{notice[1:]}.".lstrip() if notice else message

"""Paths of the nodes' journal, memory and recordings, and functions that write and report on the journal."""

from __future__ import annotations

import os
import time
from pathlib import Path

from rclpy.node import Node

from llm_planner.execution.journal import Record, RecordKind
from llm_planner.execution.journal_buffer import Journal, JournalError
from llm_planner.text import redacted_data


def journal_path(setting: str, namespace: str, domain: int) -> Path:
    """Return the configured path, by default a file of the system in this namespace and ROS domain.

    It lies in ROS's folder (`ROS_HOME` or ~/.ros): llm_planner/journal.sqlite in domain 0 without a namespace,
    otherwise for example llm_planner/domain_7/left/journal.sqlite.
    """
    return _path(setting, namespace, domain, "journal.sqlite")


def memory_path(setting: str, namespace: str, domain: int) -> Path:
    """Return the configured path, by default a file beside the default journal."""
    return _path(setting, namespace, domain, "memory.sqlite")


def recordings_path(namespace: str, domain: int) -> Path:
    """Return the folder of recordings beside the default journal."""
    return _path("", namespace, domain, "recordings")


def system_of(node: Node) -> tuple[str, int]:
    """Return the namespace and the ROS domain of a node, which tell systems apart."""
    return node.get_namespace(), node.context.get_domain_id()


def _path(setting: str, namespace: str, domain: int, name: str) -> Path:
    if setting:
        return Path(setting).expanduser()
    home = Path(os.environ.get("ROS_HOME") or Path.home() / ".ros") / "llm_planner"
    return home / (f"domain_{domain}" if domain else "") / namespace.strip("/") / name


def open_planners_journal(node: Node, setting: str) -> Journal:
    """Open the configured journal, and log the commands in it that were never planned: only the planner knows them."""
    journal = Journal(journal_path(setting, *system_of(node)))
    try:
        commands = [left for left in journal.unfinished() if not left.planned]  # the executor reports others
    except JournalError as error:
        node.get_logger().warning(str(error))
        return journal
    for left in commands:
        node.get_logger().warning(f"never begun: “{left.command}”; say it again")
        note(journal, RecordKind.OUTCOME, left.command_id, outcome="abandoned")
    return journal


def record(kind: RecordKind, command_id: str, **data: object) -> Record:
    """Make a record with the present time and redacted data, since a server's text may hold secrets."""
    return Record(time.time(), kind, command_id, redacted_data(data))


def note(journal: Journal, kind: RecordKind, command_id: str, **data: object) -> None:
    """Append a record with the present time."""
    journal.append(record(kind, command_id, **data))


def log_news(node: Node, journal: Journal) -> None:
    """Log the journal's news since the last call; call regularly."""
    for line in journal.news():
        node.get_logger().warning(line)


def close_journal(node: Node, journal: Journal) -> None:
    """Close the journal, and log how many records could not be written."""
    unwritten = journal.close()
    log_news(node, journal)
    if unwritten:
        node.get_logger().error(f"{unwritten} records of what was done are lost: {journal.trouble}")


def with_notice(message: str, journal: Journal) -> str:
    """Append a sentence to `message` if the journal has a new problem."""
    notice = journal.notice()
    return f"{message} {notice[0].upper()}{notice[1:]}.".lstrip() if notice else message

"""SQLite files of ours: write-ahead, on the disk before a change is acknowledged, safe to open in several processes.

With `synchronous=FULL` the log is synchronised at every commit (sqlite.org/wal.html), so a transaction that has
returned outlives a crash of the machine, and one that was interrupted leaves no trace.
"""

from __future__ import annotations

import fcntl
import os
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from llm_planner.errors import InputError

PATIENCE = 5.0  # [s] that one process waits for another's transaction


@dataclass(frozen=True)
class Format:
    """What such a file holds: what people call it, the number that marks it, and the statements that make its tables.

    A file's version is how many of the statements it has seen; a new version adds some and changes none.
    """

    what: str
    mark: int
    statements: tuple[str, ...]


def open_database(path: Path, form: Format) -> sqlite3.Connection:
    """The file at `path`, made with its folder where it is not there. Outside `transaction` every statement is one.

    Raises InputError, naming the path, where it cannot be written, is something else, or is of a newer version.
    """
    with refusals(path, form.what):
        path.parent.mkdir(parents=True, exist_ok=True)
        with _alone(path.parent):  # two that turn a new file to write-ahead at once do not wait for each other
            database = sqlite3.connect(path, timeout=PATIENCE, isolation_level=None)
            try:
                _prepare(database, path, form)
            except BaseException:
                database.close()
                raise
    return database


@contextmanager
def transaction(database: sqlite3.Connection) -> Iterator[None]:
    """All that is done within it is kept, or nothing is; meanwhile no other process writes."""
    with database:
        database.execute("BEGIN IMMEDIATE")
        yield


@contextmanager
def refusals(path: Path, what: str) -> Iterator[None]:
    """What the disk or SQLite refuses within it is an InputError about `what` at `path`."""
    try:
        yield
    except (OSError, sqlite3.Error) as error:
        reason = error.strerror if isinstance(error, OSError) else error
        raise InputError(f"the {what} {path} cannot be written: {reason}; choose another place for it") from error


@contextmanager
def _alone(folder: Path) -> Iterator[None]:
    handle = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        os.close(handle)


def _prepare(database: sqlite3.Connection, path: Path, form: Format) -> None:
    version, mark = (_number(database, name) for name in ("user_version", "application_id"))
    tables = database.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]
    if mark != form.mark and (mark or version or tables):
        raise InputError(f"{path} is no {form.what} but another program's database; choose another place")
    if version > len(form.statements):
        raise InputError(
            f"the {form.what} {path} is of version {version}, and this llm-planner knows versions up to "
            f"{len(form.statements)}: install the newer one again, or choose another place"
        )
    database.execute("PRAGMA journal_mode=WAL")
    database.execute("PRAGMA synchronous=FULL")
    with transaction(database):
        database.execute(f"PRAGMA application_id={form.mark}")
        for statement in form.statements[version:]:
            database.execute(statement)
        database.execute(f"PRAGMA user_version={len(form.statements)}")


def _number(database: sqlite3.Connection, pragma: str) -> int:
    return int(database.execute(f"PRAGMA {pragma}").fetchone()[0])

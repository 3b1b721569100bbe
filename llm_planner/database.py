"""Durable, private SQLite files that several processes may open.

The files use write-ahead logging. With `synchronous=FULL`, SQLite syncs the log at every commit
(sqlite.org/wal.html), so a committed transaction survives a crash and an interrupted one leaves no trace. The files
hold what people said, so only the current user may read them (mode 0600, 0700 for new folders), and symbolic links are
refused. SQLite opens the log and the shared memory without following links and gives them the mode of the file.
"""

from __future__ import annotations

import fcntl
import os
import sqlite3
import stat
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from llm_planner.errors import InputError

PATIENCE = 5.0  # [s] a process waits for another's transaction
LOG_SIZE = 4 * 2**20  # [bytes] of the write-ahead log after a checkpoint truncates it


@dataclass(frozen=True)
class Format:
    """Schema of a database file.

    `what` is the name in messages, `mark` the SQLite application id, and `statements` create the tables. The version of
    a file is the number of statements that ran on it. New versions append statements and never change old ones.
    """

    what: str
    mark: int
    statements: tuple[str, ...]


def open_database(path: Path, form: Format) -> sqlite3.Connection:
    """Open the database at `path`; create it and its folder if they are missing.

    Args:
        path: Database file. Symbolic links are refused.
        form: Schema that the file must have.

    Returns:
        A connection for one thread at a time. Outside `transaction`, every statement commits on its own. Invalid UTF-8
        is read with replacement characters.

    Raises:
        InputError: The file cannot be written, is not a database of this kind, or has a newer version.
    """
    with refusals(path, form.what):
        path.parent.parent.mkdir(parents=True, exist_ok=True)
        path.parent.mkdir(mode=0o700, exist_ok=True)
        with _alone(path.parent):  # SQLite does not wait when two processes switch a new file to WAL at once
            _keep_private(path)
            database = sqlite3.connect(path, timeout=PATIENCE, isolation_level=None, check_same_thread=False)
            try:
                database.text_factory = lambda text: text.decode(errors="replace")
                _prepare(database, path, form)
            except BaseException:
                database.close()
                raise
    return database


@contextmanager
def transaction(database: sqlite3.Connection) -> Iterator[None]:
    """Run the body as one atomic transaction; other processes cannot write meanwhile."""
    with database:
        database.execute("BEGIN IMMEDIATE")
        yield


@contextmanager
def refusals(path: Path, what: str, done: str = "written") -> Iterator[None]:
    """Turn OSError and sqlite3.Error in the body into an InputError: the `what` at `path` cannot be `done`."""
    try:
        yield
    except (OSError, sqlite3.Error) as error:
        reason = error.strerror if isinstance(error, OSError) else error
        raise InputError(f"the {what} {path} cannot be {done}: {reason}; choose another place for it") from error


@contextmanager
def _alone(folder: Path) -> Iterator[None]:
    handle, deadline = os.open(folder, os.O_RDONLY), time.monotonic() + PATIENCE
    try:
        while not _is_locked(handle):
            if time.monotonic() > deadline:
                raise OSError(0, "another process keeps its folder locked")
            time.sleep(0.01)
        yield
    finally:
        os.close(handle)


def _is_locked(handle: int) -> bool:
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _keep_private(path: Path) -> None:
    """Create the file if it is missing, and make it and SQLite's side files readable by this user only.

    Uses O_PATH, since closing any other descriptor would release the SQLite locks of this process.
    """
    with suppress(FileExistsError):
        os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_RDWR, 0o600))
    for file in (path, path.with_name(path.name + "-wal"), path.with_name(path.name + "-shm")):
        try:
            handle = os.open(file, os.O_PATH | os.O_NOFOLLOW)
        except FileNotFoundError:
            continue
        try:
            mode = os.fstat(handle).st_mode
            if not stat.S_ISREG(mode):
                raise OSError(0, f"{file.name} is {'a symbolic link' if stat.S_ISLNK(mode) else 'not a regular file'}")
            if mode & 0o077:
                Path(f"/proc/self/fd/{handle}").chmod(0o600)
        finally:
            os.close(handle)


def _prepare(database: sqlite3.Connection, path: Path, form: Format) -> None:
    opened = Path(database.execute("PRAGMA database_list").fetchone()[2])
    if opened != path.parent.resolve() / path.name:  # a link has replaced it since the check
        raise OSError(0, f"it leads to {opened}")
    version, mark = (_number(database, name) for name in ("user_version", "application_id"))
    tables = database.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]
    if mark != form.mark and (mark or version or tables):
        raise InputError(f"{path} is not a {form.what} but another program's database; choose another place")
    if version > len(form.statements):
        raise InputError(
            f"the {form.what} {path} is of version {version}, and this llm-planner knows versions up to "
            f"{len(form.statements)}: install the newer one again, or choose another place"
        )
    if not tables:
        database.execute("PRAGMA auto_vacuum=INCREMENTAL")  # deleted rows free disk space
    database.execute("PRAGMA journal_mode=WAL")
    database.execute("PRAGMA synchronous=FULL")
    database.execute(f"PRAGMA journal_size_limit={LOG_SIZE}")
    if mark == form.mark and version == len(form.statements):
        return  # write nothing, so that a database on a full disk still opens
    with transaction(database):
        database.execute(f"PRAGMA application_id={form.mark}")
        for statement in form.statements[version:]:
            database.execute(statement)
        database.execute(f"PRAGMA user_version={len(form.statements)}")


def _number(database: sqlite3.Connection, pragma: str) -> int:
    return int(database.execute(f"PRAGMA {pragma}").fetchone()[0])

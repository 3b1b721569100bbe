"""SQLite files of ours: write-ahead, on the disk before a change is acknowledged, safe to open in several processes.

With `synchronous=FULL` the log is synchronised at every commit (sqlite.org/wal.html), so a transaction that has
returned outlives a crash of the machine, and one that was interrupted leaves no trace.

They hold what a person has said: only the user that we run as may read them (mode 0600, and 0700 for a folder that we
make), and a symbolic link in place of one is refused. SQLite itself opens the log and the shared memory beside the
file without following links, and gives them the mode of the file.
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

PATIENCE = 5.0  # [s] that one process waits for another's transaction
LOG_SIZE = 4 * 2**20  # [bytes] to which the write-ahead log is cut after a checkpoint


@dataclass(frozen=True)
class Format:
    """What such a file holds: what people call it, the number that marks it, and the statements that make its tables.

    A file's version is how many of the statements it has seen; a new version adds some and changes none.
    """

    what: str
    mark: int
    statements: tuple[str, ...]


def open_database(path: Path, form: Format) -> sqlite3.Connection:
    """Open the file at `path`, and make it with its folder where it is missing.

    Args:
        path: The file. A symbolic link is refused.
        form: What the file has to be.

    Returns:
        A connection for the use of any one thread at a time. Outside `transaction` every statement is one. Text that
        is no UTF-8 is read with replacement characters.

    Raises:
        InputError: Names the path; it cannot be written, is something else, or is of a newer version.
    """
    with refusals(path, form.what):
        path.parent.parent.mkdir(parents=True, exist_ok=True)
        path.parent.mkdir(mode=0o700, exist_ok=True)
        with _alone(path.parent):  # two that turn a new file to write-ahead at once do not wait for each other
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
    """All that is done within it is kept, or nothing is; meanwhile no other process writes."""
    with database:
        database.execute("BEGIN IMMEDIATE")
        yield


@contextmanager
def refusals(path: Path, what: str, done: str = "written") -> Iterator[None]:
    """What the disk or SQLite refuses within it is an InputError about `what` at `path` that cannot be `done`."""
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
    """Make the file where it is missing, and let nobody else read it and what SQLite keeps beside it.

    O_PATH: closing another kind of handle would take SQLite's locks away from other connections of this process.
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
                raise OSError(0, f"{file.name} is {'a symbolic link' if stat.S_ISLNK(mode) else 'no regular file'}")
            if mode & 0o077:
                Path(f"/proc/self/fd/{handle}").chmod(0o600)
        finally:
            os.close(handle)


def _prepare(database: sqlite3.Connection, path: Path, form: Format) -> None:
    opened = Path(database.execute("PRAGMA database_list").fetchone()[2])
    if opened != path.parent.resolve() / path.name:  # replaced by a link since we looked
        raise OSError(0, f"it leads to {opened}")
    version, mark = (_number(database, name) for name in ("user_version", "application_id"))
    tables = database.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]
    if mark != form.mark and (mark or version or tables):
        raise InputError(f"{path} is no {form.what} but another program's database; choose another place")
    if version > len(form.statements):
        raise InputError(
            f"the {form.what} {path} is of version {version}, and this llm-planner knows versions up to "
            f"{len(form.statements)}: install the newer one again, or choose another place"
        )
    if not tables:
        database.execute("PRAGMA auto_vacuum=INCREMENTAL")  # what is dropped gives its room back
    database.execute("PRAGMA journal_mode=WAL")
    database.execute("PRAGMA synchronous=FULL")
    database.execute(f"PRAGMA journal_size_limit={LOG_SIZE}")
    if mark == form.mark and version == len(form.statements):
        return  # a full disk can still be read
    with transaction(database):
        database.execute(f"PRAGMA application_id={form.mark}")
        for statement in form.statements[version:]:
            database.execute(statement)
        database.execute(f"PRAGMA user_version={len(form.statements)}")


def _number(database: sqlite3.Connection, pragma: str) -> int:
    return int(database.execute(f"PRAGMA {pragma}").fetchone()[0])

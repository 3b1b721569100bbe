"""Answers of `plan`, `run`, `edit` and `constraint`, for a person or as JSON, and checks of the files they write.

`--batch FILE` reads one command per line and prints one JSON object per line, in order, even after failures.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, Protocol, TypeVar

from llm_planner.errors import InputError, LlmPlannerError

if TYPE_CHECKING:
    from rich.console import Console

    from llm_planner.plans.plan import Outcome

INTERRUPTED = 130  # exit status, as in shells
STANDARD_INPUT = Path("-")
MAX_LINE = 100_000  # [bytes] longer lines are skipped and answered with an error

Line = str | InputError  # the command, or why it is unreadable


class Answer(Protocol):
    """Result of a command with its outcome and JSON form."""

    @property
    def outcome(self) -> Outcome: ...

    def to_json(self) -> dict[str, Any]: ...


A = TypeVar("A", bound=Answer)
Make = Callable[[str], A]  # makes the answer to a command
Failed = Callable[[str, BaseException], A]  # makes the answer for a command that raised an exception


def answer(command: str, make: Make[A], failed: Failed[A], show: Callable[[A, Console], None], as_json: bool) -> int:
    """Answer a command: print one JSON object, or `show` the answer to a person.

    Returns:
        Exit status: 0 for `done`, 130 after an interrupt (Ctrl-C, SIGTERM), else 1.
    """
    made, was_interrupted = _made(command, make, failed, LlmPlannerError)
    if as_json:
        print(json_line(made.to_json()))
    else:
        from rich.console import Console

        show(made, Console())
    if was_interrupted:
        return INTERRUPTED
    return 0 if made.outcome.value == "done" else 1


def answer_batch(path: Path, make: Make[A], failed: Failed[A]) -> int:
    """Answer every line of a file as soon as it is read; an interrupt (Ctrl-C, SIGTERM) ends the batch.

    Args:
        path: Text file; `-` for standard input.
        make: Makes the answer to a command.
        failed: Makes the answer for a command that raised an exception.

    Returns:
        Exit status: 0 if all answers are `done`, 130 after an interrupt, else 1.

    Raises:
        InputError: The file cannot be read.
    """
    all_done = True
    with _opened(path) as file:
        for number, line in enumerate(_lines(file), start=1):
            # The lines after a fault must still be answered.
            made, was_interrupted = _made(line, make, failed, Exception)
            print(json_line({"line": number, **made.to_json()}), flush=True)
            if was_interrupted:
                return INTERRUPTED
            all_done = all_done and made.outcome.value == "done"
    return 0 if all_done else 1


def _made(line: Line, make: Make[A], failed: Failed[A], expected: type[Exception]) -> tuple[A, bool]:
    """Return the answer, and whether it was interrupted."""
    if isinstance(line, InputError):
        return failed("", line), False
    try:
        with terminated_as_interrupted(), contextlib.redirect_stdout(sys.stderr):  # libraries may print
            return make(line), False
    except KeyboardInterrupt as error:
        return failed(line, error), True
    except expected as error:
        return failed(line, error), False


def failure(kind: Callable[[str, Outcome, str], A]) -> Failed[A]:
    """Return a function that makes the answer of this kind for a command that raised an exception."""

    def failed(command: str, error: BaseException) -> A:
        from llm_planner.planning.planning import outcome_of
        from llm_planner.plans.plan import Outcome

        if isinstance(error, LlmPlannerError):
            return kind(command, *outcome_of(error))
        if isinstance(error, KeyboardInterrupt):
            return kind(command, Outcome.FAILED, "interrupted")
        return kind(command, Outcome.FAILED, f"a fault of this program, not of yours: {type(error).__name__}: {error}")

    return failed


def json_line(value: dict[str, Any]) -> str:
    """Format `value` as one line of JSON that the encoding of standard output can show."""
    utf = (getattr(sys.stdout, "encoding", None) or "").lower().startswith("utf")
    return json.dumps(value, ensure_ascii=not utf)


@contextlib.contextmanager
def terminated_as_interrupted() -> Iterator[None]:
    """Let SIGTERM raise KeyboardInterrupt in the body; does nothing outside the main thread."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def add_batch_argument(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--batch", type=Path, metavar="FILE", help="one command a line (- is standard input), one JSON object a line"
    )


def check_alone(args: argparse.Namespace, *options: str) -> None:
    """Raise InputError if a command or one of these options is given besides `--batch`."""
    given = [option for option in options if getattr(args, option.removeprefix("--").replace("-", "_"))]
    if args.text or given:
        what = given[0] if given else "the command"
        raise InputError(f"--batch takes its commands from {args.batch}; leave {what} out, or --batch")


@contextlib.contextmanager
def _opened(path: Path) -> Iterator[IO[bytes]]:
    if path == STANDARD_INPUT:
        yield sys.stdin.buffer
        return
    try:
        file = path.open("rb")
    except OSError as error:
        raise InputError(f"--batch: {path} cannot be read: {error.strerror}; give a text file, or - to type") from error
    with file:
        yield file


def _lines(file: IO[bytes]) -> Iterator[Line]:
    while line := file.readline(MAX_LINE):
        if len(line) == MAX_LINE and not line.endswith(b"\n"):
            while (rest := file.readline(MAX_LINE)) and not rest.endswith(b"\n"):
                pass
            yield InputError(f"the line is longer than {MAX_LINE} bytes; give the command in fewer words")
            continue
        try:
            yield line.decode("utf-8-sig").rstrip("\r\n")
        except UnicodeDecodeError as error:
            yield InputError(f"the line is not UTF-8 text ({error.reason}); save the file as UTF-8")


def check_output(option: str, path: Path, suffix: str, access: Callable[[Path, int], bool] = os.access) -> None:
    """Check that a file can be written.

    Args:
        option: Command line option that names the file.
        path: File to write.
        suffix: Suffix that the file must have.
        access: Checks the user's permissions, as `os.access`.

    Raises:
        InputError: The file has another suffix or cannot be written.
    """
    folder = path.parent
    if path.suffix.lower() != suffix:
        raise InputError(f"{option} writes a {suffix} file, but {path} does not end in {suffix}")
    if not folder.is_dir():
        raise InputError(f"{option}: there is no folder {folder}; make it first, or name another")
    if path.exists() and not path.is_file():
        raise InputError(f"{option}: {path} is not a regular file; name another")
    if not access(path if path.exists() else folder, os.W_OK):
        raise InputError(f"{option}: {path} cannot be written, permission is denied; name another")


def check_folder(option: str, folder: Path, access: Callable[[Path, int], bool] = os.access) -> None:
    """Check that `folder`, given to `option`, is or can become a writable folder; raise InputError if not."""
    there = next(path for path in (folder, *folder.parents) if os.path.lexists(path))
    if not there.is_dir():
        raise InputError(f"{option}: {there} is not a folder; name another")
    if not access(there, os.W_OK | os.X_OK):
        raise InputError(f"{option}: {folder} cannot be written, permission is denied; name another")

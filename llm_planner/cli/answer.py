"""Answers of `plan`, `run` and `constraint` as JSON or for a person, and checks of files named on the command line."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import stat
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from llm_planner.errors import InputError

if TYPE_CHECKING:
    from rich.console import Console

    from llm_planner.planning.report import Report
    from llm_planner.plans.plan import Outcome

INTERRUPTED = 130  # exit status, as in shells


class Answer(Protocol):
    """Result of a command with its outcome and JSON form."""

    @property
    def outcome(self) -> Outcome: ...

    def to_json(self) -> dict[str, Any]: ...


A = TypeVar("A", bound=Answer)


def answer(command: str, make_report: Callable[[], Report], as_json: bool, done: str = "done") -> int:
    """Print the report of a command and return the exit status, as `tell`; `done` is the word for success."""

    def interrupted() -> Report:
        from llm_planner.planning.report import Report
        from llm_planner.plans.plan import Outcome

        return Report(command, Outcome.FAILED, "interrupted")

    def show(report: Report, console: Console) -> None:

        show_report(report, console, done)

    return tell(make_report, interrupted, show, as_json)


def tell(make: Callable[[], A], interrupted: Callable[[], A], show: Callable[[A, Console], None], as_json: bool) -> int:
    """Make an answer and print it.

    Args:
        make: Makes the answer.
        interrupted: Makes the answer for an interrupt (Ctrl-C, SIGTERM).
        show: Prints an answer for a person.
        as_json: Whether to print one JSON object instead.

    Returns:
        Exit status: 0 for `done`, 130 after an interrupt, else 1.
    """
    status = None
    try:
        with terminated_as_interrupted(), contextlib.redirect_stdout(sys.stderr):  # libraries may print
            made = make()
    except KeyboardInterrupt:
        made, status = interrupted(), INTERRUPTED
    if as_json:
        print(json_line(made.to_json()))
    else:
        from rich.console import Console

        show(made, Console())
    return (0 if made.outcome.value == "done" else 1) if status is None else status


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


def show_report(report: Report, console: Console, done: str = "done") -> None:
    """Print a report for a person: program, steps with their states, outcome; `done` is the word for success."""
    from rich.text import Text

    from llm_planner.cli.progress_view import program_panel, steps_table, understood
    from llm_planner.plans.plan import Outcome

    if report.plan is not None:
        console.print(program_panel(report.plan.program))
        console.print(steps_table(report.plan.steps))
        for line in understood(report.plan):
            console.print(line, soft_wrap=True)
        if not report.plan.complete:
            console.print(Text("… the rest depends on what the scene shows then", "dim"))
    for kept in report.kept:
        console.print(Text(str(kept), "dim" if kept.holds else "red"), soft_wrap=True)
    word = done if report.outcome is Outcome.DONE else report.outcome.value
    styles = {Outcome.DONE: "bold green", Outcome.QUESTION: "bold yellow"}
    outcome = Text(f"{word}: ", style=styles.get(report.outcome, "bold red"))
    console.print(outcome + Text(report.message), soft_wrap=True)
    if report.usage is not None and report.usage.requests:
        console.print(Text(f"language model: {report.usage}", "dim"), soft_wrap=True)


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


def read_program(path: Path) -> str:
    """Read a program; raise InputError if the file is unreadable or too long."""
    from llm_planner.programs.problems import MAX_PROGRAM_CHARACTERS

    try:
        if not stat.S_ISREG(path.stat().st_mode):  # a pipe or a device may never end
            raise InputError(f"the program {path} cannot be read: it is not a regular file")
        with path.open(encoding="utf-8") as file:
            text = file.read(MAX_PROGRAM_CHARACTERS + 1)
    except UnicodeDecodeError as error:
        raise InputError(f"the program {path} cannot be read: it is not UTF-8 text ({error.reason})") from error
    except (OSError, ValueError) as error:
        raise InputError(f"the program {path} cannot be read: {error}") from error
    if len(text) > MAX_PROGRAM_CHARACTERS:
        raise InputError(f"the program {path} is longer than {MAX_PROGRAM_CHARACTERS} characters: make it shorter")
    return text

"""How `plan`, `run` and `constraint` answer: one JSON object, or for a person, also when they are interrupted."""

from __future__ import annotations

import contextlib
import json
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

if TYPE_CHECKING:
    from rich.console import Console

    from llm_planner.plan.plan import Outcome
    from llm_planner.plan.report import Report

INTERRUPTED = 130  # exit status, as shells have it


class Answer(Protocol):
    """What became of a command, as a value and as JSON."""

    @property
    def outcome(self) -> Outcome: ...

    def to_json(self) -> dict[str, Any]: ...


A = TypeVar("A", bound=Answer)


def answer(command: str, make_report: Callable[[], Report], as_json: bool, done: str = "done") -> int:
    """Print the report of a command; the exit status is that of `tell`. `done` is what a person reads for success."""

    def interrupted() -> Report:
        from llm_planner.plan.plan import Outcome
        from llm_planner.plan.report import Report

        return Report(command, Outcome.FAILED, "interrupted")

    def show(report: Report, console: Console) -> None:
        from llm_planner.cli.show import show_report

        show_report(report, console, done)

    return tell(make_report, interrupted, show, as_json)


def tell(make: Callable[[], A], interrupted: Callable[[], A], show: Callable[[A, Console], None], as_json: bool) -> int:
    """Print what `make` gives; the exit status: 0 for `done`, 130 when interrupted (Ctrl-C, SIGTERM), else 1.

    `interrupted` makes the answer for that case, `show` prints one for a person.
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
    """One line, in what the encoding of standard output can show."""
    utf = (getattr(sys.stdout, "encoding", None) or "").lower().startswith("utf")
    return json.dumps(value, ensure_ascii=not utf)


@contextlib.contextmanager
def terminated_as_interrupted() -> Iterator[None]:
    """Within this, SIGTERM raises KeyboardInterrupt; signals can be set in the main thread only."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)

"""How `plan` and `run` answer: one report, as one JSON object or for a person, also when they are interrupted."""

from __future__ import annotations

import contextlib
import json
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from llm_planner.plan.report import Report

INTERRUPTED = 130  # exit status, as shells have it


def answer(command: str, make_report: Callable[[], Report], as_json: bool, done: str = "done") -> int:
    """Print the report; the exit status: 0 for `done`, 130 when interrupted (Ctrl-C, SIGTERM), else 1.

    `done` is the word for success that a person reads.
    """
    status = None
    try:
        with _terminated_as_interrupted(), contextlib.redirect_stdout(sys.stderr):  # libraries may print
            report = make_report()
    except KeyboardInterrupt:
        from llm_planner.plan.plan import Outcome
        from llm_planner.plan.report import Report

        report, status = Report(command, Outcome.FAILED, "interrupted"), INTERRUPTED
    _print(report, as_json, done)
    return (0 if report.outcome.value == "done" else 1) if status is None else status


def _print(report: Report, as_json: bool, done: str) -> None:
    if as_json:
        utf = (getattr(sys.stdout, "encoding", None) or "").lower().startswith("utf")
        print(json.dumps(report.to_json(), ensure_ascii=not utf))
        return
    from rich.console import Console

    from llm_planner.cli.show import show_report

    show_report(report, Console(), done)


@contextlib.contextmanager
def _terminated_as_interrupted() -> Iterator[None]:
    """Within this, SIGTERM raises KeyboardInterrupt; signals can be set in the main thread only."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)

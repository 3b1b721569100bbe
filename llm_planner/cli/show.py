"""How a report is told to a person at a terminal."""

from __future__ import annotations

from rich.console import Console
from rich.text import Text

from llm_planner.cli.progress_view import program_panel, steps_table, understood
from llm_planner.plan.plan import Outcome
from llm_planner.plan.report import Report

_STYLES = {Outcome.DONE: "bold green", Outcome.QUESTION: "bold yellow"}


def show_report(report: Report, console: Console, done: str = "done") -> None:
    """The program, its steps with their states, and how it ended; `done` is the word for success."""
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
    outcome = Text(f"{word}: ", style=_STYLES.get(report.outcome, "bold red"))
    console.print(outcome + Text(report.message), soft_wrap=True)
    if report.usage is not None and report.usage.requests:
        console.print(Text(f"language model: {report.usage}", "dim"), soft_wrap=True)

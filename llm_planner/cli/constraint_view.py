"""Terminal view of `llm-planner constraint`."""

from __future__ import annotations

from rich.console import Console
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from llm_planner.cli.constraint_report import ConstraintReport, Explained, story
from llm_planner.plans.plan import Outcome


def show_constraints(report: ConstraintReport, console: Console) -> None:
    """Print task, constraints with formula, words and examples, their conjunction, and the vote."""
    if report.outcome is not Outcome.DONE:
        style = "bold yellow" if report.outcome is Outcome.QUESTION else "bold red"
        console.print(Text(f"{report.outcome.value}: ", style) + Text(report.message), soft_wrap=True)
        return
    if report.task:
        console.print(Text("task  ", "bold") + Text(report.task), soft_wrap=True)
    for number, (constraint, explained) in enumerate(report.constraints, start=1):
        kind = "goal" if constraint.goal else "rule"
        console.print(Text(f"{kind} {number}  ", "bold") + Text(f"“{constraint.words}”"), soft_wrap=True)
        console.print(Padding(_rows(explained), (0, 0, 1, 2)))
    if len(report.constraints) > 1 and report.together is not None:
        console.print(Text("all together", "bold"))
        console.print(Padding(_rows(report.together), (0, 0, 1, 2)))
    if not report.constraints:
        console.print(Text(report.message))
    if report.vote is not None:
        console.print(Text(str(report.vote), "dim"))


def _rows(explained: Explained) -> Table:
    table = Table(box=None, show_header=False, pad_edge=False)
    table.add_column(style="dim", no_wrap=True)
    table.add_column(overflow="fold")
    table.add_row("formula", Text(str(explained.formula), "cyan"))
    table.add_row("that is", Text(explained.read_back, "bold"))
    table.add_row("kept by", Text(story(explained.satisfying) or "nothing that can happen", "green"))
    table.add_row("broken by", Text(story(explained.violating) or "nothing that can happen", "red"))
    return table

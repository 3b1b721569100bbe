"""How a report is told to a person at a terminal."""

from __future__ import annotations

from rich.console import Console, Group
from rich.panel import Panel
from rich.syntax import Syntax
from rich.table import Table
from rich.text import Text

from llm_planner.plan.plan import Outcome, Plan, StepStatus
from llm_planner.plan.report import Report

_STATUS = {
    StepStatus.PENDING: ("·", "dim"),
    StepStatus.RUNNING: ("▶", "cyan"),
    StepStatus.DONE: ("✔", "green"),
    StepStatus.FAILED: ("✘", "red"),
    StepStatus.SKIPPED: ("–", "dim"),
}
_OUTCOME = {
    Outcome.DONE: "bold green",
    Outcome.FAILED: "bold red",
    Outcome.QUESTION: "bold yellow",
    Outcome.REFUSED: "bold red",
}


def show_report(report: Report, console: Console) -> None:
    """The program, its steps with their states, and how it ended."""
    if report.plan is not None:
        console.print(program_panel(report.plan.program))
        console.print(steps_table(report.plan))
    outcome = Text(f"{report.outcome.value}: ", style=_OUTCOME[report.outcome])
    console.print(outcome + Text(report.message), soft_wrap=True)


def program_panel(program: str) -> Panel:
    """The program with line numbers."""
    syntax = Syntax(program.strip("\n"), "python", line_numbers=True, background_color="default", word_wrap=True)
    return Panel(Group(syntax), title="program", title_align="left", border_style="dim", expand=False)


def steps_table(plan: Plan) -> Table:
    """One row a step: state, number, call, and what there is to say of it."""
    table = Table(box=None, show_header=False, pad_edge=False)
    for step in plan.steps:
        sign, style = _STATUS[step.status]
        table.add_row(Text(sign, style), Text(step.id, "dim"), Text(str(step)), Text(step.message, "dim"))
    if not plan.complete:
        table.add_row(Text("…", "dim"), "", Text("the rest depends on what the scene shows then", "dim"), "")
    return table

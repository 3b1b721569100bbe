"""What commands show on a terminal: programs, steps and their progress, reports, and tables of findings."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import Enum
from types import TracebackType
from typing import Protocol

from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.panel import Panel
from rich.progress_bar import ProgressBar
from rich.spinner import Spinner
from rich.syntax import Syntax
from rich.table import Table
from rich.text import Text

from llm_planner.corrections.edits import Answer
from llm_planner.corrections.edits import Outcome as AnswerOutcome
from llm_planner.ltl.verbalization import read_back
from llm_planner.planning.report import Report
from llm_planner.plans.plan import Outcome, Plan, PlanStep, StepStatus

MARKS = {
    StepStatus.PENDING: ("·", "dim"),
    StepStatus.RUNNING: ("▶", "bold cyan"),
    StepStatus.DONE: ("✓", "green"),
    StepStatus.FAILED: ("✗", "bold red"),
    StepStatus.SKIPPED: ("–", "dim"),
}
PIPED = 120  # [columns] of what is not shown on a terminal: wide enough to cut nothing off
_OVER = (StepStatus.DONE, StepStatus.FAILED, StepStatus.SKIPPED)


class Shown(Protocol):
    """Progress that the view can show, as `ros.client.Progress`."""

    @property
    def message(self) -> str: ...
    @property
    def plan(self) -> Plan | None: ...
    @property
    def steps(self) -> tuple[PlanStep, ...]: ...


class ProgressView:
    """Live display on a terminal; elsewhere one line per change."""

    def __init__(self, command: str, console: Console | None = None) -> None:
        self.console = console or Console(highlight=False)
        self._command = command
        self._plan: Plan | None = None
        self._lines: set[str] = set()
        self._live = Live(console=self.console, refresh_per_second=8) if self.console.is_terminal else None

    def __enter__(self) -> ProgressView:
        self.console.print(Text.assemble(("You: ", "bold"), self._command or "(nothing)"))
        if self._live is not None:
            self._live.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._live is not None:
            self._live.stop()

    def update(self, progress: Shown) -> None:
        """Show the present progress."""
        if progress.plan is not None:
            self._plan = progress.plan
        if self._live is not None:
            self._live.update(self._display(progress))
        else:
            self._print_new(progress)

    def remark(self, answer: Answer) -> None:
        """Show a remark or question of the robot that answers nothing the person said."""
        asks = answer.outcome is AnswerOutcome.QUESTION
        self.console.print(Text.assemble(("The robot asks: " if asks else "The robot says: ", "bold"), answer.message))

    def _display(self, progress: Shown) -> RenderableType:
        parts: list[RenderableType] = []
        if self._plan is not None:
            parts += [*understood(self._plan), program_panel(self._plan.program), steps_table(progress.steps)]
            over = sum(step.status in _OVER for step in progress.steps)
            parts.append(ProgressBar(total=max(1, len(progress.steps)), completed=over, width=50))
        if not progress.steps or progress.message:
            parts.append(Spinner("dots", Text(progress.message or "working")))
        return Group(*parts)

    def _print_new(self, progress: Shown) -> None:
        lines = [] if progress.steps else [progress.message]
        if self._plan is not None:
            lines += [line.plain for line in understood(self._plan)]
            lines.append("program:\n" + "\n".join(f"  {line}" for line in self._plan.program.strip().splitlines()))
        total = len(progress.steps)
        for number, step in enumerate(progress.steps, start=1):
            if step.status is not StepStatus.PENDING:
                mark = MARKS[step.status][0]
                reason = f": {step.message}" if step.message else ""
                lines.append(f"[{number}/{total}] {mark} {step} {step.status.value}{reason}")
        for line in lines:
            if line and line not in self._lines:
                self._lines.add(line)
                self.console.print(Text(line))


def understood(plan: Plan) -> list[Text]:
    """Describe the plan's goals and rules in plain words."""
    words = {True: "to be done: ", False: "rule: "}
    return [Text.assemble((words[one.goal], "bold"), read_back(one.formula)) for one in plan.constraints]


def program_panel(program: str) -> Panel:
    """Render the program with line numbers."""
    code = Syntax(program.strip("\n"), "python", line_numbers=True, background_color="default")
    return Panel(code, title="program", title_align="left", border_style="dim", expand=False)


def steps_table(steps: Sequence[PlanStep]) -> Table:
    """Render the steps, one per row: mark, call and message."""
    table = Table(box=None, show_header=False, pad_edge=False)
    for step in steps:
        mark, style = MARKS[step.status]
        table.add_row(Text(mark, style=style), Text(str(step), style=style), Text(step.message, style="dim"))
    return table


def show_report(report: Report, console: Console, done: str = "done") -> None:
    """Print a report for a person: program, steps with their states, outcome; `done` is the word for success."""
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


def wide_console() -> Console:
    """Return a console for standard output, with `PIPED` columns where that is no terminal."""
    console = Console(highlight=False)
    if not console.is_terminal:
        console.width = PIPED
    return console


class Grade(Enum):
    """Result of a check, with its mark and style."""

    RIGHT = ("✓", "green")
    DOUBTFUL = ("!", "yellow")
    WRONG = ("✗", "red")


@dataclass(frozen=True)
class Finding:
    """Result of a check; `mend` says what to do, "" if all is well; what is `optional` is doubtful at worst."""

    name: str
    detail: str
    mend: str = ""
    optional: bool = False

    @property
    def grade(self) -> Grade:
        if not self.mend:
            return Grade.RIGHT
        return Grade.DOUBTFUL if self.optional else Grade.WRONG


def show_findings(findings: Iterable[Finding], console: Console) -> list[Grade]:
    """Print a table of the findings, with arrows that say what to do, and return their grades."""
    table = Table(box=None, show_header=False, pad_edge=False)
    for column in ("mark", "check", "result"):
        table.add_column(column, overflow="fold")
    grades = []
    for finding in findings:
        grades.append(finding.grade)
        mark, style = finding.grade.value
        table.add_row(Text(mark, style=style), Text(finding.name), Text(finding.detail))
        if finding.mend:
            table.add_row("", "", Text(f"→ {finding.mend}", style="bold"))
    console.print(table)
    return grades

"""Terminal view of a command in progress: program, steps with their states, and a progress bar."""

from __future__ import annotations

from collections.abc import Sequence
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

from llm_planner.corrections.edits import Answer, Outcome
from llm_planner.ltl.verbalization import read_back
from llm_planner.plans.plan import Plan, PlanStep, StepStatus

MARKS = {
    StepStatus.PENDING: ("·", "dim"),
    StepStatus.RUNNING: ("▶", "bold cyan"),
    StepStatus.DONE: ("✓", "green"),
    StepStatus.FAILED: ("✗", "bold red"),
    StepStatus.SKIPPED: ("–", "dim"),
}
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
        asks = answer.outcome is Outcome.QUESTION
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

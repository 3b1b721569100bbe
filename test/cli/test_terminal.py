"""How a command's progress looks, on a terminal and in a log."""

from __future__ import annotations

import io
from dataclasses import dataclass

from rich.console import Console

from llm_planner.cli.terminal import ProgressView
from llm_planner.corrections.edits import Answer, Outcome
from llm_planner.ltl.formula import Constraint
from llm_planner.ltl.parser import parse
from llm_planner.plans.plan import Plan, PlanStep, StepStatus


@dataclass(frozen=True)
class Shown:
    message: str
    plan: Plan | None
    steps: tuple[PlanStep, ...]


RULES = (Constraint(parse("G !near(robot, vase)"), "not near it"), Constraint(parse("F clear(mug)"), "", goal=True))
PLAN = Plan("tidy", 'pick("mug")\ngo_home()\n', constraints=RULES)


def steps(*statuses: StepStatus) -> tuple[PlanStep, ...]:
    calls = (("pick", {"object": "mug"}), ("go_home", {}))
    return tuple(
        PlanStep(str(k), *call, k, status) for k, (call, status) in enumerate(zip(calls, statuses, strict=True))
    )


def test_what_the_robot_says_meanwhile_is_shown() -> None:
    output = io.StringIO()
    with ProgressView("tidy", Console(file=output, width=80, highlight=False)) as view:
        view.remark(Answer(Outcome.APPLIED, "using what you told me today: slower with mugs"))
        view.remark(Answer(Outcome.QUESTION, "Shall I always do so?"))
    assert "The robot says: using what you told me today: slower with mugs\n" in output.getvalue()
    assert "The robot asks: Shall I always do so?\n" in output.getvalue()


def show(terminal: bool) -> str:
    output = io.StringIO()
    with ProgressView("tidy", Console(file=output, force_terminal=terminal, width=80, highlight=False)) as view:
        view.update(Shown("planning", None, ()))
        view.update(Shown("", PLAN, steps(StepStatus.RUNNING, StepStatus.PENDING)))
        view.update(Shown("", PLAN, steps(StepStatus.RUNNING, StepStatus.PENDING)))
        view.update(Shown("", PLAN, steps(StepStatus.DONE, StepStatus.RUNNING)))
    return output.getvalue()


def test_in_a_log_each_change_is_one_line():
    assert show(terminal=False).splitlines() == [
        "You: tidy",
        "planning",
        "rule: the robot never comes near the vase",
        "to be done: the mug is clear at some point",
        "program:",
        '  pick("mug")',
        "  go_home()",
        '[1/2] ▶ pick("mug") running',
        '[1/2] ✓ pick("mug") done',
        "[2/2] ▶ go_home() running",
    ]


def test_a_terminal_shows_program_steps_and_a_bar():
    shown = show(terminal=True)
    assert "rule: " in shown
    assert "program" in shown
    assert "✓" in shown
    assert "━" in shown

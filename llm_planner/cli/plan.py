"""`llm-planner plan TEXT`: check a command and show its plan; nothing moves."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from typing import TYPE_CHECKING

from llm_planner.cli.answer import answer
from llm_planner.cli.batch import add_batch_argument, answer_batch, check_alone, told
from llm_planner.cli.planning_options import (
    add_planning_arguments,
    command_text,
    open_requested_world,
    planner,
    requested_library,
    requested_viewpoint,
    with_cost,
)

if TYPE_CHECKING:
    from llm_planner.planning.planned import Planned
    from llm_planner.planning.report import Report
    from llm_planner.scene.scene import Scene


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_planning_arguments(parser)
    add_batch_argument(parser)


def run(args: argparse.Namespace) -> int:
    """Print the plan; return exit status 0 if there is one that may run."""
    if args.batch is None:
        return answer(command_text(args), lambda: _single(args), args.json, done="checked")
    check_alone(args, "--program")
    scene, make_plan = open_requested_world(args).scene(), _planner(args)
    return answer_batch(
        args.batch,
        lambda line: _report(line, scene, make_plan),
        lambda line, error: _failed(line, error, scene, make_plan),
    )


def _planner(args: argparse.Namespace) -> Callable[[str, Scene], Planned]:
    return planner(args, requested_library(args, moves=False), requested_viewpoint(args))


def _single(args: argparse.Namespace) -> Report:
    from llm_planner.errors import LlmPlannerError

    command, scene, make_plan = command_text(args), None, None
    try:
        requested_viewpoint(args)
        scene, make_plan = open_requested_world(args).scene(), _planner(args)
        return _report(command, scene, make_plan)
    except LlmPlannerError as error:
        return _failed(command, error, scene, make_plan)


def _report(command: str, scene: Scene, make_plan: Callable[[str, Scene], Planned]) -> Report:
    from llm_planner.planning.report import Report
    from llm_planner.plans.plan import Outcome

    planned = make_plan(command, scene)
    count = len(planned.plan.steps)
    steps = "1 step" if count == 1 else f"{count} steps" if count else "nothing has to be done"
    said = f" It would say: {' '.join(planned.told)}" if planned.told else ""
    message = f"The plan may run: {steps}. Nothing has moved.{said}"
    report = Report(
        command, Outcome.DONE, message, planned.plan, scene, scene,
        confidence=planned.confidence, rehearsal=planned.rehearsal,
    )  # fmt: skip
    return with_cost(make_plan, report)


def _failed(
    command: str, error: Exception, scene: Scene | None, make_plan: Callable[[str, Scene], Planned] | None
) -> Report:
    from llm_planner.planning.report import Report

    outcome, message = told(error)
    report = Report(command, outcome, message, scene_before=scene, scene_after=scene)
    return report if make_plan is None else with_cost(make_plan, report)

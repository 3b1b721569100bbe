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
    requested_viewpoint,
)
from llm_planner.cli.skill_options import requested_library

if TYPE_CHECKING:
    from llm_planner.plan.planning import Planned
    from llm_planner.plan.report import Report
    from llm_planner.world.scene import Scene


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_planning_arguments(parser)
    add_batch_argument(parser)


def run(args: argparse.Namespace) -> int:
    """Print the plan; the exit status is 0 when there is one that may run."""
    if args.batch is None:
        return answer(command_text(args), lambda: _single(args), args.json, done="checked")
    check_alone(args, "--program")
    scene, make_plan = open_requested_world(args).scene(), _planner(args)
    return answer_batch(
        args.batch,
        lambda line: _report(line, scene, make_plan),
        lambda line, error: _failed(line, error, scene),
    )


def _planner(args: argparse.Namespace) -> Callable[[str, Scene], Planned]:
    return planner(args, requested_library(args, moves=False), requested_viewpoint(args))


def _single(args: argparse.Namespace) -> Report:
    from llm_planner.errors import LlmPlannerError

    command, scene = command_text(args), None
    try:
        requested_viewpoint(args)
        scene = open_requested_world(args).scene()
        return _report(command, scene, _planner(args))
    except LlmPlannerError as error:
        return _failed(command, error, scene)


def _report(command: str, scene: Scene, make_plan: Callable[[str, Scene], Planned]) -> Report:
    from llm_planner.plan.plan import Outcome
    from llm_planner.plan.report import Report

    planned = make_plan(command, scene)
    count = len(planned.plan.steps)
    steps = "1 step" if count == 1 else f"{count} steps" if count else "nothing has to be done"
    message = f"The plan may run: {steps}. Nothing has moved."
    return Report(
        command, Outcome.DONE, message, planned.plan, scene, scene,
        confidence=planned.confidence, rehearsal=planned.rehearsal,
    )  # fmt: skip


def _failed(command: str, error: Exception, scene: Scene | None) -> Report:
    from llm_planner.plan.report import Report

    outcome, message = told(error)
    return Report(command, outcome, message, scene_before=scene, scene_after=scene)

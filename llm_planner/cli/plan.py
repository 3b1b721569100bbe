"""`llm-planner plan TEXT`: check a command and show its plan; nothing moves."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from llm_planner.cli.answer import answer
from llm_planner.cli.planning_options import (
    add_planning_arguments,
    command_text,
    open_requested_world,
    planner,
    requested_viewpoint,
)

if TYPE_CHECKING:
    from llm_planner.plan.report import Report


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_planning_arguments(parser)


def run(args: argparse.Namespace) -> int:
    """Print the plan; the exit status is 0 when there is one that may run."""
    return answer(command_text(args), lambda: _report(args), args.json, done="checked")


def _report(args: argparse.Namespace) -> Report:
    from llm_planner.errors import LlmPlannerError
    from llm_planner.plan.plan import Outcome
    from llm_planner.plan.planning import outcome_of
    from llm_planner.plan.report import Report
    from llm_planner.skills.library import load_skills

    command, scene = command_text(args), None
    try:
        viewpoint = requested_viewpoint(args)
        scene = open_requested_world(args).scene()
        planned = planner(args, load_skills(), viewpoint)(scene)
    except LlmPlannerError as error:
        outcome, message = outcome_of(error)
        return Report(command, outcome, message, scene_before=scene, scene_after=scene)
    count = len(planned.plan.steps)
    steps = "1 step" if count == 1 else f"{count} steps" if count else "nothing has to be done"
    message = f"The plan may run: {steps}. Nothing has moved."
    return Report(command, Outcome.DONE, message, planned.plan, scene, scene, confidence=planned.confidence)

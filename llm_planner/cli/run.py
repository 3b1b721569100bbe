"""`llm-planner run TEXT`: plan and carry out in this process, headless, as fast as the machine can."""

from __future__ import annotations

import argparse
import contextlib
import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING

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
    parser.add_argument("--video", type=Path, metavar="FILE", help="write a video of the motion (.mp4)")
    parser.add_argument("--picture", type=Path, metavar="FILE", help="write a picture of the final scene (.png)")


def run(args: argparse.Namespace) -> int:
    """Print what became of the command; the exit status is 0 only when the simulator shows that it is done."""
    from llm_planner.plan.plan import Outcome

    with contextlib.redirect_stdout(sys.stderr):  # libraries may print; stdout is for the answer alone
        report = _report(args)
    if args.json:
        print(json.dumps(report.to_json(), ensure_ascii=False))
    else:
        from rich.console import Console

        from llm_planner.cli.show import show_report

        show_report(report, Console())
    return 0 if report.outcome is Outcome.DONE else 1


def _report(args: argparse.Namespace) -> Report:
    from llm_planner.cli.film import write_film
    from llm_planner.cli.filmed_world import FilmedWorld
    from llm_planner.errors import LlmPlannerError
    from llm_planner.plan.in_process import Workcell, run_command
    from llm_planner.plan.planning import outcome_of
    from llm_planner.plan.report import Report
    from llm_planner.skills.library import load_skills

    command = command_text(args)
    try:
        viewpoint = requested_viewpoint(args)
        world = open_requested_world(args)
        library = load_skills()
        make_plan = planner(args, library, viewpoint)
        filmed = FilmedWorld(world)
        report = run_command(command, Workcell(filmed if args.video else world, library), make_plan, viewpoint)
        if args.video or args.picture:
            write_film([*filmed.frames, filmed.frame()], args.video, args.picture)
    except LlmPlannerError as error:
        outcome, message = outcome_of(error)
        return Report(command, outcome, message)
    return report

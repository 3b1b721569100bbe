"""`llm-planner run TEXT`: plan and execute a command in this process, headless, faster than real time."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from llm_planner.cli.answer import answer, check_output
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
from llm_planner.errors import InputError

if TYPE_CHECKING:
    from llm_planner.cli.film import FilmedWorld
    from llm_planner.planning.report import Report


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_planning_arguments(parser)
    parser.add_argument("--video", type=Path, metavar="FILE", help="write a video of the motion (.mp4)")
    parser.add_argument("--picture", type=Path, metavar="FILE", help="write a picture of the final scene (.png)")
    add_batch_argument(parser)
    parser.add_argument(
        "--keep-world", action="store_true", help="with --batch: each command goes on where the last one ended"
    )


def run(args: argparse.Namespace) -> int:
    """Print the result; return exit status 0 only if the simulator shows that the command is done."""
    if args.batch is not None:
        return _batch(args)
    if args.keep_world:
        raise InputError("--keep-world is for --batch: one command has no other before it; leave it out")
    return answer(command_text(args), lambda: _single(args), args.json)


def _batch(args: argparse.Namespace) -> int:
    """Execute each command in a new world of the same seed, or all in one world."""
    from llm_planner.planning.in_process import Workcell, run_command

    check_alone(args, "--program", "--video", "--picture")
    viewpoint, library = requested_viewpoint(args), requested_library(args)
    make_plan = planner(args, library, viewpoint)
    kept = open_requested_world(args)  # reports wrong options before the first line is read

    def made(line: str) -> Report:
        world = kept if args.keep_world else open_requested_world(args)
        report = run_command(line, Workcell(world, library), lambda scene: make_plan(line, scene), viewpoint)
        return with_cost(make_plan, report, remember=args.keep_world)

    return answer_batch(args.batch, made, _failed)


def _single(args: argparse.Namespace) -> Report:
    from llm_planner.cli.film import FilmedWorld
    from llm_planner.errors import LlmPlannerError
    from llm_planner.planning.in_process import Workcell, run_command

    command = command_text(args)
    try:
        _check_outputs(args)
        viewpoint = requested_viewpoint(args)
        world = open_requested_world(args)
        library = requested_library(args)
        make_plan = planner(args, library, viewpoint)
        filmed = FilmedWorld(world)
        workcell = Workcell(filmed if args.video or args.picture else world, library)
        report = with_cost(
            make_plan, run_command(command, workcell, lambda scene: make_plan(command, scene), viewpoint)
        )
    except LlmPlannerError as error:
        return _failed(command, error)
    _draw(filmed, args)
    return report


def _failed(command: str, error: Exception) -> Report:
    from llm_planner.planning.report import Report

    outcome, message = told(error)
    return Report(command, outcome, message)


def _check_outputs(args: argparse.Namespace) -> None:
    for option, path, suffix in (("--video", args.video, ".mp4"), ("--picture", args.picture, ".png")):
        if path is not None:
            check_output(option, path, suffix)


def _draw(filmed: FilmedWorld, args: argparse.Namespace) -> None:
    """Write the requested video and picture; a failure is only printed, since the result is already known."""
    from llm_planner.cli.film import write_film

    if not (args.video or args.picture):
        return
    try:
        write_film([*filmed.frames, filmed.frame()], args.video, args.picture)
    except Exception as error:  # a full disk or a broken encoder must not hide the result
        print(f"llm-planner: not everything could be drawn: {error}", file=sys.stderr)

"""`llm-planner plan`, `run` and `edit`: check, execute and correct plans in this process, without a running system."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from llm_planner.cli.answers import (
    add_batch_argument,
    answer,
    answer_batch,
    check_alone,
    check_output,
    failure,
    json_line,
)
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
from llm_planner.scene.places import VIEWPOINTS

if TYPE_CHECKING:
    from llm_planner.corrections.edit_preview import EditAnswer
    from llm_planner.planning.planned import Planned
    from llm_planner.planning.report import Report
    from llm_planner.scene.scene import Scene


def add_plan_arguments(parser: argparse.ArgumentParser) -> None:
    add_planning_arguments(parser)
    add_batch_argument(parser)


def run_plan(args: argparse.Namespace) -> int:
    """Print the plan; return exit status 0 if there is one that may run."""
    preview = _Preview(args)
    if args.batch is None:
        from llm_planner.cli.terminal import show_report

        return answer(
            command_text(args),
            preview.make,
            preview.failed,
            lambda report, console: show_report(report, console, "checked"),
            args.json,
        )
    check_alone(args, "--program")
    preview.open()
    return answer_batch(args.batch, preview.make, preview.failed)


class _Preview:
    """Plans commands in the scene of the requested world; opened at the first one, or ahead of it."""

    def __init__(self, args: argparse.Namespace) -> None:
        self._args = args
        self._scene: Scene | None = None
        self._planner: Callable[[str, Scene], Planned] | None = None

    def open(self) -> tuple[Scene, Callable[[str, Scene], Planned]]:
        """Open world and planner; raise InputError for a wrong option."""
        if self._scene is None or self._planner is None:
            viewpoint, scene = requested_viewpoint(self._args), open_requested_world(self._args).scene()
            self._planner = planner(self._args, requested_library(self._args, moves=False), viewpoint)
            self._scene = scene
        return self._scene, self._planner

    def make(self, command: str) -> Report:
        from llm_planner.planning.report import Report
        from llm_planner.plans.plan import Outcome

        scene, make_plan = self.open()
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

    def failed(self, command: str, error: BaseException) -> Report:
        from llm_planner.planning.report import Report

        report = failure(Report)(command, error)
        if self._planner is None or isinstance(error, KeyboardInterrupt):
            return report
        return with_cost(self._planner, replace(report, scene_before=self._scene, scene_after=self._scene))


def add_run_arguments(parser: argparse.ArgumentParser) -> None:
    add_planning_arguments(parser)
    parser.add_argument("--video", type=Path, metavar="FILE", help="write a video of the motion (.mp4)")
    parser.add_argument("--picture", type=Path, metavar="FILE", help="write a picture of the final scene (.png)")
    add_batch_argument(parser)
    parser.add_argument(
        "--keep-world", action="store_true", help="with --batch: each command goes on where the last one ended"
    )


def run_run(args: argparse.Namespace) -> int:
    """Print the result; return exit status 0 only if the simulator shows that the command is done."""
    if args.batch is not None:
        return _run_batch(args)
    if args.keep_world:
        raise InputError("--keep-world is for --batch: one command has no other before it; leave it out")
    from llm_planner.cli.terminal import show_report
    from llm_planner.planning.report import Report

    return answer(
        command_text(args), lambda command: _run_filmed(command, args), failure(Report), show_report, args.json
    )


def _run_batch(args: argparse.Namespace) -> int:
    """Execute each command in a new world of the same seed, or all in one world."""
    from llm_planner.planning.in_process import Workcell, run_command
    from llm_planner.planning.report import Report

    check_alone(args, "--program", "--video", "--picture")
    viewpoint, library = requested_viewpoint(args), requested_library(args)
    make_plan = planner(args, library, viewpoint)
    kept = open_requested_world(args)  # reports wrong options before the first line is read

    def made(line: str) -> Report:
        world = kept if args.keep_world else open_requested_world(args)
        report = run_command(line, Workcell(world, library), lambda scene: make_plan(line, scene), viewpoint)
        return with_cost(make_plan, report, remember=args.keep_world)

    return answer_batch(args.batch, made, failure(Report))


def _run_filmed(command: str, args: argparse.Namespace) -> Report:
    """Execute a command, and write the requested video and picture."""
    from llm_planner.cli.film import FilmedWorld, write_film
    from llm_planner.planning.in_process import Workcell, run_command

    for option, path, suffix in (("--video", args.video, ".mp4"), ("--picture", args.picture, ".png")):
        if path is not None:
            check_output(option, path, suffix)
    viewpoint = requested_viewpoint(args)
    world = open_requested_world(args)
    library = requested_library(args)
    make_plan = planner(args, library, viewpoint)
    filmed = FilmedWorld(world) if args.video or args.picture else None
    report = run_command(
        command, Workcell(filmed or world, library), lambda scene: make_plan(command, scene), viewpoint
    )
    if filmed is not None:
        try:
            write_film([*filmed.frames, filmed.frame()], args.video, args.picture)
        except Exception as error:  # a full disk or a broken encoder must not hide the result
            print(f"llm-planner: not everything could be drawn: {error}", file=sys.stderr)
    return with_cost(make_plan, report)


def add_edit_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("text", nargs="*", help="what is said while the plan runs: no, the blue one")
    parser.add_argument(
        "--plan", type=Path, required=True, metavar="FILE", help="as `llm-planner plan --json` prints it"
    )
    parser.add_argument("--running-step", default="", metavar="N", help="id of the step under way (default: none yet)")
    parser.add_argument("--holding", default="", metavar="OBJECT", help="what that step has in the gripper already")
    parser.add_argument("--viewpoint", choices=VIEWPOINTS, default="behind", help="where the speaker stands")
    parser.add_argument("--model", choices=("embedded", "openai"), default="embedded", help="who reads the words")
    add_batch_argument(parser)


def run_edit(args: argparse.Namespace) -> int:
    """Print edit, difference and verdict as JSON; return exit status 0 if the edit is accepted."""
    from llm_planner.corrections.edit_preview import EditAnswer

    if args.batch is not None:
        check_alone(args)
        return answer_batch(args.batch, _edit_reader(args), failure(EditAnswer))
    words = " ".join(args.text).strip()
    if not words:
        raise InputError('nothing is said: write the words, as in llm-planner edit "no, the blue one" --plan FILE')
    answer = _edit_reader(args)(words)
    print(json_line(answer.to_json()))
    return 0 if answer.outcome.value == "done" else 1


def _edit_reader(args: argparse.Namespace) -> Callable[[str], EditAnswer]:
    """Return a function that answers corrections of the plan in the file, at the given step."""
    from llm_planner.corrections.edit_preview import answer_words, midway
    from llm_planner.corrections.reading import open_reader
    from llm_planner.corrections.situation import situation_of
    from llm_planner.planning.report import read_plan
    from llm_planner.skills.library import load_skills

    plan, scene = read_plan(args.plan)
    skills = load_skills(learned=False).for_scene(scene).signatures
    state = midway(plan, scene, skills, requested_viewpoint(args), args.running_step, args.holding)
    situation, reader = situation_of(state).past_the_grasp(), open_reader(args.model)
    return lambda words: answer_words(words, state, situation, reader.read)

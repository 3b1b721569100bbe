"""Options that planning commands share, and the world, skills, model and planner that they select."""

from __future__ import annotations

import argparse
import functools
import stat
import sys
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING

from llm_planner.errors import InputError
from llm_planner.robots.robot_folders import listed

if TYPE_CHECKING:
    from llm_planner.language.model import LanguageModel
    from llm_planner.planning.planned import Planned, PlanningSettings
    from llm_planner.planning.report import Report
    from llm_planner.scene.places import Viewpoint
    from llm_planner.scene.scene import Scene
    from llm_planner.simulation.rooms.world import RoomsWorld
    from llm_planner.simulation.world import World
    from llm_planner.skills.arm import Camera
    from llm_planner.skills.library import SkillLibrary


def add_skill_options(parser: argparse.ArgumentParser) -> None:
    add_library_argument(parser)
    parser.add_argument("--scripted", action="store_true", help="let scripts move, also where a policy was learned")
    parser.add_argument("--camera", action="store_true", help="let skills see pictures: offers pick_by_sight")


def requested_camera(args: argparse.Namespace) -> Camera:
    """Return the simulated camera if requested; it opens OpenGL when a skill first looks."""
    from llm_planner.simulation.renderers import SceneCamera
    from llm_planner.skills.arm import blind

    return SceneCamera() if args.camera else blind


def requested_library(args: argparse.Namespace, moves: bool = True) -> SkillLibrary:
    """Load the skills that the options name; policies are opened only if the robot `moves` by them."""
    from llm_planner.skills.library import load_skills

    return load_skills(args.skills, learned=moves and not args.scripted, camera=requested_camera(args))


def add_library_argument(
    parser: argparse.ArgumentParser, told: str = "your own skills, besides those that ship"
) -> None:
    parser.add_argument("--skills", type=Path, metavar="FOLDER", help=told)


DEFAULT_WORLD, DEFAULT_SEED, DEFAULT_SOURCE = "tabletop", 0, "cli"


def add_planning_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options for command, model, world, safety and skills."""
    parser.add_argument("text", nargs="*", help='the command, e.g. "stack the red block on the blue one"')
    add_world_arguments(parser)
    add_model_arguments(parser)
    parser.add_argument(
        "--program",
        type=Path,
        metavar="FILE",
        help="do the task by this program, and keep the goals and rules of the command, if there is one",
    )
    parser.add_argument(
        "--viewpoint", default="behind", help="where you stand: behind the robot (default), facing, left or right"
    )
    add_rule_argument(parser)
    add_safety_arguments(parser)
    add_skill_options(parser)
    parser.add_argument("--json", action="store_true", help="print one JSON object (see docs/reference/json_format.md)")


def add_rule_argument(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--rule", dest="rules", action="append", default=[], metavar="FORMULA",
        help="what the plan must keep besides the words, in temporal logic; may be given several times: "
        "--rule 'G !near(robot, vase)'",
    )  # fmt: skip


def requested_rules(args: argparse.Namespace) -> tuple[str, ...]:
    """Return the formulas of `--rule`; raise InputError for one that cannot be parsed or has no temporal operator."""
    from llm_planner.ltl.parser import parse
    from llm_planner.ltl.phrases import is_momentary

    for text in args.rules:
        try:
            formula = parse(text)
        except InputError as error:
            raise InputError(f"--rule {text!r}: {error}") from error
        if is_momentary(formula):
            raise InputError(
                f"--rule {text!r} is about the first moment only: write G ({formula}) for what must always hold; "
                "docs/concepts/temporal_logic.md has more"
            )
    return tuple(args.rules)


def add_safety_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--rehearsal", default="symbolic",
        help="symbolic (default): refuse what breaks a constraint, ask about what may; full: also run it in a copy of "
        "the simulation first; off: do not ask",
    )  # fmt: skip
    parser.add_argument("--privileges", type=Path, metavar="FILE", help="policy file: who may have what done (YAML)")
    parser.add_argument("--source", help=f"whose command this is, for the policy file (default: {DEFAULT_SOURCE})")


def add_world_arguments(parser: argparse.ArgumentParser) -> None:
    worlds = f"tabletop, rooms, two_tables, or the file of your own (default: {DEFAULT_WORLD})"
    parser.add_argument("--world", help=f"simulated world: {worlds}")
    parser.add_argument("--robot", metavar="NAME", help=f"arm: {listed()}, or the folder of your own")
    parser.add_argument("--seed", type=int, help=f"seed of the layout (default: {DEFAULT_SEED})")
    parser.add_argument("--objects", metavar="LIST", help='what is in it, e.g. "red block, mug" or "parcel, Anna"')


def add_model_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--model", default="embedded", help="language model: embedded (default), openai or scripted")
    parser.add_argument("--model-script", type=Path, metavar="FILE", help="replies of the scripted model (YAML)")


def command_text(args: argparse.Namespace) -> str:
    """Return the typed command, or a description of the given program."""
    words = " ".join(args.text)
    return words if words or args.program is None else f"run the program {args.program.name}"


def open_requested_world(args: argparse.Namespace) -> World | RoomsWorld:
    """Open the world that the options name; raise InputError for a wrong option, or SimulationError."""
    from llm_planner.simulation.offscreen import check_gl_setting
    from llm_planner.simulation.worlds import open_world, read_objects

    name = DEFAULT_WORLD if args.world is None else str(args.world)
    seed = DEFAULT_SEED if args.seed is None else int(args.seed)
    if seed < 0:
        raise InputError(f"--seed must be 0 or more, not {seed}")
    check_gl_setting()
    objects = None if args.objects is None else read_objects(name, args.objects)
    return open_world(name, seed, objects, robot=args.robot or "")


def requested_viewpoint(args: argparse.Namespace) -> Viewpoint:
    """Return the viewpoint; raise InputError that lists the choices."""
    from llm_planner.scene.places import viewpoint

    return viewpoint(args.viewpoint)


def requested_model(args: argparse.Namespace) -> Callable[[], LanguageModel]:
    """Return a function that opens the model on first use; raise InputError at once if the options are wrong."""
    from llm_planner.language.factory import check_model, open_model

    check_model(args.model, args.model_script)
    return functools.cache(lambda: open_model(args.model, args.model_script))


def planner(args: argparse.Namespace, library: SkillLibrary, viewpoint: Viewpoint) -> Callable[[str, Scene], Planned]:
    """Return a function that plans a command in a scene, with the given program or the model."""
    from llm_planner.corrections.command_planner import CommandPlanner, program_planner
    from llm_planner.language.factory import check_script

    settings, rules = _settings(args, library, viewpoint), requested_rules(args)
    if args.program is not None:
        text, model = read_program(args.program), requested_model(args) if any(args.text) else None
        check_script(args.model, args.model_script)
        return program_planner(text, model, library, viewpoint, settings, rules)
    return CommandPlanner(requested_model(args), library, viewpoint, settings, waiting, rules)


def with_cost(make_plan: Callable[[str, Scene], Planned], report: Report, remember: bool = False) -> Report:
    """Return the report with the model's usage, if any; `remember` shows it to the model with later commands."""
    from llm_planner.corrections.command_planner import CommandPlanner

    if not isinstance(make_plan, CommandPlanner):
        return report
    if remember:
        make_plan.remember(report)
    return make_plan.with_cost(report)


def _settings(args: argparse.Namespace, library: SkillLibrary, viewpoint: Viewpoint) -> PlanningSettings:
    from llm_planner.planning.planned import planning_settings

    if args.source is not None and args.privileges is None:
        raise InputError(
            f"--source {args.source} is for a policy file, and none is given, so anyone may have anything done: "
            "name one with --privileges FILE, or leave --source out"
        )
    source = DEFAULT_SOURCE if args.source is None else args.source
    return planning_settings(args.rehearsal, args.privileges, source, library, viewpoint)


def waiting() -> AbstractContextManager[object]:
    """Show a spinner while a model thinks; nothing if standard error is not a terminal."""
    if not sys.stderr.isatty():
        return nullcontext()
    from rich.console import Console

    return Console(stderr=True).status("the model is thinking")


def read_program(path: Path) -> str:
    """Read a program; raise InputError if the file is unreadable or too long."""
    from llm_planner.programs.problems import MAX_PROGRAM_CHARACTERS

    try:
        if not stat.S_ISREG(path.stat().st_mode):  # a pipe or a device may never end
            raise InputError(f"the program {path} cannot be read: it is not a regular file")
        with path.open(encoding="utf-8") as file:
            text = file.read(MAX_PROGRAM_CHARACTERS + 1)
    except UnicodeDecodeError as error:
        raise InputError(f"the program {path} cannot be read: it is not UTF-8 text ({error.reason})") from error
    except (OSError, ValueError) as error:
        raise InputError(f"the program {path} cannot be read: {error}") from error
    if len(text) > MAX_PROGRAM_CHARACTERS:
        raise InputError(f"the program {path} is longer than {MAX_PROGRAM_CHARACTERS} characters: make it shorter")
    return text

"""What `llm-planner plan` and `llm-planner run` have in common: their options, their world and their plan."""

from __future__ import annotations

import argparse
import functools
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from llm_planner.language.model import LanguageModel
    from llm_planner.plan.planning import Planned
    from llm_planner.simulation.rooms.world import RoomsWorld
    from llm_planner.simulation.world import World
    from llm_planner.skills.library import SkillLibrary
    from llm_planner.world.places import Viewpoint
    from llm_planner.world.scene import Scene


def add_planning_arguments(parser: argparse.ArgumentParser) -> None:
    """The options that say what is asked, of which model, in which world."""
    parser.add_argument("text", nargs="*", help='the command, e.g. "stack the red block on the blue one"')
    add_world_arguments(parser)
    add_model_arguments(parser)
    parser.add_argument("--program", type=Path, metavar="FILE", help="run this program instead of asking a model")
    parser.add_argument(
        "--viewpoint", default="behind", help="where you stand: behind the robot (default), facing, left or right"
    )
    add_safety_arguments(parser)
    parser.add_argument("--json", action="store_true", help="print one JSON object (see docs/json_format.md)")


def add_safety_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--rehearsal", default="symbolic",
        help="symbolic (default): refuse what breaks a constraint, ask about what may; full: also run it in a copy of "
        "the simulation first; off: do not ask",
    )  # fmt: skip
    parser.add_argument("--privileges", type=Path, metavar="FILE", help="policy file: who may have what done (YAML)")
    parser.add_argument("--source", default="cli", help="whose command this is, for the policy file (default: cli)")


def add_world_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--world", default="tabletop", help="simulated world: tabletop (default) or rooms")
    parser.add_argument("--seed", type=int, default=0, help="seed of the layout (default: 0)")
    parser.add_argument("--objects", metavar="LIST", help='what is in it, e.g. "red block, mug" or "parcel, Anna"')


def add_model_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--model", default="compact", help="language model: compact (default), openai or scripted")
    parser.add_argument("--model-script", type=Path, metavar="FILE", help="replies of the scripted model (YAML)")


def command_text(args: argparse.Namespace) -> str:
    """The words typed, or what stands in for them when a program is given."""
    words = " ".join(args.text)
    return words if words or args.program is None else f"run the program {args.program.name}"


def open_requested_world(args: argparse.Namespace) -> World | RoomsWorld:
    """The world that the options ask for; raises InputError naming the wrong one, or SimulationError."""
    from llm_planner.errors import InputError
    from llm_planner.simulation.gl import check_gl_setting
    from llm_planner.simulation.world import open_world, read_objects

    if args.seed < 0:
        raise InputError(f"--seed must be 0 or more, not {args.seed}")
    check_gl_setting()
    name = str(args.world)
    return open_world(name, args.seed, None if args.objects is None else read_objects(name, args.objects))


def requested_viewpoint(args: argparse.Namespace) -> Viewpoint:
    """Raises InputError that lists the viewpoints."""
    from llm_planner.world.places import viewpoint

    return viewpoint(args.viewpoint)


def requested_model(args: argparse.Namespace) -> Callable[[], LanguageModel]:
    """What gives the model, opened when it is first needed; raises InputError now for one that cannot be."""
    from llm_planner.language.factory import check_model, open_model

    check_model(args.model, args.model_script)
    return functools.cache(lambda: open_model(args.model, args.model_script))


def planner(args: argparse.Namespace, library: SkillLibrary, viewpoint: Viewpoint) -> Callable[[str, Scene], Planned]:
    """What makes the plan for a command in a scene: the program given, or the model, opened once, when needed."""
    from llm_planner.cli.files import read_program
    from llm_planner.plan.planning import plan_command, plan_program
    from llm_planner.plan.planning_settings import planning_settings
    from llm_planner.program.synthesis import clean_command

    settings = planning_settings(args.rehearsal, args.privileges, args.source, library, viewpoint)
    if args.program is not None:
        text = read_program(args.program)
        return lambda command, scene: plan_program(
            command, text, scene, library.for_scene(scene).signatures, viewpoint, settings
        )
    opened = requested_model(args)

    def ask(command: str, scene: Scene) -> Planned:
        words = clean_command(command)  # before a model is opened
        return plan_command(words, scene, library.for_scene(scene).signatures, opened(), viewpoint, settings)

    return ask

"""Node options that `up` and `demo` share; their names are those of the launch file's arguments."""

from __future__ import annotations

import argparse
from pathlib import Path

from llm_planner.cli.planning_options import add_skill_options, requested_library
from llm_planner.cli.processes import NodeOptions
from llm_planner.errors import InputError
from llm_planner.robots.robot_folders import listed
from llm_planner.ros.node_table import NODES, nodes_of
from llm_planner.scene.shared_table import SharedTable
from llm_planner.share import share_folder


def add_system_options(parser: argparse.ArgumentParser, real_robots: bool = False) -> None:
    """Add the options; `real_robots` adds the one that leaves the simulator out."""
    if real_robots:
        parser.add_argument(
            "--no-simulator", action="store_true", help="there is a real robot, with the controllers of its robot.yaml"
        )
    else:
        parser.set_defaults(no_simulator=False)
    parser.add_argument(
        "--world",
        default="tabletop",
        help="tabletop (default), rooms, two_tables, two_arms, or the file of a world of your own",
    )
    parser.add_argument(
        "--robot",
        metavar="NAME",
        help=f"what is moved: {listed()}, the folder of an arm of your own, or mobile, the default in a building",
    )
    parser.add_argument("--seed", type=int, default=0, help="lays the objects out (default 0)")
    parser.add_argument("--objects", help='what is in the scene, e.g. "red block, green bowl, mug"')
    parser.add_argument("--model", default="embedded", help="language model: embedded (default), openai or scripted")
    parser.add_argument("--model-script", type=Path, help="YAML file of the scripted model: command to program")
    parser.add_argument("--viewpoint", default="behind", help="where you stand: behind (default), facing, left, right")
    parser.add_argument("--rehearsal", help="off, symbolic or full: also run plans in a copy of the simulation first")
    parser.add_argument("--privileges", type=Path, metavar="FILE", help="policy file: who may have what done (YAML)")
    add_skill_options(parser)
    parser.add_argument("--params-file", type=Path, help="parameters of the nodes (default: config/bringup.yaml)")
    parser.add_argument("--log-level", default="info", choices=("debug", "info", "warn", "error", "fatal"))


def node_options(args: argparse.Namespace, journal: Path | None = None, namespace: str = "") -> NodeOptions:
    """Build the nodes' start options; raise InputError for wrong options before anything starts.

    Args:
        args: Parsed command line.
        journal: Journal file of the nodes; None for the default.
        namespace: Namespace of the nodes.
    """
    _check_model(args)
    robot = _robot(args)
    _check_world(args)
    _check_safety(args)
    from llm_planner.simulation.worlds import read_shared_table

    table = read_shared_table(args.world)
    return NodeOptions(
        parameters=_parameters(args, robot, journal) | (_at_table(args.world, table) if table else {}),
        params_file=args.params_file or share_folder("config") / "bringup.yaml",
        namespace=namespace,
        log_level=args.log_level,
    )


def _check_model(args: argparse.Namespace) -> None:
    from llm_planner.language.factory import MODEL_NAMES, check_script

    if args.model not in MODEL_NAMES:
        raise InputError(f"--model: there is no model {args.model!r}; choose one of: {', '.join(MODEL_NAMES)}")
    check_script(args.model, args.model_script)


def _robot(args: argparse.Namespace) -> str | None:
    """Return the requested robot, else that of the world; raise InputError if it does not fit the world."""
    from llm_planner.robots.arm_model import arm_model, fixed_arm
    from llm_planner.robots.robot_folders import mobile_names
    from llm_planner.simulation.two_tables import TwoTables
    from llm_planner.simulation.worlds import arm_of_file, check_world, read_shared_table

    try:
        kind, table = check_world(args.world), read_shared_table(args.world)
    except InputError as error:
        raise InputError(f"--world: {error}") from error
    if table is not None and args.robot is not None:
        raise InputError(f"--robot: the world {args.world} says which robots it has: {', '.join(table.names)}")
    if args.no_simulator:
        kind = "mobile" if args.robot == "mobile" else "arm"
    if args.robot is not None and (args.robot == "mobile") != (kind == "mobile"):
        raise InputError(f"--robot: there is no robot {args.robot!r} in the world {args.world}; its robot is: {kind}")
    drives = args.world == TwoTables.name
    robot = args.robot or (mobile_names()[0] if drives else arm_of_file(args.world))
    if kind == "arm" and robot is not None:
        try:
            arm = arm_model(robot) if drives or args.no_simulator else fixed_arm(robot)
        except InputError as error:
            raise InputError(f"--robot: {error}") from error
        if drives and arm.mount is None:
            raise InputError(f"--robot: {robot!r} stands fixed; in {args.world} choose {' or '.join(mobile_names())}")
    return robot if kind == "arm" else kind


def _check_world(args: argparse.Namespace) -> None:
    from llm_planner.scene.places import viewpoint
    from llm_planner.simulation.offscreen import check_gl_setting
    from llm_planner.simulation.worlds import read_objects

    if args.seed < 0:
        raise InputError(f"--seed must be 0 or more, not {args.seed}")
    if args.objects is not None:
        read_objects(args.world, args.objects)
    viewpoint(args.viewpoint)
    check_gl_setting()


def _check_safety(args: argparse.Namespace) -> None:
    """Check files, rehearsal and policy; raise InputError."""
    from llm_planner.planning.planned import planning_settings
    from llm_planner.scene.places import BEHIND

    for option, path in (("--params-file", args.params_file), ("--model-script", args.model_script)):
        if path is not None and not path.is_file():
            raise InputError(f"{option}: there is no file {path}")
    if args.params_file is not None:
        from llm_planner.ros.parameters import check_parameters_file

        check_parameters_file(args.params_file)
    planning_settings(args.rehearsal or "off", args.privileges, "", requested_library(args, moves=False), BEHIND)


def _parameters(args: argparse.Namespace, robot: str | None, journal: Path | None) -> dict[str, dict[str, str]]:
    """Return parameters by node; options that are not given stay with the parameters file."""
    moved = _given(robot=robot)
    skills = _given(skills=args.skills) | ({"camera": "true"} if args.camera else {})
    policy = _given(privileges=args.privileges, journal=journal) | skills
    model = _given(model=args.model, model_script=args.model_script, rehearsal=args.rehearsal)
    mover = moved | ({"simulator": "false"} if args.no_simulator else {})
    return {
        "simulator": {**_given(world=args.world, seed=args.seed, objects=args.objects), **moved},
        "mpc_controller": mover,
        "safety_filter": mover,
        "gripper": moved,
        "skill_server": {**mover, **skills, **({"scripted": "true"} if args.scripted else {})},
        "plan_executor": {"viewpoint": args.viewpoint, **moved, **policy},
        "language_planner": {"viewpoint": args.viewpoint, **moved, **model, **policy},
        "correction_listener": {"viewpoint": args.viewpoint, **moved, **_reads_corrections(args), **skills},
        "camera": moved,
    }


def _at_table(world: str, table: SharedTable) -> dict[str, dict[str, str]]:
    """Return the parameters of the nodes of each arm of a shared table, by label."""
    return {
        entry.label: {"robot": station.robot, "table": world}
        for station in table.stations
        for entry in nodes_of([station.name], NODES)
        if entry.of_robot
    }


def _reads_corrections(args: argparse.Namespace) -> dict[str, str]:
    """Return the correction listener's model: that of the commands, unless it is scripted."""
    return {} if args.model == "scripted" else {"model": args.model}


def _given(**values: object) -> dict[str, str]:
    return {name: str(value) for name, value in values.items() if value is not None}

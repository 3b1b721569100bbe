"""Options of a running system, for `up`, `demo` and the launch file alike, and the nodes that they start.

`OPTIONS` has each option once: its name is the launch argument (`world:=rooms`), and with dashes that of the command
line (`--world rooms`). `requested_system` checks all of them before anything starts.
"""

from __future__ import annotations

import argparse
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from llm_planner.cli.processes import NodeOptions
from llm_planner.control.envelope import read_envelope
from llm_planner.errors import InputError
from llm_planner.language.factory import MODEL_NAMES, check_script
from llm_planner.robots.arm_model import arm_model, fixed_arm
from llm_planner.robots.robot_folders import listed, mobile_names
from llm_planner.ros.node_table import NODES, ON_REQUEST, NodeEntry, nodes_beside, nodes_of
from llm_planner.scene.places import BEHIND, VIEWPOINTS
from llm_planner.scene.shared_building import SharedBuilding
from llm_planner.scene.shared_table import SharedTable
from llm_planner.share import share_folder
from llm_planner.simulation.offscreen import check_gl_setting
from llm_planner.simulation.two_tables import TwoTables
from llm_planner.simulation.worlds import WORLDS, arm_of_file, check_world, read_objects, read_shared_world

PATH = re.compile(r"(/?[A-Za-z_][A-Za-z0-9_]*)*/?")
SWITCH = ("true", "false")
MOBILE = "mobile"
REQUESTED_BY = {"recorder": "record", "console": "console"}  # node to the option that asks for it


USUAL_OBJECTS = {
    "tabletop": "red block, blue block, yellow block, green bowl, blue bowl, mug",
    "rooms": "red parcel, blue parcel, mug, toolbox, first aid kit, plant, Anna, Ben, Clara",
    "two_bases": "red parcel, blue parcel, mug, toolbox, first aid kit, plant, Anna, Ben",
    "two_tables": "red block, blue block, green bowl, blue bowl, mug",
}


@dataclass(frozen=True)
class SystemOption:
    """Option with its default as text; "" means not given. With two `SWITCH` choices it is a flag of the command line.

    `of_launch` options belong to running systems, not to a demo.
    """

    name: str
    description: str
    default: str = ""
    choices: tuple[str, ...] = ()
    of_launch: bool = False

    @property
    def told(self) -> str:
        """Description with choices and default."""
        choices = f"; one of: {', '.join(self.choices)}" if self.choices else ""
        return self.description + choices

    def read(self, text: str) -> str | None:
        """Return the text, None if it is not given; raise InputError if it is not one of the choices."""
        if self.choices and text.lower() not in (*self.choices, self.default):
            raise InputError(f"{self.name} is {text!r}; choose one of: {', '.join(self.choices)}")
        return text or None


OPTIONS = (
    SystemOption(
        "world", f"simulated world: {', '.join(WORLDS)}, or the file of a world of your own (table.yaml)", "tabletop"
    ),
    SystemOption(
        "robot",
        f"what is moved: {listed()}, the folder of an arm of your own or its robot.yaml (./my_robots/mine), or mobile, "
        "a base in a building; not given: that of the world",
    ),
    SystemOption(
        "simulator",
        "true: in simulation; false: there is a real robot, with the controllers of its robot.yaml",
        "true",
        SWITCH,
        of_launch=True,
    ),
    SystemOption("seed", "lays the objects out: a number from 0; not given: 0"),
    SystemOption(
        "objects",
        "what is in the scene, e.g. 'red block, green bowl, mug'; not given: drawn from the seed, or, without a seed, "
        f"in tabletop {USUAL_OBJECTS['tabletop']}",
    ),
    SystemOption("model", "language model", "embedded", MODEL_NAMES),
    SystemOption("model_script", "YAML file of the scripted model: command to program"),
    SystemOption("viewpoint", "where you stand, as seen from the robot", "behind", tuple(VIEWPOINTS)),
    SystemOption(
        "rehearsal",
        "how plans are rehearsed before they run; full: also in a copy of the simulation; not given: as the parameters "
        "file says, else symbolic",
        "",
        ("off", "symbolic", "full"),
    ),
    SystemOption("privileges", "policy file: who may have what done (YAML); not given: everyone everything"),
    SystemOption("envelope", "file with the operator's envelope (YAML); not given: the robot's own limits"),
    SystemOption("skills", "folder of your own skills, besides those that ship"),
    SystemOption("scripted", "let scripts move the robot, also where a policy was learned", "false", SWITCH),
    SystemOption("camera", "let skills see pictures: offers pick_by_sight", "false", SWITCH),
    SystemOption(
        "record",
        "record each run for llm-planner replay, why and convert, up to a size that is bounded",
        "true",
        SWITCH,
    ),
    SystemOption("console", "serve a page for the browser, to watch, command and stop", "false", SWITCH),
    SystemOption("speak", "say questions, results and refusals aloud, by a voice of this machine", "false", SWITCH),
    SystemOption("namespace", "namespace of all nodes, for a second robot", of_launch=True),
    SystemOption(
        "use_sim_time",
        "whether nodes take the time from /clock; not given: in simulation only",
        "",
        SWITCH,
        of_launch=True,
    ),
    SystemOption("params_file", "parameters of the nodes (YAML); not given: config/bringup.yaml"),
    SystemOption("log_level", "severity from which nodes log", "info", ("debug", "info", "warn", "error", "fatal")),
)


def add_system_options(parser: argparse.ArgumentParser, of_launch: bool = False) -> None:
    """Add the options to a command; `of_launch` adds those that a demo lacks."""
    for option in OPTIONS:
        words = f"--{option.name.replace('_', '-')}"
        if option.of_launch and not of_launch:
            parser.set_defaults(**{option.name: option.default})
        elif option.choices == SWITCH:
            parser.add_argument(words, action=_Switch, default=option.default, help=option.description)
        else:
            default = f" (default {option.default})" if option.default else ""
            parser.add_argument(words, default=option.default, metavar="VALUE", help=option.told + default)


class _Switch(argparse.BooleanOptionalAction):
    """`--name` and `--no-name` as the texts true and false."""

    def __call__(self, parser, namespace, values, option_string=None) -> None:  # type: ignore[no-untyped-def]
        setattr(namespace, self.dest, "false" if (option_string or "").startswith("--no-") else "true")


@dataclass(frozen=True)
class System:
    """Nodes of a system and their start options."""

    entries: tuple[NodeEntry, ...]
    options: NodeOptions

    @property
    def names(self) -> dict[str, list[str]]:
        """Names of the nodes by namespace."""
        found: dict[str, list[str]] = {}
        for entry in self.entries:
            found.setdefault(self.options.namespace_of(entry), []).append(entry.name)
        return found


def requested_system(given: Mapping[str, str], journal: Path | None = None) -> System:
    """Check all options, and return the nodes that they start.

    Args:
        given: Option to its text; those that are missing have their defaults.
        journal: Journal file of the nodes, beside which the recording lies; None for the default.

    Raises:
        InputError: An option or a file that it names is wrong.
    """
    values = {option.name: option.read(str(given.get(option.name, option.default))) for option in OPTIONS}
    if values["objects"] is None and values["seed"] is None:
        values["objects"] = USUAL_OBJECTS.get(str(values["world"]))
    values["seed"] = values["seed"] or "0"
    simulated = _is_on(values["simulator"])
    table, robot = _robot(values, simulated)
    _check(values, table)
    parameters = _parameters(values, robot, simulated, journal)
    if table is not None:
        parameters |= _at_table(str(values["world"]), table)
    clock = values["use_sim_time"]
    options = NodeOptions(
        parameters=parameters,
        params_file=_path(values, "params_file") or share_folder("config") / "bringup.yaml",
        namespace=values["namespace"] or "",
        use_sim_time=simulated if clock is None else _is_on(clock),
        log_level=str(values["log_level"]).lower(),
    )
    requested = [name for name in ON_REQUEST if _is_on(values[REQUESTED_BY[name]])]
    return System(nodes_of(table.names if table else (), nodes_beside(simulated, requested)), options)


Values = Mapping[str, str | None]
Shared = SharedTable | SharedBuilding


def _is_on(text: str | None) -> bool:
    return (text or "").lower() == "true"


def _path(values: Values, name: str) -> Path | None:
    """Return the file or folder that an option names; raise InputError if it does not exist."""
    text = values[name]
    if text is None:
        return None
    path = Path(text).expanduser()
    if not path.exists():
        raise InputError(f"{name}: there is no file {path}")
    return path


def _robot(values: Values, simulated: bool) -> tuple[Shared | None, str | None]:
    """Return what several robots share, if there are several, and the robot, None if the parameters file may name it.

    Raises:
        InputError: There is no such world or robot, or they do not go together.
    """
    world, robot = str(values["world"]), values["robot"]
    try:
        kind, table = check_world(world), read_shared_world(world)
    except InputError as error:
        raise InputError(f"world: {error}") from error
    if table is not None:
        for option, told in (("robot", "says which robots it has"), ("namespace", "gives the namespaces")):
            if values[option]:
                raise InputError(f"leave the {option} {values[option]!r} out: {world} {told}: {', '.join(table.names)}")
    if not simulated:
        kind = MOBILE if robot == MOBILE else "arm"
    if robot is not None and (robot == MOBILE) != (kind == MOBILE):
        raise InputError(
            f"robot: there is no robot {robot!r} in the world {world}; its robot is: {kind}. Leave robot out, or "
            f"choose another world: {', '.join(WORLDS)}, or a file"
        )
    drives = world == TwoTables.name
    robot = robot or (mobile_names()[0] if drives else arm_of_file(world))
    if kind == MOBILE:
        return table, MOBILE
    if robot is not None:
        try:
            arm = arm_model(robot) if drives or not simulated else fixed_arm(robot)
        except InputError as error:
            raise InputError(f"robot: {error}") from error
        if drives and arm.mount is None:
            raise InputError(f"robot: {robot!r} stands fixed; in {world} choose {' or '.join(mobile_names())}")
    return table, robot


def _check(values: Values, table: Shared | None) -> None:
    """Check files, scene, policy and names; raise InputError."""
    from llm_planner.planning.planned import planning_settings
    from llm_planner.skills.library import load_skills

    seed, namespace = str(values["seed"]), values["namespace"] or ""
    if not seed.isdecimal() or int(seed) >= 2**31:
        raise InputError(f"seed must be a number from 0 to {2**31 - 1}, not {seed!r}")
    if not PATH.fullmatch(namespace):
        raise InputError(f"namespace is {namespace!r}; use letters, digits and _, with / between names: left, lab/left")
    check_script(str(values["model"]), _path(values, "model_script"))
    if values["objects"] is not None:
        read_objects(str(values["world"]), str(values["objects"]))
    check_gl_setting()
    if (envelope := _path(values, "envelope")) is not None:
        read_envelope(envelope)
    library = load_skills(_path(values, "skills"), learned=False)
    planning_settings(values["rehearsal"] or "off", _path(values, "privileges"), "", library, BEHIND)
    if (file := _path(values, "params_file")) is not None:
        from llm_planner.ros.parameters import check_parameters_file

        check_parameters_file(file)


def _parameters(values: Values, robot: str | None, simulated: bool, journal: Path | None) -> dict[str, dict[str, str]]:
    """Return parameters by node; options that are not given stay with the parameters file."""

    def given(*names: str) -> dict[str, str]:
        flags = ("scripted", "camera", "speak")
        found = ((name, values[name]) for name in names if name not in flags or _is_on(values[name]))
        return {name: value for name, value in found if value is not None}

    moved = {"robot": robot} if robot else {}
    mover = moved | ({} if simulated else {"simulator": "false"})
    skills, policy = given("skills", "camera"), given("privileges") | ({"journal": str(journal)} if journal else {})
    corrections = {} if values["model"] == "scripted" else given("model")
    return {
        "simulator": given("world", "seed", "objects") | moved,
        "mpc_controller": mover | given("envelope"),
        "safety_filter": mover | given("envelope"),
        "gripper": moved,
        "skill_server": mover | given("skills", "camera", "scripted"),
        "plan_executor": given("viewpoint") | moved | policy | skills,
        "language_planner": given("viewpoint", "model", "model_script", "rehearsal") | moved | policy | skills,
        "correction_listener": given("viewpoint", "speak") | moved | corrections | skills,
        "camera": moved,
        "recorder": moved | _recorded(values, simulated, journal),
        "console": given("rehearsal") | moved,
    }


def _recorded(values: Values, simulated: bool, journal: Path | None) -> dict[str, str]:
    """Return the parameters of the recorder; pictures of a simulation can be drawn later from what is recorded."""
    files = {"journal": str(journal), "file": str(journal.with_name("recording.mcap"))} if journal else {}
    return files | ({} if simulated and not _is_on(values["camera"]) else {"picture_rate": "1.0"})


def _at_table(world: str, table: Shared) -> dict[str, dict[str, str]]:
    """Return the parameters of the nodes of each of several robots, by label."""
    return {
        entry.label: {"robot": station.robot} | ({} if entry.simulated or entry.real else {"table": world})
        for station in table.stations
        for entry in nodes_of([station.name], NODES)
        if entry.of_robot
    }

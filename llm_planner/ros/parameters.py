"""Parameters of nodes: type, range, choices and description; those that nodes share; checks of parameters files."""

from __future__ import annotations

import difflib
import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from pathlib import Path

import rclpy
import yaml
from rcl_interfaces.msg import FloatingPointRange, IntegerRange, ParameterDescriptor
from rclpy.context import Context
from rclpy.logging import LoggingSeverity, set_logger_level
from rclpy.node import Node
from rclpy.parameter import Parameter

from llm_planner.errors import InputError
from llm_planner.robots.arm_model import ArmModel, arm_model
from llm_planner.ros.node_table import NODES
from llm_planner.ros.other_systems import plain

Value = bool | int | float | str | list[str]


@dataclass(frozen=True)
class Setting:
    """Node parameter; its default sets its type, `minimum` and `maximum` bound a number, `choices` list the texts.

    `may_be_off` marks a text that may be "on" or "off", which ROS reads as True and False unless quoted. `may_change`
    allows changes while the node runs; other parameters are read once.
    """

    name: str
    default: Value
    description: str
    minimum: float | None = None
    maximum: float | None = None
    may_be_off: bool = False
    may_change: bool = False
    choices: tuple[str, ...] = ()

    def descriptor(self) -> ParameterDescriptor:
        described = ParameterDescriptor(
            name=self.name,
            description=self.description,
            read_only=not self.may_change,
            dynamic_typing=self.may_be_off,
            additional_constraints=f"one of: {', '.join(self.choices)}" if self.choices else "",
        )
        if self.minimum is None or self.maximum is None:
            return described
        if isinstance(self.default, float):
            limits = FloatingPointRange(from_value=float(self.minimum), to_value=float(self.maximum))
            described.floating_point_range = [limits]
        else:
            limits = IntegerRange(from_value=int(self.minimum), to_value=int(self.maximum), step=1)
            described.integer_range = [limits]
        return described

    def problem(self, value: object) -> str:
        """Describe what is wrong with a value; "" if it is valid. An integer is a valid double."""
        is_number = isinstance(value, int | float) and not isinstance(value, bool)
        if isinstance(self.default, bool):
            valid, kind = isinstance(value, bool), "true or false"
        elif isinstance(self.default, int):
            valid, kind = is_number and isinstance(value, int), "a whole number"
        elif isinstance(self.default, float):
            valid, kind = is_number and math.isfinite(float(str(value))), "a finite number"
        else:
            valid, kind = isinstance(value, str) or (self.may_be_off and isinstance(value, bool)), "a text"
        if not valid:
            return f"{self.name} takes {kind}, not {value!r}"
        if self.minimum is not None and self.maximum is not None and not self.minimum <= value <= self.maximum:
            return f"{self.name} must be from {self.minimum:g} to {self.maximum:g}, not {value!r}"
        if self.choices and value not in ("", self.default, *self.choices) and not isinstance(value, bool):
            return f"{self.name} is {value!r}; choose one of: {', '.join(self.choices)}"
        if isinstance(value, str) and (len(value) > MOST_LETTERS or not value.isprintable()):
            return f"{self.name} must be one line of at most {MOST_LETTERS} characters, not {value[:40]!r}"
        return ""


MOST_LETTERS = 4000
PRIVILEGES = Setting("privileges", "", "policy file: what each source of commands may have done; empty: everything")
ENVELOPE = Setting("envelope", "", "file with the operator's envelope (YAML); empty: the robot's own limits")
ADAPTATION = Setting(
    "adaptation",
    "on",
    "payload, friction and weak drives are estimated from the effort in joint_states, said and made up for; "
    "for simulated arms whose robot.yaml has adaptation (turn it off for a real one; with other arms it stays off)",
    may_be_off=True,
    choices=("on", "off"),
)
JOURNAL = Setting(
    "journal", "", "file that records commands and what is done; empty: one of this system in ROS's folder"
)
REHEARSAL = Setting(
    "rehearsal",
    "symbolic",
    "how plans are rehearsed before they run; full: also in a copy of the simulation",
    may_be_off=True,
    choices=("off", "symbolic", "full"),
)
VIEWPOINT = Setting(
    "viewpoint",
    "behind",
    "where the speaker stands, as seen from the robot",
    choices=("behind", "facing", "left", "right"),
)
STAMPED_CMD_VEL = Setting(
    "enable_stamped_cmd_vel", True, "cmd_vel is a TwistStamped, which a base can refuse when it is old; else a Twist"
)
CMD_VEL_TIMEOUT = Setting(
    "cmd_vel_timeout", 0.2, "a base goes on with the last cmd_vel for this long, then it brakes [s]", 0.02, 1.0
)
SKILLS = Setting("skills", "", "folder of your own skills, besides those that ship; empty for none")
SCRIPTED = Setting("scripted", False, "let scripts move the robot, also where a policy was learned")
CAMERA = Setting("camera", False, "let skills look at camera/image_raw, and offer those that act by sight")
ROBOT = Setting(
    "robot", "arm", "what is moved: arm (the default one), an arm that llm-planner robot lists, its folder, or mobile"
)
TABLE = Setting(
    "table", "", "world whose robots share a table or a building, each with its own nodes; empty: the robot is alone"
)
PLAN_SETTINGS = (VIEWPOINT, ROBOT, TABLE, SKILLS, CAMERA)  # of nodes that read, plan and change commands
MOBILE = "mobile"


def arm_of(node: Node) -> ArmModel | None:
    """Return the arm that the parameter `robot` names, None for a mobile robot; raise InputError that lists them."""
    name = node.get_parameter(ROBOT.name).value
    try:
        return None if name == MOBILE else arm_model(name)
    except InputError as error:
        raise InputError(f"the parameter robot is {name!r}: {error}, or {MOBILE}") from error


def declare(node: Node, settings: Iterable[Setting], given: Mapping[str, Parameter]) -> None:
    """Declare all settings with the values that are `given` at the start, the defaults otherwise.

    Raises:
        InputError: A value is invalid.
    """
    for setting in settings:
        value = given[setting.name].value if setting.name in given else setting.default
        if problem := setting.problem(value):
            raise InputError(f"a parameter is wrong: {problem}")
        if isinstance(setting.default, float):
            value = float(value)  # 20 in a file is an integer
        node.declare_parameter(setting.name, value, setting.descriptor(), ignore_override=True)


USE_SIM_TIME = Setting("use_sim_time", False, "take the time from /clock")  # rclpy declares it
OF_RCLPY = ("start_type_description_service", "qos_overrides.")  # names, or what they begin with


@cache
def settings_of(node: str) -> Mapping[str, Setting]:
    """Return the parameters of a node of the table, by name; imports the node's module."""
    from llm_planner.ros.base_node import BaseNode

    (entry,) = (entry for entry in NODES if entry.name == node)
    module = import_module(entry.module)
    (found,) = (
        one
        for one in vars(module).values()
        if isinstance(one, type) and issubclass(one, BaseNode) and one.__module__ == module.__name__
    )
    return {setting.name: setting for setting in (*found.SETTINGS, BaseNode.AUTOSTART, USE_SIM_TIME)}


def unknown_parameter(node: str, name: str, known: Iterable[str]) -> str:
    """Return the error for a parameter that a node does not have, with the nearest of those that are `known`."""
    names = sorted(known)
    close = difflib.get_close_matches(name, names, n=1)
    meant = f"did you mean {close[0]!r}? " if close else ""
    return f"{node} has no parameter {name!r}; {meant}Its parameters: {', '.join(names)}"


def is_of_another_node(name: str) -> bool:
    """Return whether a node of the table has a parameter of this name, as one under `/**` in a file; imports them."""
    return any(name in settings_of(entry.name) for entry in NODES)


def check_parameters_file(path: Path) -> None:
    """Let rcl parse a parameters file, as the nodes will, and check the names and values of our nodes' parameters.

    Raises:
        InputError: The file cannot be parsed, or a node has no such parameter, or not with this value.
    """
    set_logger_level("rcl", LoggingSeverity.FATAL)  # the InputError reports it already
    context = Context()
    try:
        rclpy.init(args=["--ros-args", "--params-file", str(path)], context=context)
    except RuntimeError as error:
        raise InputError(
            f"the parameters file {path} cannot be used: {plain(error).rpartition('Error: ')[2]}"
        ) from None
    finally:
        set_logger_level("rcl", LoggingSeverity.UNSET)
    context.try_shutdown()
    for node, name, value in _entries(yaml.safe_load(path.read_text(encoding="utf-8"))):
        if problem := _problem(node, name, value):
            raise InputError(f"the parameters file {path} is wrong: {problem}")


def _entries(content: object, above: str = "") -> Iterator[tuple[str, str, object]]:
    """Yield node, parameter and value; the node is "*" for several."""
    for key, below in content.items() if isinstance(content, dict) else ():
        if key == "ros__parameters":
            node = above.rpartition("/")[2]
            yield from ((node.replace("**", "*"), name, value) for name, value in _flat(below))
        else:
            yield from _entries(below, f"{above}/{key}")


def _flat(values: object, prefix: str = "") -> Iterator[tuple[str, object]]:
    for name, value in values.items() if isinstance(values, dict) else ():
        if isinstance(value, dict):
            yield from _flat(value, f"{prefix}{name}.")
        else:
            yield f"{prefix}{name}", value


def _problem(node: str, name: str, value: object) -> str:
    """Return what is wrong with a parameter of our nodes; "" if nothing is, or for nodes of others."""
    names = [entry.name for entry in NODES]
    if name.startswith(OF_RCLPY):
        return ""
    if node not in (*names, "*"):
        close = difflib.get_close_matches(node, names, n=1, cutoff=0.8)
        return f"there is no node {node!r}; did you mean {close[0]!r}?" if close else ""
    found = [own[name] for own in map(settings_of, names if node == "*" else [node]) if name in own]
    if not found:
        known = {one for own in map(settings_of, names if node == "*" else [node]) for one in own}
        return unknown_parameter("this system" if node == "*" else node, name, known)
    problems = (setting.problem(_as_rcl_reads(setting, value)) for setting in found)
    return next((f"{node}: {problem}" for problem in problems if problem), "")


def _as_rcl_reads(setting: Setting, value: object) -> object:
    """Return a number such as 1e-3, which YAML 1.1 takes for a text, as rcl reads it."""
    try:
        return float(value) if isinstance(setting.default, float) and isinstance(value, str) else value
    except ValueError:
        return value

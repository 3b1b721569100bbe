"""Declaration and validation of node parameters with type, range, choices and description; those that nodes share."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from rcl_interfaces.msg import FloatingPointRange, IntegerRange, ParameterDescriptor
from rclpy.node import Node
from rclpy.parameter import Parameter

from llm_planner.errors import InputError
from llm_planner.robots.arm_model import ArmModel, arm_model

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
    "table", "", "world whose arms share a table, each with the nodes of its namespace; empty: the arm has it to itself"
)
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


def plain(error: Exception) -> str:
    """Return the message of an rclpy error without the locations in rcl's source."""
    return " ".join(str(error).split(", at ")[0].removeprefix("failed to initialize rcl: ").split())

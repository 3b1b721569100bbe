"""Declaration of node parameters with type, range and description, and the parameters that nodes share."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import rclpy
from rcl_interfaces.msg import FloatingPointRange, IntegerRange, ParameterDescriptor
from rclpy.context import Context
from rclpy.logging import LoggingSeverity, set_logger_level
from rclpy.node import Node

from llm_planner.errors import InputError
from llm_planner.robots.arm_model import ArmModel, arm_model
from llm_planner.robots.robot_folders import listed

Value = bool | int | float | str | list[str]


@dataclass(frozen=True)
class Setting:
    """Node parameter; its default sets its type, `minimum` and `maximum` bound a number.

    `may_be_off` marks a text that may be "off", which ROS reads as False unless quoted. `may_change` allows changes
    while the node runs; other parameters are read once.
    """

    name: str
    default: Value
    description: str
    minimum: float | None = None
    maximum: float | None = None
    may_be_off: bool = False
    may_change: bool = False

    def descriptor(self) -> ParameterDescriptor:
        described = ParameterDescriptor(
            name=self.name,
            description=self.description,
            read_only=not self.may_change,
            dynamic_typing=self.may_be_off,
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


PRIVILEGES = Setting("privileges", "", "policy file: what each source of commands may have done; empty: everything")
ENVELOPE = Setting("envelope", "", "file with the operator's envelope (YAML); empty: the robot's own limits")
ADAPTATION = Setting(
    "adaptation",
    "on",
    "on or off: payload, friction and weak drives are estimated from the effort in joint_states, said and made up for; "
    "for simulated arms whose robot.yaml has adaptation (turn it off for a real one; with other arms it stays off)",
    may_be_off=True,
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
    "robot", "arm", f"what is moved: arm (the default one), {listed()}, the folder of an arm of your own, or mobile"
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


def declare(node: Node, settings: Iterable[Setting]) -> None:
    """Declare all settings; raise rclpy's parameter exceptions for values of the wrong type or out of range."""
    for setting in settings:
        node.declare_parameter(setting.name, setting.default, setting.descriptor())


def check_parameters_file(path: Path) -> None:
    """Let rcl parse a parameters file, as the nodes will; raise InputError with the problem it finds."""
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


def plain(error: Exception) -> str:
    """Return the message of an rclpy error without the locations in rcl's source."""
    return " ".join(str(error).split(", at ")[0].removeprefix("failed to initialize rcl: ").split())

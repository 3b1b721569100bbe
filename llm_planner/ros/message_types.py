"""Types of messages and actions by name, where their packages are installed, and their definitions for recordings."""

from __future__ import annotations

import os
import re
import sys
from importlib import import_module
from pathlib import Path
from typing import Any

from rclpy.node import Node
from rclpy.qos import QoSProfile

from llm_planner.errors import InputError

_FIELD = re.compile(r"\s*([a-zA-Z][\w/]*)(?:<=\d+)?(?:\[[^\]]*\])?\s+[a-zA-Z]\w*")
_BASIC = re.compile(r"bool|byte|char|float(32|64)|u?int(8|16|32|64)|w?string")
_SEPARATOR = "=" * 80
_FOREVER = "{sec: 9223372036, nsec: 854775807}"


def message_type(type_name: str) -> type:
    """Return the class of a type ("std_msgs/msg/String"); raise InputError where its package is not installed."""
    package, _, name = type_name.partition("/msg/")
    try:
        found: type = getattr(import_module(f"{package}.msg"), name)
    except (ImportError, AttributeError, ValueError) as error:
        raise InputError(f"the message type {type_name} is not installed ({error})") from error
    return found


def definition_of(type_name: str) -> str:
    """Return the definition of a type ("std_msgs/msg/String") followed by those of the types in it.

    Raises:
        InputError: The package of a type is not installed, or has no `.msg` file of it.
    """
    found: dict[str, str] = {}
    _collect(_short(type_name), found)
    (_, first), *others = found.items()
    return "\n".join([first, *(f"{_SEPARATOR}\nMSG: {name}\n{text}" for name, text in others)])


def _collect(name: str, found: dict[str, str]) -> None:
    """Add the definition of `name` ("std_msgs/String") and of the types in it, each once."""
    package, message = name.split("/")
    # Where ROS 2 is installed, the environment has its prefixes; wheels install into that of Python.
    prefixes = [*filter(None, os.environ.get("AMENT_PREFIX_PATH", "").split(os.pathsep)), sys.prefix]
    files = (Path(prefix) / "share" / package / "msg" / f"{message}.msg" for prefix in prefixes)
    file = next((file for file in files if file.is_file()), None)
    if file is None:
        raise InputError(f"no share/{package}/msg/{message}.msg is installed below {' or '.join(prefixes)}")
    found[name] = file.read_text(encoding="utf-8")
    for line in found[name].splitlines():
        field = _FIELD.match(line)
        if field is None or _BASIC.fullmatch(field[1]):
            continue
        inner = (
            "std_msgs/Header"
            if field[1] == "Header"
            else _short(field[1] if "/" in field[1] else f"{package}/{field[1]}")
        )
        if inner not in found:
            _collect(inner, found)


def _short(name: str) -> str:
    return name.replace("/msg/", "/")


def qos_in_yaml(offered: QoSProfile) -> str:
    """Return a quality of service as rosbag2 writes it (version 9), so that `ros2 bag play` offers it again."""
    return (
        f"- history: keep_last\n  depth: {max(offered.depth, 1)}\n  reliability: {offered.reliability.short_key}\n"
        f"  durability: {offered.durability.short_key}\n  deadline: {_FOREVER}\n  lifespan: {_FOREVER}\n"
        f"  liveliness: automatic\n  liveliness_lease_duration: {_FOREVER}\n"
        "  avoid_ros_namespace_conventions: false\n"
    )


def required_type(module: str, name: str, needed: str) -> Any:
    """Return a message or action type of a package that not every installation has.

    Args:
        module: Module of the type, e.g. "nav2_msgs.action".
        name: Name of the type.
        needed: Beginning of the error: what needs it, with the verb.

    Raises:
        InputError: The package is not installed, or too old to have the type.
    """
    package = module.partition(".")[0]
    try:
        return getattr(import_module(module), name)
    except ImportError as error:
        raise InputError(
            f"{needed} the ROS package {package}, which is not installed: "
            f"apt install ros-$ROS_DISTRO-{package.replace('_', '-')}, and source the ROS installation"
        ) from error
    except AttributeError as error:
        raise InputError(
            f"{needed} {name}, which the {package} that is installed lacks: install a newer one"
        ) from error


def optional_message(node: Node, package: str, name: str) -> type | None:
    """Return a message type; None, and say so, where its package is not installed."""
    try:
        return getattr(import_module(f"{package}.msg"), name)
    except ImportError:
        node.get_logger().info(f"{package} is not installed, so no {name} is published; all else works")
        return None

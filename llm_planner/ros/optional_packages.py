"""Imports of ROS packages that not every installation has."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from rclpy.node import Node

from llm_planner.errors import InputError


def required_module(name: str, needed: str, *types: str) -> Any:
    """Import a module of messages or actions.

    Args:
        name: Module, e.g. "nav2_msgs.action".
        needed: Beginning of the error: what needs the package, with the verb.
        types: Messages or actions that the module must have; an older package may lack them.

    Raises:
        InputError: Its package is not installed, or lacks one of the types.
    """
    try:
        module = import_module(name)
        for one in types:
            getattr(module, one)
        return module
    except (ImportError, AttributeError) as error:
        package = name.partition(".")[0]
        raise InputError(
            f"{needed} the ROS package {package}, which is not installed: "
            f"apt install ros-$ROS_DISTRO-{package.replace('_', '-')}, and source the ROS installation"
        ) from error


def optional_message(node: Node, package: str, name: str) -> type | None:
    """Return a message type; None, and say so, where its package is not installed."""
    try:
        return getattr(import_module(f"{package}.msg"), name)
    except ImportError:
        node.get_logger().info(f"{package} is not installed, so no {name} is published; all else works")
        return None

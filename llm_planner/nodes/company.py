"""Who else is on this network: two systems of the same name would both move the robot."""

from __future__ import annotations

import time
from collections.abc import Iterable

import rclpy
from rclpy.context import Context
from rclpy.node import Node

from llm_planner.errors import InputError

PATIENCE = 2.0  # [s] until nodes of this machine have been heard of


def check_nobody_else(names: Iterable[str], namespace: str, patience: float = PATIENCE) -> None:
    """Raises InputError where a node of one of these names runs in the namespace already."""
    context = Context()
    rclpy.init(context=context)
    node = Node("newcomer", context=context, start_parameter_services=False, enable_rosout=False)
    try:
        there = _there(node, {*names}, f"/{namespace.strip('/')}", patience)
    finally:
        node.destroy_node()
        context.try_shutdown()
    if there:
        raise InputError(
            f"a system runs here already ({', '.join(there)}), and two would both move the robot: end it first, or "
            "give this one a --namespace or a ROS_DOMAIN_ID of its own"
        )


def _there(node: Node, names: set[str], namespace: str, patience: float) -> list[str]:
    deadline = time.monotonic() + patience
    there: list[str] = []
    while not there and time.monotonic() < deadline:
        time.sleep(0.05)
        there = sorted(name for name, of in node.get_node_names_and_namespaces() if of == namespace and name in names)
    return there

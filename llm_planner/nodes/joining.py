"""How the command line joins the network: as one node, under the enclave of the command line where SROS 2 is on."""

from __future__ import annotations

import os

import rclpy
from rclpy._rclpy_pybind11 import RCLError
from rclpy.context import Context
from rclpy.node import Node
from rclpy.signals import SignalHandlerOptions

from llm_planner.errors import InputError
from llm_planner.nodes.node_table import CLIENT, enclave
from llm_planner.security.enclaves import check_enclaves, is_secured


def join_network(context: Context, namespace: str = "", domain_id: int | None = None, **options: object) -> Node:
    """The command line's node in `context`, which is initialised without signal handlers: an interrupt stays Python's.

    Raises InputError where SROS 2 is asked for and cannot be had. `options` are those of the node.
    """
    check_enclaves(namespace, [CLIENT], os.environ)
    words = ["--ros-args", "--enclave", enclave(namespace, CLIENT)]
    try:
        rclpy.init(args=words, context=context, domain_id=domain_id, signal_handler_options=SignalHandlerOptions.NO)
        return Node(CLIENT, context=context, namespace=namespace or None, **options)
    except RCLError as error:
        rclpy.try_shutdown(context=context)
        if not is_secured(os.environ):
            raise
        raise InputError(
            f"SROS 2 is asked for (ROS_SECURITY_ENABLE), and the network cannot be joined with it: {_first(error)}. "
            "The ROS 2 of the pip wheels has no security: use that of the distribution's packages "
            "(docs/reference/security.md)"
        ) from error


def _first(error: RCLError) -> str:
    """What it says, without the places in the source."""
    return " ".join(str(error).partition(", at ")[0].split())

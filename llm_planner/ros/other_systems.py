"""Who else runs under these names: two systems of the same name would both move the robot.

On this machine the kernel keeps the names: a process that claims one has it until it ends, however it ends. Other
machines are looked for on the network.

How the command line joins the network: as one node, under the enclave of the command line where SROS 2 is on.
"""

from __future__ import annotations

import errno
import hashlib
import os
import socket
import struct
import time
from collections.abc import Iterable, Mapping

import rclpy
from rclpy._rclpy_pybind11 import RCLError
from rclpy.context import Context
from rclpy.node import Node
from rclpy.signals import SignalHandlerOptions

from llm_planner.errors import InputError
from llm_planner.ros.node_table import CLIENT, enclave
from llm_planner.ros.security import check_enclaves, is_secured


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


PATIENCE = 2.0  # [s] until nodes of other machines have been heard of
SYSTEM = "system"  # what a supervisor of all nodes claims
_ADVICE = (
    "two would both move the robot: end it first, or give this one a namespace of its own (--namespace) or a "
    "ROS_DOMAIN_ID of its own"
)


def claim_name(name: str, namespace: str, domain: int) -> socket.socket:
    """Claim a name in a namespace and a ROS domain on this machine, for as long as the result is kept.

    The claim is an abstract Unix socket: no file, and no process that died holds one.

    Args:
        name: Of a node, or `SYSTEM`.
        namespace: With or without slashes around it.
        domain: Number of the ROS domain.

    Returns:
        What to keep; closing it, or the end of the process, gives the name back.

    Raises:
        InputError: Another process has claimed it.
    """
    place = f"{domain}/{namespace.strip('/')}/{name}"
    address = b"\0llm_planner/" + hashlib.sha256(place.encode()).hexdigest().encode()  # at most 107 bytes are allowed
    claim = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        claim.bind(address)
        claim.listen(16)
    except OSError as error:
        claim.close()
        if error.errno != errno.EADDRINUSE:
            raise
        what = "a system" if name == SYSTEM else f"a node {name}"
        where = f"{_holder(address)}in the ROS domain {domain}" + (namespace.strip("/") and f", namespace {namespace}")
        raise InputError(f"{what} runs here already ({where}), and {_ADVICE}") from None
    return claim


def _holder(address: bytes) -> str:
    """Which process has claimed it, "" where that cannot be told."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as asking:
        asking.setblocking(False)
        try:
            asking.connect(address)
            credentials = asking.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, struct.calcsize("3i"))
        except OSError:
            return ""
        return f"process {struct.unpack('3i', credentials)[0]}, "


def own_domain(environment: Mapping[str, str] = os.environ) -> int:
    """The ROS domain of this process; raises InputError where ROS_DOMAIN_ID is no number."""
    text = environment.get("ROS_DOMAIN_ID", "")
    if text and not text.isdecimal():
        raise InputError(f"ROS_DOMAIN_ID is {text!r}; set it to a number from 0 to 101, or unset it, which means 0")
    return int(text or 0)


def check_nobody_else(names: Iterable[str], namespace: str, domain: int, patience: float = PATIENCE) -> None:
    """Look for nodes of these names in a namespace of a ROS domain, here and on the network.

    Args:
        names: Of nodes.
        namespace: With or without slashes around it.
        domain: Number of the ROS domain.
        patience: How long the network is listened to [wall s].

    Raises:
        InputError: There is one.
    """
    names = {*names}
    for name in sorted(names):
        claim_name(name, namespace, domain).close()
    context = Context()
    node = join_network(context, namespace, domain, start_parameter_services=False, enable_rosout=False)
    try:
        there = _there(node, names, f"/{namespace.strip('/')}", patience)
    finally:
        node.destroy_node()
        context.try_shutdown()
    if there:
        raise InputError(f"a system is on this network already ({', '.join(there)}), and {_ADVICE}")


def _there(node: Node, names: set[str], namespace: str, patience: float) -> list[str]:
    deadline = time.monotonic() + patience
    there: list[str] = []
    while not there and time.monotonic() < deadline:
        time.sleep(0.05)
        there = sorted(name for name, of in node.get_node_names_and_namespaces() if of == namespace and name in names)
    return there

"""Detection of other systems with the same names, which would both move the robot.

On this machine, processes claim names from the kernel, which releases them when the process ends. Nodes on other
machines are searched on the network, which the command line joins as one node (with its own enclave under SROS 2).
"""

from __future__ import annotations

import errno
import hashlib
import os
import socket
import struct
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path

import rclpy
from rclpy._rclpy_pybind11 import RCLError
from rclpy.context import Context
from rclpy.node import Node
from rclpy.signals import SignalHandlerOptions

from llm_planner.errors import InputError
from llm_planner.ros.node_table import CLIENT, enclave
from llm_planner.ros.security import check_enclaves, is_secured
from llm_planner.ros.transport import stays_on_this_machine, use_sockets


def join_network(
    context: Context, namespace: str = "", domain_id: int | None = None, name: str = CLIENT, **options: object
) -> Node:
    """Create the command line's node in `context`, without rclpy's signal handlers, so that Python sees interrupts.

    Args:
        context: Uninitialised rclpy context.
        namespace: Namespace of the node.
        domain_id: ROS domain; None for the one in the environment.
        name: Name of the node; its enclave is that of the command line.
        options: Further options of the node.

    Raises:
        InputError: SROS 2 is requested, but the network cannot be joined with it.
    """
    check_enclaves(namespace, [CLIENT], os.environ)
    use_sockets()
    words = ["--ros-args", "--enclave", enclave(namespace, CLIENT)]
    try:
        rclpy.init(args=words, context=context, domain_id=domain_id, signal_handler_options=SignalHandlerOptions.NO)
        return Node(name, context=context, namespace=namespace or None, **options)
    except RCLError as error:
        rclpy.try_shutdown(context=context)
        if not is_secured(os.environ):
            raise
        raise InputError(
            f"SROS 2 is asked for (ROS_SECURITY_ENABLE), and the network cannot be joined with it: {plain(error)}. "
            "The ROS 2 of the pip wheels has no security: use that of the distribution's packages "
            "(docs/reference/security.md)"
        ) from error


def plain(error: Exception) -> str:
    """Return the message of an rclpy error without the locations in rcl's source."""
    return " ".join(str(error).split(", at ")[0].removeprefix("failed to initialize rcl: ").split())


@contextmanager
def _visitor(namespace: str = "", domain: int | None = None) -> Iterator[Node]:
    """Join the network for a look with a node that nobody has to notice."""
    context = Context()
    node = join_network(context, namespace, domain, start_parameter_services=False, enable_rosout=False)
    try:
        yield node
    finally:
        node.destroy_node()
        context.try_shutdown()


CLOCK = "clock"  # name that a simulator claims in a domain: it publishes /clock
PATIENCE = 2.0  # [s] for discovery of nodes on other machines
EXECUTOR = "plan_executor"  # the node that every system has
SIMULATOR = "simulator"
SYSTEM = "system"  # name that a supervisor of all nodes claims
_ADVICE = (
    "two would both move the robot: end it first, or give this one a namespace of its own (--namespace) or a "
    "ROS_DOMAIN_ID of its own"
)


def claim_name(name: str, namespace: str, domain: int) -> socket.socket:
    """Claim a name in a namespace and a ROS domain on this machine.

    The claim is an abstract Unix socket, so it leaves no file and ends with the process.

    Args:
        name: Name of a node, or `SYSTEM`.
        namespace: Namespace, with or without slashes around it.
        domain: Number of the ROS domain.

    Returns:
        Socket that holds the claim; closing it releases the name.

    Raises:
        InputError: Another process holds the name.
    """
    address = _address(name, namespace, domain)
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


def _address(name: str, namespace: str, domain: int) -> bytes:
    place = f"{domain}/{namespace.strip('/')}/{name}"
    return b"\0llm_planner/" + hashlib.sha256(place.encode()).hexdigest().encode()  # at most 107 bytes


@contextmanager
def claim_system(names: Mapping[str, Iterable[str]], on_network: bool) -> Iterator[None]:
    """Be the only system with these nodes, and with a simulator the only one of the domain, while the context lasts.

    Args:
        names: Names of the nodes by namespace.
        on_network: Whether to look for such nodes on the network too, which takes `PATIENCE` where it reaches further
            than this machine.

    Raises:
        InputError: Such a node or another simulator runs on this machine or on the network, or a node has no enclave.
    """
    domain = own_domain()
    with ExitStack() as claims:
        for namespace, nodes in names.items():
            check_enclaves(namespace, nodes, os.environ)
            claims.enter_context(claim_name(SYSTEM, namespace, domain))
        if on_network:
            check_nobody_else(names, domain, 0.0 if stays_on_this_machine(os.environ) else PATIENCE)
        if any(SIMULATOR in nodes for nodes in names.values()):
            claim_clock(domain).close()  # the simulator claims it
        yield


def claim_clock(domain: int) -> socket.socket:
    """Claim the topic /clock of a domain, as `claim_name` does."""
    try:
        return claim_name(CLOCK, "", domain)
    except InputError as error:
        raise InputError(
            f"another simulator publishes /clock {str(error).partition('already ')[2].partition(', and ')[0]}, and a "
            "domain has one clock. Put both robots into one world (two_arms, two_bases, or a world file with robots), "
            "start this one without a simulator (simulator:=false, --no-simulator), or give it a ROS_DOMAIN_ID of its "
            "own"
        ) from None


def _holder(address: bytes) -> str:
    """Describe the process that holds the claim; "" if it is unknown."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as asking:
        asking.setblocking(False)
        try:
            asking.connect(address)
            credentials = asking.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, struct.calcsize("3i"))
        except OSError:
            return ""
        return f"process {struct.unpack('3i', credentials)[0]}, "


def own_domain(environment: Mapping[str, str] = os.environ) -> int:
    """Return the ROS domain of this process; raise InputError if ROS_DOMAIN_ID is not a number."""
    text = environment.get("ROS_DOMAIN_ID", "")
    if text and not text.isdecimal():
        raise InputError(f"ROS_DOMAIN_ID is {text!r}; set it to a number from 0 to 101, or unset it, which means 0")
    return int(text or 0)


def check_nobody_else(names: Mapping[str, Iterable[str]], domain: int, patience: float = PATIENCE) -> None:
    """Check that no node with one of these names runs on this machine or on the network.

    Args:
        names: Names of nodes by namespace, with or without slashes around it.
        domain: Number of the ROS domain.
        patience: Time to listen to the network [s, wall time]; 0 for this machine only.

    Raises:
        InputError: Such a node runs.
    """
    wanted = {(name, f"/{namespace.strip('/')}") for namespace, nodes in names.items() for name in nodes}
    for name, namespace in sorted(wanted):
        claim_name(name, namespace, domain).close()
    if not patience:
        return
    deadline = time.monotonic() + patience
    there: list[str] = []
    with _visitor(next(iter(names), ""), domain) as node:
        while not there and time.monotonic() < deadline:
            time.sleep(0.05)
            there = sorted(name for name, of in node.get_node_names_and_namespaces() if (name, of) in wanted)
    if there:
        raise InputError(f"a system is on this network already ({', '.join(there)}), and {_ADVICE}")


def running_systems(patience: float = PATIENCE) -> Iterator[str]:
    """Yield the namespaces of systems with a plan executor on this network as they are found, for `patience` [s]."""
    deadline, found = time.monotonic() + patience, set[str]()
    with _visitor() as node:
        while time.monotonic() < deadline:
            there = {of for name, of in node.get_node_names_and_namespaces() if name == EXECUTOR}
            yield from sorted(there - found)
            found |= there
            time.sleep(0.05)


def is_known(node: Node, name: str) -> bool:
    """Return whether a node called `name` runs in the namespace and ROS domain of `node`, here or on the network."""
    return (name, node.get_namespace()) in node.get_node_names_and_namespaces() or is_claimed(node, name)


def is_claimed(node: Node, name: str) -> bool:
    """Return whether a process of this machine claims the name in the namespace and ROS domain of `node`.

    It does not try to claim the name, which might keep a node that starts just then from claiming it.
    """
    address = _address(name, node.get_namespace(), node.context.get_domain_id())
    return f"@{address[1:].decode()}" in Path("/proc/net/unix").read_text(encoding="utf-8", errors="replace").split()

"""Domains that nobody else uses."""

from __future__ import annotations

import os
import random
import socket
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest

from llm_planner.cli.processes import DOMAINS, NoFreeDomainError, domain_ports, is_free, own_network
from llm_planner.ros.transport import PROFILES, SOCKETS, socket_transport, stays_on_this_machine
from llm_planner.share import share_folder


def listen(stack: ExitStack, domain: int) -> None:
    taken = stack.enter_context(socket.socket(socket.AF_INET, socket.SOCK_DGRAM))
    taken.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    taken.bind(("", domain_ports(domain)[0]))


def test_a_domain_in_which_somebody_listens_is_not_free():
    domain = int(own_network(random.Random(0))["ROS_DOMAIN_ID"])
    with ExitStack() as stack:
        listen(stack, domain)
        assert not is_free(domain)
    assert is_free(domain)


def udp_sockets(pid: int) -> set[str]:
    """Local addresses of the UDP sockets of a process, as /proc gives them."""
    inodes = {str(entry.readlink()) for entry in Path(f"/proc/{pid}/fd").iterdir() if entry.is_symlink()}
    lines = [line.split() for line in Path(f"/proc/{pid}/net/udp").read_text("ascii").splitlines()[1:]]
    return {line[1].partition(":")[0] for line in lines if f"socket:[{line[9]}]" in inodes}


@contextmanager
def node_in(environment: Mapping[str, str]) -> Iterator[int]:
    """Process number of a node that runs with these variables."""
    program = "import rclpy; rclpy.init(); node = rclpy.create_node('alone'); print('up', flush=True); input()"
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    with subprocess.Popen([sys.executable, "-c", program], env=environment, **pipes) as node:
        assert node.stdout.readline() == b"up\n"
        yield node.pid
        node.communicate(b"\n")


def test_the_network_stays_on_this_machine_and_off_shared_memory():
    with node_in({**os.environ, **own_network(random.Random(0))}) as pid:
        assert udp_sockets(pid) == {"0100007F"}  # 127.0.0.1
        assert "/dev/shm/fastrtps" not in Path(f"/proc/{pid}/maps").read_text("ascii")


@pytest.mark.parametrize(
    ("environ", "local"),
    [
        ({}, False),
        ({"ROS_AUTOMATIC_DISCOVERY_RANGE": "SUBNET"}, False),
        ({"ROS_AUTOMATIC_DISCOVERY_RANGE": "LOCALHOST"}, True),
        (socket_transport({"ROS_AUTOMATIC_DISCOVERY_RANGE": "LOCALHOST"}), True),
        ({"ROS_AUTOMATIC_DISCOVERY_RANGE": "LOCALHOST", "ROS_STATIC_PEERS": "10.0.0.7"}, False),
    ],
)
def test_where_dds_reaches_no_other_machine_none_has_to_be_searched(environ, local):
    assert stays_on_this_machine(environ) is local


def test_processes_of_a_network_stay_off_shared_memory():
    private = own_network(random.Random(0))  # for a domain that is free
    mine = {name: value for name, value in os.environ.items() if name not in private}
    environment = {**mine, **socket_transport({}), "ROS_DOMAIN_ID": private["ROS_DOMAIN_ID"]}
    environment["ROS_AUTOMATIC_DISCOVERY_RANGE"] = "OFF"  # nobody is to be found
    with node_in(environment) as pid:
        assert "/dev/shm/fastrtps" not in Path(f"/proc/{pid}/maps").read_text("ascii")


NETWORK = str(share_folder("config") / "fastdds_network.xml")
OTHERS = (
    ({}, {PROFILES: NETWORK, "FASTDDS_BUILTIN_TRANSPORTS": SOCKETS}),
    (
        {"FASTDDS_BUILTIN_TRANSPORTS": "LARGE_DATA"},
        {PROFILES: NETWORK, "FASTDDS_BUILTIN_TRANSPORTS": "LARGE_DATA"},
    ),
    ({"FASTRTPS_DEFAULT_PROFILES_FILE": "/mine.xml", "ROS_AUTOMATIC_DISCOVERY_RANGE": "LOCALHOST"}, {}),
    ({"RMW_IMPLEMENTATION": "rmw_cyclonedds_cpp", "ROS_AUTOMATIC_DISCOVERY_RANGE": "LOCALHOST"}, {}),
    ({"ROS_STATIC_PEERS": "10.0.0.7", "ROS_AUTOMATIC_DISCOVERY_RANGE": "LOCALHOST"}, {}),
)


@pytest.mark.parametrize(("environ", "expected"), OTHERS)
def test_what_the_user_has_chosen_stays(environ, expected):
    assert socket_transport(environ) == expected


def test_setting_the_transport_twice_changes_nothing():
    local = {"ROS_AUTOMATIC_DISCOVERY_RANGE": "LOCALHOST"}
    for environ in (local, {}):
        once = environ | socket_transport(environ)
        assert once | socket_transport(once) == once


def test_when_every_domain_is_taken_that_is_said():
    with ExitStack() as stack:
        for domain in DOMAINS:
            if is_free(domain):
                listen(stack, domain)
        with pytest.raises(NoFreeDomainError, match="all ROS domains from 1 to 100 are in use"):
            own_network(random.Random(0))

"""A network of one's own: a ROS domain on this machine that nobody else uses."""

from __future__ import annotations

import os
import random
import socket

from llm_planner.errors import LlmPlannerError

DOMAINS = range(1, 101)  # higher ones meet the ports that Linux gives to clients
PARTICIPANTS = 16  # whose ports are looked at


class NoFreeDomainError(LlmPlannerError):
    """Every ROS domain of this machine is in use."""


def domain_ports(domain: int) -> list[int]:
    """UDP ports of a domain: discovery by multicast, then discovery and data of the first participants.

    After the Real-Time Publish-Subscribe protocol (DDSI-RTPS 2.5, section 9.6.2.3).
    """
    base = 7400 + 250 * domain
    return [base, *(base + 10 + k for k in range(2 * PARTICIPANTS))]


def is_free(domain: int) -> bool:
    """Whether no process of this machine listens on the ports of `domain`."""
    for port in domain_ports(domain):
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as trial:
            try:
                trial.bind(("", port))
            except OSError:
                return False
    return True


def own_network(rng: random.Random) -> dict[str, str]:
    """Environment variables of a free domain, drawn with `rng`, that never leaves this machine.

    SROS 2 is off there: permissions are for the domain of the robot.

    Raises NoFreeDomainError when there is none.
    """
    for domain in rng.sample(DOMAINS, len(DOMAINS)):
        if is_free(domain):
            return {
                "ROS_DOMAIN_ID": str(domain),
                "ROS_AUTOMATIC_DISCOVERY_RANGE": "LOCALHOST",
                "ROS_SECURITY_ENABLE": "false",
            }
    raise NoFreeDomainError(
        f"all ROS domains from {DOMAINS[0]} to {DOMAINS[-1]} are in use here; end some ROS processes and try again"
    )


def join_own_network() -> None:
    """Put this process, and those that it will start, into a free domain."""
    os.environ.update(own_network(random.Random()))

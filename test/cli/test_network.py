"""Domains that nobody else uses."""

from __future__ import annotations

import random
import socket
from contextlib import ExitStack

import pytest

from llm_planner.cli.processes import DOMAINS, NoFreeDomainError, domain_ports, is_free, own_network


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


def test_the_network_stays_on_this_machine():
    assert own_network(random.Random(0))["ROS_AUTOMATIC_DISCOVERY_RANGE"] == "LOCALHOST"


def test_when_every_domain_is_taken_that_is_said():
    with ExitStack() as stack:
        for domain in DOMAINS:
            if is_free(domain):
                listen(stack, domain)
        with pytest.raises(NoFreeDomainError, match="all ROS domains from 1 to 100 are in use"):
            own_network(random.Random(0))

"""A name of a node, or of the whole system, is claimed by one process at a time."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys

import pytest
import rclpy
from rclpy.context import Context

from llm_planner.cli.processes import own_network
from llm_planner.errors import InputError
from llm_planner.ros.client import WAITING, SystemClient
from llm_planner.ros.other_systems import SYSTEM, check_nobody_else, claim_name, is_known, own_domain

HERE = f"test_{os.getpid()}"  # a namespace that no other test run uses
HOLDER = """
import signal, sys
from llm_planner.ros.other_systems import claim_name
claim = claim_name("camera", sys.argv[1], 7)
print("claimed", flush=True)
signal.pause()
"""


def test_a_name_is_claimed_once_and_the_error_names_who_has_it():
    with claim_name(SYSTEM, HERE, 7), pytest.raises(InputError) as raised:
        claim_name(SYSTEM, f"/{HERE}/", 7)
    assert f"a system runs here already (process {os.getpid()}, in the ROS domain 7, namespace" in str(raised.value)
    assert "ROS_DOMAIN_ID of its own" in str(raised.value)


@pytest.mark.parametrize("other", [("camera", HERE, 8), ("camera", f"{HERE}/arm", 7), ("simulator", HERE, 7)])
def test_another_domain_namespace_or_name_is_free(other):
    with claim_name("camera", HERE, 7), claim_name(*other):
        pass


def test_a_name_is_free_again_when_it_is_given_back():
    for _ in range(2):
        claim_name("camera", HERE, 7).close()


def test_a_namespace_may_be_as_long_as_ros_allows():
    with claim_name("camera", "long/" * 40, 7), pytest.raises(InputError, match="a node camera runs here already"):
        claim_name("camera", "long/" * 40, 7)


def test_a_node_that_runs_here_is_known_before_discovery_shows_it():
    context = Context()
    rclpy.init(context=context)
    node = rclpy.create_node("asking", namespace=HERE, context=context)
    try:
        assert not is_known(node, "camera")
        with claim_name("camera", HERE, context.get_domain_id()):
            assert is_known(node, "camera")
    finally:
        node.destroy_node()
        context.try_shutdown()


class ToldError(Exception):
    """What a person is told while the client waits."""


def tell(text: str) -> None:
    raise ToldError(text)


def test_a_system_that_starts_here_is_waited_for_and_the_person_is_told():
    client = SystemClient(HERE)
    try:
        with (
            claim_name(SYSTEM, HERE, client.node.context.get_domain_id()),
            pytest.raises(ToldError, match=WAITING),
        ):
            client.find_system(tell)
    finally:
        client.close()


def test_a_process_that_is_killed_leaves_its_name_free():
    with subprocess.Popen([sys.executable, "-c", HOLDER, HERE], stdout=subprocess.PIPE, text=True) as holder:
        assert holder.stdout.readline() == "claimed\n"
        with pytest.raises(InputError, match=rf"\(process {holder.pid}, "):
            claim_name("camera", HERE, 7)
        holder.send_signal(signal.SIGKILL)
        holder.wait()
        claim_name("camera", HERE, 7).close()


def test_a_node_of_another_machine_is_found_on_the_network(monkeypatch):
    """One that claims nothing here stands for it."""
    variables = own_network(random.Random())
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    domain, context = int(variables["ROS_DOMAIN_ID"]), Context()
    rclpy.init(context=context, domain_id=domain)
    node = rclpy.create_node("camera", context=context, namespace=HERE)
    try:
        with pytest.raises(InputError, match=r"is on this network already \(camera\), and two would"):
            check_nobody_else({HERE: ["camera", "simulator"]}, domain, patience=60.0)
        check_nobody_else({HERE: ["simulator"]}, domain, patience=0.1)
    finally:
        node.destroy_node()
        context.try_shutdown()


def test_a_domain_that_is_no_number_is_told():
    assert own_domain({"ROS_DOMAIN_ID": "7"}) == 7
    assert own_domain({}) == 0
    with pytest.raises(InputError, match="ROS_DOMAIN_ID is 'left'; set it to a number"):
        own_domain({"ROS_DOMAIN_ID": "left"})

"""The launch file, run with stand-ins for `launch` and `launch_ros`, which are not on PyPI."""

from __future__ import annotations

import os
import random
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from llm_planner.cli.processes import node_arguments, own_network
from llm_planner.cli.system_options import OPTIONS, requested_system
from llm_planner.errors import InputError
from llm_planner.ros.node_table import NODES_IN_SIMULATION, nodes_beside
from llm_planner.ros.other_systems import claim_clock, own_domain
from llm_planner.ros.processes import CANNOT_START, MOST_DEATHS, prefix

LAUNCH_FILE = Path(__file__).parents[2] / "launch" / "bringup.launch.py"


class Recorded:
    """Any action or substitution: remembers what it was made with."""

    def __init__(self, *positional: Any, **named: Any) -> None:
        self.positional, self.named = positional, named


class LaunchDescription(Recorded):
    @property
    def actions(self) -> list[Any]:
        return self.positional[0]


class DeclareLaunchArgument(Recorded):
    pass


class OpaqueFunction(Recorded):
    pass


class Node(Recorded):
    pass


@dataclass(frozen=True)
class ProcessExited:
    returncode: int


class Context:
    """Of a launch with these arguments besides the defaults."""

    def __init__(self, **values: str) -> None:
        self._values = {option.name: option.default for option in OPTIONS} | values

    def perform_substitution(self, substitution: Recorded) -> str:
        return self._values[substitution.positional[0]]


def stand_ins() -> dict[str, ModuleType]:
    contents = {
        "launch": {"LaunchDescription": LaunchDescription},
        "launch.actions": {"DeclareLaunchArgument": DeclareLaunchArgument, "OpaqueFunction": OpaqueFunction},
        "launch.substitutions": {"LaunchConfiguration": Recorded},
        "launch_ros": {},
        "launch_ros.actions": {"Node": Node},
    }
    modules = {}
    for name, members in contents.items():
        modules[name] = ModuleType(name)
        vars(modules[name]).update(members)
    return modules


@pytest.fixture(scope="module")
def description() -> list[Any]:
    from runpy import run_path

    modules = stand_ins()
    if modules.keys() & sys.modules.keys():
        pytest.skip("a real launch is installed here; it checks the file itself")
    sys.modules.update(modules)
    try:
        return run_path(str(LAUNCH_FILE))["generate_launch_description"]().actions
    finally:
        for name in modules:
            del sys.modules[name]


def started(description: list[Any], **values: str) -> list[Any]:
    """What a launch with these arguments starts; the names that it claims are free again."""
    start = next(action for action in description if isinstance(action, OpaqueFunction)).named["function"]
    try:
        return start(Context(**values))
    finally:
        start.__globals__["CLAIMS"].close()


@pytest.fixture(scope="module", autouse=True)
def network() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as variables:
        for name, value in own_network(random.Random()).items():
            variables.setenv(name, value)
        yield


@pytest.fixture(scope="module")
def actions(description) -> list[Any]:
    """What a launch without arguments starts."""
    return started(description)


def words_of(node: Node) -> str:
    return " ".join(node.named["arguments"])


def test_a_world_with_two_arms_has_one_simulator_and_the_nodes_of_each_arm_in_its_namespace(description):
    nodes = started(description, world="two_arms")
    places = [(node.named["namespace"], node.named["name"]) for node in nodes]
    own = [entry.name for entry in NODES_IN_SIMULATION if entry.of_robot]
    assert places == [
        ("", "simulator"),
        ("", "recorder"),
        *(("left", name) for name in own),
        *(("right", name) for name in own),
    ]
    assert {node.named["namespace"] for node in nodes if "table:=two_arms" in words_of(node)} == {"left", "right"}


def test_it_starts_exactly_the_nodes_of_the_table(actions):
    assert [node.named["executable"] for node in actions] == [entry.name for entry in nodes_beside(True, ["recorder"])]
    assert {node.named["package"] for node in actions} == {"llm_planner"}


def test_without_a_recording_the_recorder_is_left_out(description):
    nodes = started(description, record="false")
    assert [node.named["executable"] for node in nodes] == [entry.name for entry in NODES_IN_SIMULATION]


def test_it_takes_the_options_of_up_each_with_a_description(description):
    arguments = [action for action in description if isinstance(action, DeclareLaunchArgument)]
    assert [one.positional[0] for one in arguments] == [option.name for option in OPTIONS]
    told = {one.positional[0]: one.named["description"] for one in arguments}
    assert all(told.values())
    assert "tabletop, rooms, two_tables, two_arms" in told["world"]
    assert told["log_level"].endswith("one of: debug, info, warn, error, fatal")


def test_a_building_implies_its_robot_and_time_comes_from_the_simulator(description):
    for node in started(description, world="rooms"):
        assert "robot:=mobile" in words_of(node)
        assert "use_sim_time:=true" in words_of(node)


def test_beside_a_real_robot_there_is_its_gripper_and_no_simulator_and_no_simulated_time(description):
    nodes = started(description, simulator="false", robot="ur5e")
    names = [node.named["name"] for node in nodes]
    assert "gripper" in names
    assert not {"simulator", "camera"} & {*names}
    assert not any("use_sim_time" in words_of(node) for node in nodes)


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"world": "mars"}, "world: there is no world 'mars'; the worlds are: tabletop, rooms"),
        (
            {"world": "rooms", "robot": "ur5e"},
            "no robot 'ur5e' in the world rooms; its robot is: mobile. Leave robot out",
        ),
        ({"robot": "mobile"}, "there is no robot 'mobile' in the world tabletop; its robot is: arm"),
        ({"robot": "./none"}, "robot: .*none"),
        ({"envelope": "/none.yaml"}, "envelope: there is no file /none.yaml"),
        ({"params_file": "/none.yaml"}, "params_file: there is no file /none.yaml"),
        ({"simulator": "maybe"}, "simulator is 'maybe'; choose one of: true, false"),
        ({"log_level": "loud"}, "log_level is 'loud'; choose one of: debug, info"),
        ({"seed": "-1"}, "seed must be a number from 0"),
        ({"namespace": "my-robot"}, "namespace is 'my-robot'; use letters"),
        ({"world": "two_arms", "namespace": "lab"}, "leave the namespace 'lab' out: two_arms gives .*: left, right"),
    ],
)
def test_a_wrong_argument_ends_the_launch_with_one_error(description, values, message):
    with pytest.raises(InputError, match=message) as raised:
        started(description, **values)
    assert "\n" not in str(raised.value)


def node_of(actions: list[Any], name: str) -> Node:
    return next(action for action in actions if action.named["name"] == name)


def test_a_node_that_dies_is_started_again_but_not_for_ever(actions):
    node = node_of(actions, "camera")
    assert node.named["respawn"] is True
    for _ in range(MOST_DEATHS - 1):
        assert node.named["on_exit"](ProcessExited(-9), None) is None
    with pytest.raises(InputError, match="the node camera ended 10 times in a row, less than 30 s apart"):
        node.named["on_exit"](ProcessExited(-9), None)


def test_the_third_start_in_a_row_that_a_node_refuses_ends_the_launch(actions):
    exited = node_of(actions, "mpc_controller").named["on_exit"]
    exited(ProcessExited(CANNOT_START), None)
    exited(ProcessExited(-9), None)  # it ran, so counting begins anew
    exited(ProcessExited(CANNOT_START), None)
    exited(ProcessExited(CANNOT_START), None)
    with pytest.raises(InputError, match="the node mpc_controller could not start 3 times in a row"):
        exited(ProcessExited(CANNOT_START), None)


def test_nodes_end_with_the_launch_that_started_them(actions):
    words = node_of(actions, "simulator").named["prefix"]
    assert words[0].split() == prefix(os.getpid())
    assert words[2].positional == ("launch-prefix",), "what the user puts before nodes is kept"


def test_a_second_launch_in_the_same_namespace_is_refused(description):
    start = next(action for action in description if isinstance(action, OpaqueFunction)).named["function"]
    start(Context(namespace="left"))
    try:
        with pytest.raises(InputError, match=rf"a system runs here already \(process {os.getpid()}, "):
            start(Context(namespace="left"))
    finally:
        start.__globals__["CLAIMS"].close()


def test_a_second_simulator_in_a_domain_is_refused_since_there_is_one_clock(description):
    with claim_clock(own_domain()), pytest.raises(InputError, match=r"another simulator publishes /clock \(process"):
        started(description, namespace="left")


def test_up_starts_each_node_with_the_same_options(actions):
    system = requested_system({})
    for entry, node in zip(system.entries, actions, strict=True):
        assert node_arguments(entry, system.options) == node.named["arguments"]

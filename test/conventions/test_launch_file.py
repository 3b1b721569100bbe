"""The launch file, run with stand-ins for `launch` and `launch_ros`, which are not on PyPI."""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from llm_planner.cli.processes import NodeOptions, command_line
from llm_planner.errors import InputError
from llm_planner.ros.node_table import NODES
from llm_planner.ros.processes import CANNOT_START, prefix

LAUNCH_FILE = Path(__file__).parents[2] / "launch" / "bringup.launch.py"


class Recorded:
    """Any action or substitution: remembers what it was made with."""

    def __init__(self, *positional: Any, **named: Any) -> None:
        self.positional, self.named = positional, named


class IfCondition(Recorded):
    pass


class UnlessCondition(Recorded):
    pass


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
    """Of a launch in one namespace."""

    def __init__(self, namespace: str) -> None:
        self._namespace = namespace

    def perform_substitution(self, substitution: Recorded) -> str:
        assert substitution.positional == ("namespace",)
        return self._namespace


def stand_ins() -> dict[str, ModuleType]:
    contents = {
        "launch": {"LaunchDescription": LaunchDescription},
        "launch.actions": {"DeclareLaunchArgument": DeclareLaunchArgument, "OpaqueFunction": OpaqueFunction},
        "launch.conditions": {"IfCondition": IfCondition, "UnlessCondition": UnlessCondition},
        "launch.substitutions": {"LaunchConfiguration": Recorded, "PathJoinSubstitution": Recorded},
        "launch_ros": {},
        "launch_ros.actions": {"Node": Node},
        "launch_ros.substitutions": {"FindPackageShare": Recorded},
    }
    modules = {}
    for name, members in contents.items():
        modules[name] = ModuleType(name)
        vars(modules[name]).update(members)
    return modules


@pytest.fixture(scope="module")
def actions() -> list[Any]:
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


def test_it_starts_exactly_the_nodes_of_the_table(actions):
    nodes = [action for action in actions if isinstance(action, Node)]
    assert [node.named["executable"] for node in nodes] == [entry.name for entry in NODES]
    assert {node.named["package"] for node in nodes} == {"llm_planner"}


def test_it_takes_the_usual_arguments(actions):
    names = [action.positional[0] for action in actions if isinstance(action, DeclareLaunchArgument)]
    assert names == ["namespace", "use_sim_time", "params_file", "log_level", "simulator", "world", "robot"]


@pytest.mark.parametrize("argument", ["robot", "simulator"])
def test_it_tells_every_node_which_robot_is_moved(actions, argument):
    nodes = {action.named["name"]: action.named["parameters"] for action in actions if isinstance(action, Node)}
    told = [name for name, parameters in nodes.items() if any(argument in entry for entry in parameters[1:])]
    assert told == [entry.name for entry in NODES]


def test_beside_a_real_robot_there_is_its_gripper_and_no_simulator(actions):
    conditions = {name: node_of(actions, name).named["condition"] for name in (entry.name for entry in NODES)}
    assert [name for name, one in conditions.items() if isinstance(one, IfCondition)] == ["simulator", "camera"]
    assert [name for name, one in conditions.items() if isinstance(one, UnlessCondition)] == ["gripper"]
    assert {one.positional[0].positional for one in conditions.values() if one} == {("simulator",)}


def node_of(actions: list[Any], name: str) -> Node:
    return next(action for action in actions if isinstance(action, Node) and action.named["name"] == name)


def test_a_node_that_dies_is_started_again_however_often(actions):
    node = node_of(actions, "camera")
    assert node.named["respawn"] is True
    for _ in range(10):
        assert node.named["on_exit"](ProcessExited(-9), None) is None


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


def test_a_second_launch_in_the_same_namespace_is_refused(actions):
    claim = next(action for action in actions if isinstance(action, OpaqueFunction)).named["function"]
    left, right = (Context(f"{side}_{os.getpid()}") for side in ("left", "right"))
    claim(left)
    claim(right)
    with pytest.raises(InputError, match=rf"a system runs here already \(process {os.getpid()}, "):
        claim(left)
    for held in claim.__globals__["CLAIMS"]:
        held.close()


def test_up_starts_each_node_with_the_same_options():
    options = NodeOptions(
        {"simulator": {"world": "tabletop"}}, Path("p.yaml"), namespace="left", use_sim_time=True, log_level="warn"
    )
    words = command_line(NODES[0], options)
    assert words[1:3] == ["-m", "llm_planner.ros.nodes.simulator_node"]
    assert words[3:] == [
        "--ros-args", "--log-level", "warn", "--enclave", "/left/simulator", "-r", "__ns:=/left",
        "--params-file", "p.yaml", "-p", "use_sim_time:=true", "-p", "world:=tabletop",
    ]  # fmt: skip

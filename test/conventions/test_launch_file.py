"""The launch file, run with stand-ins for `launch` and `launch_ros`, which are not on PyPI."""

from __future__ import annotations

import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from llm_planner.cli.processes import NodeOptions, command_line
from llm_planner.nodes.node_table import NODES

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


class Node(Recorded):
    pass


def stand_ins() -> dict[str, ModuleType]:
    contents = {
        "launch": {"LaunchDescription": LaunchDescription},
        "launch.actions": {"DeclareLaunchArgument": DeclareLaunchArgument},
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
    assert names == ["namespace", "use_sim_time", "params_file", "log_level", "world", "robot"]


def test_it_tells_controller_and_skills_which_robot_they_move(actions):
    nodes = {action.named["name"]: action.named["parameters"] for action in actions if isinstance(action, Node)}
    told = [name for name, parameters in nodes.items() if any("robot" in entry for entry in parameters[1:])]
    assert told == ["mpc_controller", "safety_filter", "skill_server"]


def test_up_starts_each_node_with_the_same_options():
    options = NodeOptions(
        {"simulator": {"world": "tabletop"}}, Path("p.yaml"), namespace="left", use_sim_time=True, log_level="warn"
    )
    words = command_line(NODES[0], options)
    assert words[1:3] == ["-m", "llm_planner.nodes.simulator_node"]
    assert words[3:] == [
        "--ros-args", "--log-level", "warn", "-r", "__ns:=/left", "--params-file", "p.yaml",
        "-p", "use_sim_time:=true", "-p", "world:=tabletop",
    ]  # fmt: skip

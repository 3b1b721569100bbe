"""Nodes that start wrongly, are put to rest by their lifecycle, or run in a namespace; `up` and `demo` as processes."""

from __future__ import annotations

import os
import random
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from lifecycle_msgs.msg import Transition
from lifecycle_msgs.srv import ChangeState

from llm_planner.cli.network import own_network
from llm_planner.errors import SimulationError
from llm_planner.nodes.client import SystemClient, SystemUnreachableError
from llm_planner.nodes.node_table import NODES
from llm_planner.simulation.gl import open_gl_context

MAIN = [sys.executable, "-m", "llm_planner.cli.main"]
SCRIPT = """
put the red block in the green bowl: |
  pick("red block")
  place_in("green bowl")
wave: go_home()
"""


@pytest.fixture
def environment() -> dict[str, str]:
    """With a network of its own."""
    return {**os.environ, **own_network(random.Random())}


@pytest.fixture
def script(tmp_path: Path) -> str:
    path = tmp_path / "script.yaml"
    path.write_text(SCRIPT, encoding="utf-8")
    return str(path)


@pytest.mark.parametrize(
    ("node", "parameter", "words"),
    [
        ("simulator", "world:=moon", "there is no world 'moon'"),
        ("simulator", "objects:=red dragon", "'dragon'"),
        ("simulator", "real_time_factor:=1000.0", "real_time_factor"),
        ("simulator", "seed:=many", "seed"),
        ("mpc_controller", "rate:=1.0", "rate"),
        ("mpc_controller", "robot:=boat", "the parameter robot is 'boat'; choose one of: arm, mobile"),
        ("safety_filter", "rate:=1.0", "rate"),
        ("safety_filter", "robot:=boat", "the parameter robot is 'boat'; choose one of: arm, mobile"),
        ("skill_server", "robot:=boat", "the parameter robot is 'boat'; choose one of: arm, mobile"),
        ("language_planner", "rehearsal:=loud", "'loud'"),
        ("plan_executor", "viewpoint:=above", "'above' is no viewpoint"),
        ("plan_executor", "privileges:=/none/policy.yaml", "/none/policy.yaml cannot be read"),
        ("plan_executor", f"privileges:={__file__}", "test_starting_and_resting.py"),
        ("plan_executor", "journal:=/proc/none/journal", "the journal /proc/none/journal cannot be written"),
    ],
)
def test_a_node_with_a_wrong_parameter_ends_and_says_which(node, parameter, words, environment):
    command = [sys.executable, "-m", f"llm_planner.nodes.{node}_node", "--ros-args", "-p", parameter]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 1
    assert words in done.stdout + done.stderr
    assert "Traceback" not in done.stdout + done.stderr


def test_off_is_a_word_though_ros_reads_it_as_a_truth_value(environment):
    command = [sys.executable, "-m", "llm_planner.nodes.language_planner_node", "--ros-args", "-p", "rehearsal:=off"]
    command += ["-p", "journal:=/proc/none/journal"]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=60, check=False)
    assert "the journal /proc/none/journal cannot be written" in done.stdout + done.stderr


def change(system, node: str, transition: int) -> bool:
    client = system.client.node.create_client(ChangeState, f"{node}/change_state")
    system.wait(client.service_is_ready)
    request = ChangeState.Request()
    request.transition.id = transition
    future = client.call_async(request)
    system.wait(future.done)
    return future.result().success


def test_a_deactivated_planner_takes_no_commands_until_it_is_activated_again(fresh):
    assert change(fresh, "language_planner", Transition.TRANSITION_DEACTIVATE)
    with pytest.raises(SystemUnreachableError, match="takes no commands: it is not active"):
        fresh.say("wave")
    assert change(fresh, "language_planner", Transition.TRANSITION_ACTIVATE)
    assert fresh.say("wave").succeeded


def test_a_deactivated_simulator_stands_still_and_goes_on_afterwards(fresh):
    assert change(fresh, "simulator", Transition.TRANSITION_DEACTIVATE)
    stopped = fresh.time
    fresh.client.spin_for(0.3)
    assert fresh.time - stopped < 0.1
    assert change(fresh, "simulator", Transition.TRANSITION_ACTIVATE)
    fresh.wait(lambda: fresh.time > stopped + 0.3)


@pytest.mark.parametrize("node", [entry.name for entry in NODES])
def test_a_node_can_be_cleaned_up_and_configured_again(node, fresh):
    for transition in (
        Transition.TRANSITION_DEACTIVATE,
        Transition.TRANSITION_CLEANUP,
        Transition.TRANSITION_CONFIGURE,
        Transition.TRANSITION_ACTIVATE,
    ):
        assert change(fresh, node, transition)
    assert fresh.works_again()


def test_waiting_in_vain_ends_with_a_sentence(system):
    with pytest.raises(SystemUnreachableError, match=r"did not answer as expected within 0\.1 s"):
        system.wait(lambda: False, timeout=0.1)


@pytest.mark.parametrize("ending", [signal.SIGINT, signal.SIGTERM])
def test_up_runs_a_second_robot_in_a_namespace_until_interrupted(environment, script, tmp_path, ending):
    options = ["--namespace", "left", "--model", "scripted", "--model-script", script]
    home = {"ROS_HOME": str(tmp_path)}
    up = subprocess.Popen([*MAIN, "up", *options], env={**environment, **home}, stdout=subprocess.PIPE, text=True)
    client = SystemClient("left", int(environment["ROS_DOMAIN_ID"]))
    try:
        client.wait_for_system(60.0)
        # it takes commands a moment before the first scene reaches everybody, and says so
        client.wait_until(lambda: client.execute("wave", lambda progress: None).succeeded, 30.0)
        wanted = {"simulator", "mpc_controller", "safety_filter", "skill_server", "plan_executor", "language_planner"}

        def found() -> set[str]:
            return {name for name, space in client.node.get_node_names_and_namespaces() if space == "/left"}

        client.wait_until(lambda: wanted <= found(), 30.0)
    finally:
        client.close()
        up.send_signal(ending)
        output, _ = up.communicate(timeout=30)
    assert up.returncode == 0
    assert output.startswith("started: simulator, mpc_controller")
    assert (tmp_path / "llm_planner" / "journal.sqlite").is_file()


def demo(environment, script, out, *words: str) -> subprocess.CompletedProcess[str]:
    command = [*MAIN, "demo", *words, "--model", "scripted", "--model-script", script, "--out", str(out)]
    return subprocess.run(
        command, env=environment, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=120, check=False
    )


def test_the_demo_shows_the_program_reaches_the_goal_and_films_it(environment, script, tmp_path):
    done = demo(environment, script, tmp_path / "run")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "You: put the red block in the green bowl" in done.stdout
    assert '✓ place_in("green bowl") done' in done.stdout
    assert "Goal reached, as the simulator shows: The red block is in the green bowl." in done.stdout
    assert re.search(r"The robot began to move \d+\.\d s after the command", done.stdout)
    try:
        open_gl_context(16, 16).free()
    except SimulationError:
        assert "No film: pictures cannot be rendered" in done.stdout
    else:
        assert (tmp_path / "run" / "demo.mp4").stat().st_size > 10_000
        assert (tmp_path / "run" / "final.png").stat().st_size > 10_000


def test_a_demo_that_does_not_reach_its_goal_says_so_and_fails(environment, script, tmp_path):
    done = demo(environment, script, tmp_path / "run", "sing", "--no-film")
    assert done.returncode == 1
    assert "Goal not reached: the scripted model has no answer to 'sing'" in done.stdout


def test_a_demo_whose_node_dies_names_it_and_its_log(environment, script, tmp_path):
    parameters = tmp_path / "wrong.yaml"
    parameters.write_text("/**/mpc_controller:\n  ros__parameters: {rate: 1.0}\n", encoding="utf-8")
    done = demo(environment, script, tmp_path / "run", "wave", "--params-file", str(parameters), "--no-film")
    assert done.returncode == 1
    assert "the node mpc_controller ended (exit status 1); its last words are in" in done.stderr

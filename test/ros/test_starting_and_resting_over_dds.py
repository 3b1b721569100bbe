"""Nodes that start wrongly, are put to rest by their lifecycle, or run in a namespace; `up` and `demo` as processes."""

from __future__ import annotations

import os
import random
import re
import select
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from lifecycle_msgs.msg import State, Transition
from lifecycle_msgs.srv import ChangeState, GetState

from llm_planner.cli.processes import own_network
from llm_planner.ros.client import SystemClient, SystemUnreachableError
from llm_planner.ros.heartbeat_monitor import Readiness
from llm_planner.ros.node_table import NODES_IN_SIMULATION, nodes_beside
from llm_planner.ros.other_systems import claim_name
from llm_planner.ros.processes import CANNOT_START

LONG = 60.0  # [wall s] of what takes a moment, on a machine that may be busy
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


WRONG = [
    ("simulator", "world:=moon", "there is no world 'moon'"),
    ("simulator", "objects:=red dragon", "'dragon'"),
    ("simulator", "real_time_factor:=1000.0", "real_time_factor"),
    ("simulator", "seed:=many", "seed"),
    ("mpc_controller", "rate:=1.0", "rate"),
    (
        "mpc_controller",
        "robot:=boat",
        "the parameter robot is 'boat': there is no robot 'boat'; the robots are: fr3, ",
    ),
    ("safety_filter", "rate:=1.0", "rate"),
    (
        "safety_filter",
        "robot:=boat",
        "the parameter robot is 'boat': there is no robot 'boat'; the robots are: fr3, ",
    ),
    (
        "skill_server",
        "robot:=boat",
        "the parameter robot is 'boat': there is no robot 'boat'; the robots are: fr3, ",
    ),
    ("language_planner", "rehearsal:=loud", "'loud'"),
    ("correction_listener", "voice:=hal", "'hal'"),
    ("plan_executor", "viewpoint:=above", "viewpoint is 'above'; choose one of"),
    ("plan_executor", "privileges:=/none/policy.yaml", "/none/policy.yaml cannot be read"),
    ("plan_executor", f"privileges:={__file__}", "test_starting_and_resting_over_dds.py"),
]


def node(name: str, *words: str) -> list[str]:
    """The command of a node with these arguments for ROS."""
    return [sys.executable, "-m", f"llm_planner.ros.nodes.{name}_node", "--ros-args", *words]


def ended(command: list[str], environment: dict[str, str]) -> subprocess.CompletedProcess[str]:
    return subprocess.run(command, env=environment, capture_output=True, text=True, timeout=60, check=False)


@pytest.fixture(scope="module")
def refused() -> dict[tuple[str, str], subprocess.CompletedProcess[str]]:
    """How nodes with a wrong parameter end, by node and parameter; they start beside each other."""
    environment = {**os.environ, **own_network(random.Random())}
    with ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
        started = {
            (name, parameter): pool.submit(
                ended, node(name, "-p", parameter, "-r", f"__ns:=/trial_{number}"), environment
            )
            for number, (name, parameter, _) in enumerate(WRONG)
        }
        return {what: one.result() for what, one in started.items()}


@pytest.mark.parametrize(("name", "parameter", "words"), WRONG)
def test_a_node_with_a_wrong_parameter_ends_and_says_which(name, parameter, words, refused):
    done = refused[name, parameter]
    assert done.returncode == CANNOT_START
    assert words in done.stdout + done.stderr
    assert "Traceback" not in done.stdout + done.stderr


BROKEN = {
    "no_mapping.yaml": ("a: [1\n", "Sequences can only be values"),
    "no_parameters.yaml": ("simulator:\n  world: tabletop\n", "Cannot have a value before ros__parameters"),
    "mixed.yaml": ("/**:\n  ros__parameters: {rate: [1, a]}\n", "Sequence should be of same type"),
    "absent.yaml": (None, "Error opening YAML file"),
}


@pytest.fixture(params=BROKEN)
def broken(request, tmp_path: Path) -> tuple[Path, str]:
    """A parameters file that cannot be used, and what is said of it."""
    path, (text, told) = tmp_path / request.param, BROKEN[request.param]
    if text is not None:
        path.write_text(text, encoding="utf-8")
    return path, told


def test_a_node_whose_parameters_file_is_broken_ends_with_one_paragraph(broken, environment):
    path, told = broken
    done = ended(node("camera", "--params-file", str(path)), environment)
    assert done.returncode == CANNOT_START
    assert "camera cannot start: Couldn't parse params file" in done.stderr
    assert told in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("command", ["up", "demo"])
def test_a_parameters_file_that_is_broken_is_told_before_anything_starts(command, broken, environment):
    path, told = broken
    done = ended([*MAIN, command, "--params-file", str(path)], environment)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.count("\n") == 1
    assert str(path) in done.stderr
    assert told in done.stderr or not path.exists()


def test_off_is_a_word_though_ros_reads_it_as_a_truth_value(environment):
    looked_at_with_it = ("-p", "privileges:=/none/policy.yaml")
    done = ended(node("language_planner", "-p", "rehearsal:=off", *looked_at_with_it), environment)
    assert "/none/policy.yaml cannot be read" in done.stdout + done.stderr


AFTER = {
    Transition.TRANSITION_CONFIGURE: State.PRIMARY_STATE_INACTIVE,
    Transition.TRANSITION_ACTIVATE: State.PRIMARY_STATE_ACTIVE,
    Transition.TRANSITION_DEACTIVATE: State.PRIMARY_STATE_INACTIVE,
    Transition.TRANSITION_CLEANUP: State.PRIMARY_STATE_UNCONFIGURED,
}


def change(system, node: str, transition: int) -> bool:
    """Whether the transition led where it should; one that is repeated, as its answer was lost, is refused."""
    system.call(ChangeState, f"{node}/change_state", ChangeState.Request(transition=Transition(id=transition)))
    answer = system.call(GetState, f"{node}/get_state", GetState.Request())
    return answer.current_state.id == AFTER[transition]


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


def test_every_node_can_be_cleaned_up_and_configured_again(fresh):
    for entry in NODES_IN_SIMULATION:
        for transition in (
            Transition.TRANSITION_DEACTIVATE,
            Transition.TRANSITION_CLEANUP,
            Transition.TRANSITION_CONFIGURE,
            Transition.TRANSITION_ACTIVATE,
        ):
            assert change(fresh, entry.name, transition), entry.name
    assert fresh.works_again()


def test_waiting_in_vain_ends_with_a_sentence(system):
    with pytest.raises(SystemUnreachableError, match=r"did not answer as expected within 0\.1 s"):
        system.wait(lambda: False, timeout=0.1)


def test_up_runs_a_second_robot_in_a_namespace_until_terminated(environment, script, tmp_path):
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
        up.terminate()  # an interrupt ends another one below
        output, _ = up.communicate(timeout=LONG)
    assert up.returncode == 0
    assert output.startswith("started: simulator, mpc_controller")
    domain = int(environment["ROS_DOMAIN_ID"])
    assert (tmp_path / "llm_planner" / f"domain_{domain}" / "left" / "journal.sqlite").is_file()


def up(environment, script, home: Path, *options: str) -> subprocess.Popen[str]:
    """`llm-planner up`, with its files in `home`."""
    command = [*MAIN, "up", "--model", "scripted", "--model-script", script, *options]
    variables = {**environment, "ROS_HOME": str(home)}
    return subprocess.Popen(command, env=variables, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)


def has_started(running: subprocess.Popen[str]) -> bool:
    """Whether it says so; what is printed before, as by DDS, is passed over."""
    return any(line.startswith("started: simulator") for line in running.stdout)


def nodes_of(parent: int) -> list[int]:
    """Process file descriptors of all nodes, which are forked from a child."""
    return [os.pidfd_open(node) for child in _children(parent) for node in _children(child)]


def _children(parent: int) -> list[int]:
    return [int(pid) for task in Path(f"/proc/{parent}/task").iterdir() for pid in _words(task / "children")]


def _words(path: Path) -> list[str]:
    return path.read_text(encoding="utf-8").split()


def still_alive(processes: list[int], within: float) -> int:
    """How many of the processes have not ended in time [s]; closes their file descriptors."""
    deadline, alive = time.monotonic() + within, 0
    for process in processes:
        poll = select.poll()
        poll.register(process, select.POLLIN)
        alive += not poll.poll(max(0.0, 1000.0 * (deadline - time.monotonic())))
        os.close(process)
    return alive


def test_when_up_is_killed_under_a_motion_the_arm_comes_to_rest(environment, script, tmp_path):
    """The simulator, which nobody kills, stands for a real robot; parameters name the topics of its driver."""
    parameters = tmp_path / "driver.yaml"
    parameters.write_text(
        "/**:\n  ros__parameters: {state_topic: joint_states, gripper_state_topic: joint_states}\n"
        "/**/safety_filter:\n  ros__parameters: {command_topic: joint_command, gripper: joint}\n",
        encoding="utf-8",
    )
    with (
        subprocess.Popen(
            node("simulator", "-p", "objects:=red block, green bowl", "-p", "real_time_factor:=2.0"), env=environment
        ) as simulator,
        up(environment, script, tmp_path, "--no-simulator", "--params-file", str(parameters)) as running,
    ):
        client, speeds = SystemClient("", int(environment["ROS_DOMAIN_ID"])), [(0.0, 0.0)]  # robot's time, rad/s
        client.watch_joints(lambda time, qpos, qvel, width: speeds.append((time, max(map(abs, qvel)))))
        readiness = Readiness(client.node, [entry.name for entry in NODES_IN_SIMULATION if entry.name != "camera"])
        try:
            client.wait_until(lambda: not readiness.missing, 120.0)
            submission = client.submit("put the red block in the green bowl")
            client.wait_until(lambda: speeds[-1][1] > 0.3 or submission.is_done, 60.0)
            assert not submission.is_done, submission.result
            nodes = nodes_of(running.pid)
            running.kill()
            assert still_alive(nodes, within=LONG) == 0
            killed = speeds[-1][0]
            client.wait_until(lambda: speeds[-1][0] > killed + 8.0, 60.0)
        finally:
            client.close()
            simulator.kill()
            running.kill()
    assert max(speed for time, speed in speeds if time > killed + 5.0) < 0.01


def test_when_up_is_killed_every_node_ends_and_another_up_starts(environment, script, tmp_path):
    """As soon as they were started; what becomes of them when they work is seen above."""
    with up(environment, script, tmp_path) as running:
        assert has_started(running)
        nodes = nodes_of(running.pid)
        running.kill()
        assert len(nodes) == len(nodes_beside(True, ["recorder"]))
        assert still_alive(nodes, within=LONG) == 0
    with up(environment, script, tmp_path) as another:
        assert has_started(another)
        another.kill()


def test_of_two_ups_at_the_same_moment_one_runs_and_the_other_ends_at_once(environment, script, tmp_path):
    both = [up(environment, script, tmp_path) for _ in range(2)]
    watched = {os.pidfd_open(one.pid): one for one in both}
    poll = select.poll()
    for process in watched:
        poll.register(process, select.POLLIN)
    refused = watched[poll.poll(1000 * LONG)[0][0]]
    (other,) = (one for one in both if one is not refused)
    try:
        output = refused.communicate(timeout=LONG)[0]
        assert refused.returncode == 1
        assert output.startswith(f"llm-planner: a system runs here already (process {other.pid}, in the ROS domain ")
        assert has_started(other)
    finally:
        other.send_signal(signal.SIGINT)
        other.communicate(timeout=LONG)
        for process in watched:
            os.close(process)
    assert other.returncode == 0


def test_a_node_is_refused_where_one_of_its_name_runs(environment):
    with claim_name("camera", "/", int(environment["ROS_DOMAIN_ID"])):
        done = ended(node("camera"), environment)
    assert done.returncode == CANNOT_START
    assert f"a node camera runs here already (process {os.getpid()}, " in done.stderr


def test_a_node_that_can_never_start_ends_up_with_its_own_reason(environment, script, tmp_path):
    parameters = tmp_path / "wrong.yaml"
    parameters.write_text("/**/mpc_controller:\n  ros__parameters: {envelope: /none.yaml}\n", encoding="utf-8")
    with up(environment, script, tmp_path, "--params-file", str(parameters)) as running:
        output = running.communicate(timeout=120)[0]
    assert running.returncode == 1
    assert "Traceback" not in output
    last = output.strip().splitlines()[-1]
    assert "the node mpc_controller could not start 3 times in a row" in last
    assert "It said: /none.yaml cannot be read" in last


def test_when_a_demo_is_killed_every_node_ends(environment, script, tmp_path):
    command = [*MAIN, "demo", "wave", "--model", "scripted", "--model-script", script, "--out", str(tmp_path / "run")]
    with subprocess.Popen(command, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE) as running:
        running.stdout.readline()  # the nodes are being started
        nodes = nodes_of(running.pid)
        running.kill()
        assert nodes
        assert still_alive(nodes, within=LONG) == 0


def demo(environment, script, out, *words: str) -> subprocess.CompletedProcess[str]:
    command = [*MAIN, "demo", *words, "--model", "scripted", "--model-script", script, "--out", str(out)]
    return subprocess.run(
        command, env=environment, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=400, check=False
    )


def test_the_demo_shows_the_program_reaches_the_goal_and_films_it(environment, script, tmp_path, can_draw):
    done = demo(environment, script, tmp_path / "run")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "You: put the red block in the green bowl" in done.stdout
    assert '✓ place_in("green bowl") done' in done.stdout
    assert "Goal reached, as the simulator shows: The red block is in the green bowl." in done.stdout
    assert re.search(r"The robot began to move \d+\.\d s after the command", done.stdout)
    if not can_draw:
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
    parameters.write_text("/**/mpc_controller:\n  ros__parameters: {envelope: /none.yaml}\n", encoding="utf-8")
    done = demo(environment, script, tmp_path / "run", "wave", "--params-file", str(parameters), "--no-film")
    assert done.returncode == 1
    assert "the demo ends, because the node mpc_controller ended (exit status 78): /none.yaml" in done.stderr
    assert f"What the nodes printed is in {tmp_path / 'run' / 'nodes.log'}" in done.stderr

"""What was left unfinished is gone on with: real nodes, real DDS, physics, and a journal on the disk."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Iterator

import pytest
from llm_planner_interfaces.action import ExecuteCommand
from llm_planner_interfaces.msg import CommandStatus

from llm_planner.corrections.edits import Outcome
from llm_planner.ros.base_node import RELIABLE
from llm_planner.scene.predicates import in_

TIMEOUT = 60.0  # [s] until a process that was killed is back, on a busy machine
COMMAND = "put the red block in the green bowl"
Code = ExecuteCommand.Result


@pytest.fixture
def ended(fresh) -> Iterator[dict[str, CommandStatus]]:
    """How commands have ended, by their words."""
    heard: dict[str, CommandStatus] = {}

    def note(message: CommandStatus) -> None:
        if message.state == CommandStatus.ENDED:
            heard[message.command] = message

    subscription = fresh.client.node.create_subscription(CommandStatus, "command_status", note, RELIABLE)
    yield heard
    fresh.client.node.destroy_subscription(subscription)


@pytest.fixture(autouse=True)
def rest(fresh) -> Iterator[None]:
    yield
    fresh.client.stop("the test is over")


def carrying(system, name: str) -> bool:
    """Whether the thing is well above the table."""
    return system.scene.held == name and system.scene.find(name).position[2] > 0.1


def test_when_the_executor_dies_while_it_carries_the_rest_is_done_as_it_was_corrected(fresh):
    fresh.client.correct("slower")  # whoever reads corrections is awake
    running = fresh.start(COMMAND)
    for words in ("slower", "no, the blue one"):
        answer = fresh.client.correct(words)
        assert answer.outcome is Outcome.APPLIED, answer.message
    fresh.wait(lambda: carrying(fresh, "blue block") or running.is_done)
    killed = fresh.plan.executor
    os.kill(fresh.processes.pid("plan_executor"), signal.SIGKILL)
    assert fresh.finish(running).code == Code.EXECUTOR_LOST
    fresh.wait(lambda: fresh.plan.executor != killed)
    assert fresh.plan.message.endswith(
        "corrected by “slower”, “no, the blue one”; say “go on” to have the rest done"
    ), fresh.plan.message
    fresh.wait_until_at_rest()
    assert fresh.scene.held == "blue block"

    speeds: list[float] = []
    fresh.client.watch_joints(lambda time, qpos, qvel, width: speeds.append(max(map(abs, qvel))))
    result = fresh.say("go on")
    assert result.succeeded, result.message
    assert in_(fresh.scene, "blue block", "green bowl")
    assert not in_(fresh.scene, "red block", "green bowl")
    assert [step.skill for step in fresh.plan.steps] == ["place_in"]
    assert 0.1 < max(speeds) < 0.5 * 2.61 + 0.05  # the fastest joint's limit [rad/s], and what is made up for


def test_go_on_may_be_said_before_anybody_has_noticed_that_the_executor_died(fresh):
    running = fresh.start(COMMAND)
    fresh.wait(lambda: carrying(fresh, "red block") or running.is_done)
    os.kill(fresh.processes.pid("plan_executor"), signal.SIGKILL)
    fresh.client.spin_for(1.5)
    going_on = fresh.client.submit("go on")
    assert fresh.finish(running).code == Code.EXECUTOR_LOST
    assert fresh.finish(going_on).succeeded, going_on.result.message
    assert in_(fresh.scene, "red block", "green bowl")


def test_what_a_person_stopped_goes_on_when_they_say_so_as_a_correction(fresh, ended):
    running = fresh.start(COMMAND)
    fresh.wait(lambda: carrying(fresh, "red block") or running.is_done)
    fresh.client.stop("test")
    assert fresh.finish(running).code == Code.STOPPED
    fresh.wait_until_at_rest()
    answer = fresh.client.correct("go on")
    assert answer.outcome is Outcome.APPLIED, answer.message
    assert answer.message == "the language planner is asked to go on with what was left"
    fresh.wait(lambda: "go on" in ended)
    assert ended["go on"].error_code == Code.SUCCEEDED, ended["go on"].message
    assert in_(fresh.scene, "red block", "green bowl")


def test_when_the_skill_server_dies_the_rest_is_done_once_it_is_back(fresh):
    running = fresh.start(COMMAND)
    os.kill(fresh.processes.pid("skill_server"), signal.SIGKILL)
    assert fresh.finish(running).code == Code.SKILLS_LOST
    result, given_up = fresh.say("go on"), time.monotonic() + TIMEOUT
    while result.code == Code.SKILLS_LOST and time.monotonic() < given_up:
        result = fresh.say("go on")
    assert result.succeeded, result.message
    assert in_(fresh.scene, "red block", "green bowl")


def test_while_a_command_is_under_way_there_is_nothing_to_go_on_with(fresh):
    fresh.start(COMMAND)
    result = fresh.say("go on")
    assert (result.code, result.message) == (
        Code.REFUSED,
        f"“{COMMAND}” is still under way; if it is held, say “go on” as a correction.",
    )


def test_of_a_command_that_has_succeeded_nothing_is_left(fresh):
    assert fresh.say("wave").succeeded
    result = fresh.say("go on")
    assert result.code == Code.REFUSED
    assert result.message == "there is nothing to go on with: “wave” is done; say what else is to be done"

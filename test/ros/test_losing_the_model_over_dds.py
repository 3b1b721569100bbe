"""Whatever becomes of the model, its server, the language planner or the executor: no robot moves without a plan."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from typing import Any

import pytest
from llm_planner_interfaces.action import ExecuteCommand
from llm_planner_interfaces.msg import PlanStatus

Code = ExecuteCommand.Result


def signal_to(system, name: str, number: signal.Signals) -> None:
    os.kill(system.processes.pid(name), number)


def test_when_the_language_planner_dies_its_plan_ends_and_the_arm_rests(fresh):
    fresh.start("to and fro")
    fresh.wait(lambda: fresh.plan.state == PlanStatus.RUNNING)
    signal_to(fresh, "language_planner", signal.SIGKILL)
    fresh.wait(lambda: fresh.plan.state != PlanStatus.RUNNING)
    fresh.wait_until_at_rest()
    resting = fresh.qpos
    fresh.client.spin_for(1.0)
    assert fresh.qpos == pytest.approx(resting, abs=0.02)
    assert fresh.works_again()


def test_when_the_language_planner_is_held_up_for_long_its_plan_ends_and_it_tells_the_truth_after(fresh):
    running = fresh.start("to and fro")
    fresh.wait(lambda: fresh.plan.state == PlanStatus.RUNNING)
    signal_to(fresh, "language_planner", signal.SIGSTOP)
    fresh.wait(lambda: fresh.plan.state != PlanStatus.RUNNING)
    fresh.wait_until_at_rest()
    signal_to(fresh, "language_planner", signal.SIGCONT)
    result = fresh.finish(running)
    assert result.code == Code.STOPPED
    assert "the language planner fell silent" in result.message
    assert fresh.works_again()


def test_an_executor_that_was_held_up_does_not_go_on_with_a_plan_that_was_given_up(fresh):
    running = fresh.start("to and fro")
    fresh.wait(lambda: fresh.plan.state == PlanStatus.RUNNING)
    signal_to(fresh, "plan_executor", signal.SIGSTOP)
    result = fresh.finish(running)
    assert result.code == Code.EXECUTOR_LOST
    fresh.wait_until_at_rest()
    resting = fresh.qpos
    signal_to(fresh, "plan_executor", signal.SIGCONT)
    fresh.wait(lambda: fresh.plan.state != PlanStatus.RUNNING)
    fresh.client.spin_for(1.0)
    assert fresh.qpos == pytest.approx(resting, abs=0.02)
    assert fresh.works_again()


@pytest.fixture(scope="module")
def served(
    tmp_path_factory: pytest.TempPathFactory,
    start_system: Callable[..., AbstractContextManager[Any]],
    start_model: Callable[[], Any],
) -> Iterator[Any]:
    """A system whose model is a server on loopback, and that server."""
    server = start_model()
    with start_system(tmp_path_factory.mktemp("served"), {"model": "openai"}, server.variables) as system:
        yield system, server
    server.die()


@pytest.mark.parametrize(
    ("text", "words"),
    [("stall for ever", "did not answer within 1 s, 3 times"), ("drop the line", "broke off in the middle")],
)
def test_a_server_that_does_not_answer_well_is_told_in_time_and_nothing_moves(served, text, words):
    system, _ = served
    system.reset()
    before = system.qpos
    result = system.say(text)
    assert (result.code, words in result.message) == (Code.MODEL_UNAVAILABLE, True), result.message
    assert system.qpos == pytest.approx(before, abs=1e-3)


@pytest.mark.parametrize("words", ["hold on", "forget the whole thing"])
def test_a_hold_while_the_model_still_thinks_drops_the_command(served, words):
    system, _ = served
    system.reset()
    thinking = system.client.submit("stall for ever")
    system.wait(lambda: thinking.is_answered)
    system.client.spin_for(0.5)  # everybody has heard of it
    answer = system.client.correct(words)
    assert answer.message == "“stall for ever” had not begun and is dropped"
    assert system.finish(thinking).code == Code.STOPPED


def test_a_plan_needs_no_model_any_more_and_without_one_the_next_command_is_refused(served):
    system, server = served
    system.reset()
    running = system.start("put the red block in the green bowl")
    server.die()
    assert system.finish(running).succeeded
    resting = system.qpos
    result = system.say("put the red block in the green bowl")
    assert result.code == Code.MODEL_UNAVAILABLE
    assert "cannot be reached; is it running" in result.message
    assert system.qpos == pytest.approx(resting, abs=0.02)

"""Commands to a running system: real nodes, real DDS, physics; only the language model is a table."""

from __future__ import annotations

import pytest
from llm_planner_interfaces.action import ExecuteCommand

from llm_planner.scene.predicates import in_

Code = ExecuteCommand.Result


def test_a_command_is_carried_out_and_the_simulated_scene_shows_it(fresh):
    steps = []
    result = fresh.client.execute(
        "put the red block in the green bowl",
        lambda progress: steps.append([step.status.value for step in progress.steps]),
    )
    assert result.code == Code.SUCCEEDED, result.message
    assert result.message == "The red block is in the green bowl."
    assert in_(fresh.scene, "red block", "green bowl")
    assert ["running", "pending"] in steps
    assert ["done", "running"] in steps


@pytest.mark.parametrize(
    ("text", "code", "words"),
    [
        ("pick up the purple vase", Code.QUESTION, "purple vase"),
        ("", Code.QUESTION, "empty"),
        ("?! 123", Code.QUESTION, "I need words"),
        ("glorp the wibble", Code.MODEL_UNAVAILABLE, "no answer to 'glorp the wibble'"),
        ("word " * 2000, Code.REFUSED, "10000 characters"),
        ("delete everything", Code.REFUSED, "import"),
        ("climb out", Code.REFUSED, "__class__"),
    ],
    ids=["absent object", "empty", "no words", "nonsense", "10 kB", "import", "attribute escape"],
)
def test_what_cannot_be_done_is_told_and_nothing_moves(fresh, text, code, words):
    before = fresh.qpos
    result = fresh.say(text)
    assert (result.code, words in result.message) == (code, True), result.message
    heard = fresh.time
    fresh.wait(lambda: fresh.time > heard + 0.3)
    assert fresh.qpos == pytest.approx(before, abs=1e-3)


def test_an_answer_completes_the_command_that_ended_with_a_question(fresh):
    assert fresh.say("lift the block").code == Code.QUESTION
    result = fresh.say("the blue one")
    assert result.succeeded, result.message
    assert fresh.scene.held == "blue block"


def test_a_command_may_name_the_model_that_reads_it(fresh):
    result = fresh.client.execute("put the mug on the left side", lambda progress: None, model="embedded")
    assert result.succeeded, result.message
    refused = fresh.client.execute("wave", lambda progress: None, model="oracle")
    assert (refused.code, "choose one of: embedded, openai, scripted" in refused.message) == (Code.REFUSED, True)


def test_a_second_command_waits_for_the_first_and_says_so(fresh):
    messages: list[str] = []
    first = fresh.client.submit("put the red block in the green bowl")
    second = fresh.client.submit("wave", lambda progress: messages.append(progress.message))
    assert fresh.finish(first).succeeded
    assert fresh.finish(second).succeeded
    assert "queued behind “put the red block in the green bowl”" in messages


def test_a_full_queue_refuses_and_a_stop_drops_all_that_waits(fresh):
    running = fresh.start("to and fro")
    waiting = [fresh.client.submit("wave") for _ in range(8)]
    fresh.wait(lambda: all(item.is_answered for item in waiting))
    refused = fresh.say("wave")
    assert refused.code == Code.QUEUE_FULL
    assert "8 commands are waiting already" in refused.message
    assert fresh.say("please stop").message == "Stopped."
    assert fresh.finish(running).code == Code.STOPPED
    assert {fresh.finish(item).code for item in waiting} == {Code.STOPPED}


def test_stop_in_the_middle_of_a_motion_brings_the_arm_to_rest(fresh):
    with fresh.in_real_time():
        running = fresh.start("put the red block in the green bowl")
        asked = fresh.time
        assert fresh.client.stop("test").was_running
        fresh.wait(lambda: fresh.speed < 0.01)
        assert fresh.time - asked < 1.5
        result = fresh.finish(running)
    assert result.code == Code.STOPPED
    assert not in_(fresh.scene, "red block", "green bowl")


def test_after_a_stop_the_next_command_works(fresh):
    running = fresh.start("to and fro")
    fresh.client.stop("test")
    fresh.finish(running)
    assert fresh.say("wave").succeeded


def test_stopping_an_idle_robot_says_that_there_is_nothing_to_stop(fresh):
    result = fresh.client.stop("test")
    assert result.message == "no plan was running"


def test_canceling_a_command_stops_the_arm(fresh):
    running = fresh.start("put the red block in the green bowl")
    running.cancel()
    assert fresh.finish(running).code == Code.CANCELED
    fresh.wait_until_at_rest()

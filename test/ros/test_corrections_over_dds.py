"""What is said while the robot works: real nodes, real DDS, physics; only the language model is a table."""

from __future__ import annotations

import json
import os
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest
import rclpy
from llm_planner_interfaces.action import ExecuteCommand
from llm_planner_interfaces.msg import CorrectionResult, PlanStatus
from llm_planner_interfaces.srv import EditPlan
from rclpy.context import Context
from rclpy.signals import SignalHandlerOptions
from rclpy.task import Future
from std_msgs.msg import String

from llm_planner.corrections.edit_json import edit_json
from llm_planner.corrections.edits import Adjust, Change, Edit, Insert, Outcome, Rebind
from llm_planner.corrections.situation import Situation
from llm_planner.ros.base_node import RELIABLE
from llm_planner.ros.node_executor import NodeExecutor
from llm_planner.ros.nodes.correction_listener_node import CorrectionListenerNode
from llm_planner.scene.predicates import in_
from llm_planner.scene.scene import Scene

COMMAND = "put the red block in the green bowl"
SLOWER = Adjust("speed", Change.SCALE, 0.5)
Code = EditPlan.Response
Say = Callable[[str], None]
Results = list[CorrectionResult]
SETTLED = 0.6  # [s, robot time] until an arm keeps a limit, on a busy machine too


@pytest.fixture(autouse=True)
def rest(fresh) -> Iterator[None]:
    yield
    fresh.client.stop("the test is over")


@pytest.fixture
def edit_plan(fresh) -> Callable[..., EditPlan.Response]:
    def call(edit: Edit | str, **options: object) -> EditPlan.Response:
        text = edit if isinstance(edit, str) else json.dumps(edit_json(edit))
        return fresh.call(EditPlan, "edit_plan", EditPlan.Request(edit=text, **options))

    return call


@pytest.fixture
def memory(tmp_path) -> Path:
    return tmp_path / "memory.sqlite"


@contextmanager
def second_listener(
    system, read: Callable[[str, Situation], Edit], memory: Path, *own: str
) -> Iterator[tuple[Say, Results]]:
    """A listener in this process with a reader of the test's, on topics of its own (and `own`): says something to it;
    what it made of that."""
    context = Context()
    domain = int(system.environment["ROS_DOMAIN_ID"])
    rclpy.init(context=context, domain_id=domain, signal_handler_options=SignalHandlerOptions.NO)
    renamed = [f"{topic}:=second/{topic}" for topic in ("correction", "correction_result", "transcript", *own)]
    arguments = ["--ros-args", *(word for name in renamed for word in ("-r", name)), "-p", f"memory:={memory}"]
    node = CorrectionListenerNode("second_listener", lambda model: read, context=context, cli_args=arguments)
    executor = NodeExecutor(context=context)
    executor.add_node(node)
    node.trigger_configure()
    node.trigger_activate()
    done = Future(executor=executor)
    thread = threading.Thread(target=executor.spin_until_future_complete, args=(done,))
    thread.start()
    results: Results = []
    said = system.client.node.create_publisher(String, "second/correction", RELIABLE)
    told = system.client.node.create_subscription(
        CorrectionResult, "second/correction_result", results.append, RELIABLE
    )
    try:
        system.wait(lambda: said.get_subscription_count() > 0 and told.get_publisher_count() > 0)
        system.wait(lambda: node._result.get_subscription_count() > 0)
        yield lambda words: said.publish(String(data=words)), results
    finally:
        system.client.node.destroy_publisher(said)
        system.client.node.destroy_subscription(told)
        done.set_result(None)  # `shutdown` destroys what a thread that still spins goes on using
        executor.wake()
        thread.join()
        executor.shutdown()
        node.close()
        node.destroy_node()
        rclpy.shutdown(context=context)


def running_step(system) -> str:
    return next((step.id for step in system.plan.steps if step.status == step.RUNNING), "")


def applied(answer) -> bool:
    return answer.outcome is Outcome.APPLIED


def position(scene: Scene, name: str) -> tuple[float, float, float]:
    return scene.find(name).position


def test_slower_slows_the_motion_that_is_under_way(fresh):
    running = fresh.start("to and fro")
    fresh.wait(lambda: fresh.speed > 0.8)
    answer = fresh.client.correct("much slower")
    assert applied(answer), answer.message
    assert answer.message == "~ speed 1 -> 0.25 of the full speed"
    said, speeds = fresh.time, []
    fresh.client.watch_joints(lambda time, qpos, qvel, width: speeds.append(max(map(abs, qvel))))
    fresh.wait(lambda: fresh.time > said + SETTLED)
    speeds.clear()
    fresh.wait(lambda: fresh.time > said + SETTLED + 2.0)
    assert np.median(speeds) > 0.05
    assert max(speeds) < 0.25 * 2.61 + 0.05  # the fastest joint's limit [rad/s], and what a busy machine makes up for
    assert fresh.plan.version == 1
    assert not running.is_done


def test_to_the_left_moves_where_it_is_put_down(fresh):
    running = fresh.start("lay the red block down")
    fresh.wait(lambda: running_step(fresh) == "2" or running.is_done)
    answer = fresh.client.correct("to the left")
    assert applied(answer), answer.message
    result = fresh.finish(running)
    assert result.succeeded, result.message
    x, y, _ = position(fresh.scene, "red block")
    assert (x, y) == pytest.approx((0.4, -0.28 + 0.04), abs=0.02)


def test_no_the_blue_one_before_the_grasp_takes_the_other_and_leaves_the_first_where_it_is(fresh):
    before = position(fresh.scene, "red block")
    running = fresh.start(COMMAND)
    for words in ("half speed", "no, the blue one"):  # slower: the words come in time on a slow machine, too
        answer = fresh.client.correct(words)
        assert applied(answer), answer.message
    result = fresh.finish(running)
    assert result.succeeded, result.message
    assert in_(fresh.scene, "blue block", "green bowl")
    assert position(fresh.scene, "red block") == pytest.approx(before, abs=0.01)
    assert json.loads(fresh.plan.edits[-1])["words"] == "no, the blue one"


def test_held_for_long_it_stays_at_rest_and_goes_on_when_told(fresh):
    running = fresh.start(COMMAND)
    assert applied(fresh.client.correct("hold on"))
    fresh.wait_until_at_rest()
    assert fresh.plan.state == PlanStatus.PAUSED
    fresh.client.spin_for(4.5)  # longer than the executor waits for a planner that has fallen silent
    assert fresh.speed < 0.01
    assert fresh.plan.state == PlanStatus.PAUSED
    assert not running.is_done
    assert applied(fresh.client.correct("go on"))
    result = fresh.finish(running)
    assert result.succeeded, result.message


def test_a_held_plan_is_stopped_by_a_word(fresh):
    running = fresh.start(COMMAND)
    fresh.client.correct("wait")
    assert fresh.client.correct("stop").message == "stopped"
    assert fresh.finish(running).code == ExecuteCommand.Result.STOPPED


def test_a_stop_does_not_wait_for_words_that_are_still_being_read(fresh, memory):
    never = threading.Event()

    def hang(words: str, situation: Situation) -> Edit:
        never.wait(60.0)
        return Edit((), words, situation.version)

    with second_listener(fresh, hang, memory) as (say, results):
        running = fresh.start(COMMAND)
        say("do it in some way or other")
        say("Stop!")
        fresh.wait(lambda: len(results) >= 2)
        never.set()
    assert {result.words: result.message for result in results} == {
        "Stop!": "stopped",
        "do it in some way or other": "dropped, because you said stop",
    }
    assert fresh.finish(running).code == ExecuteCommand.Result.STOPPED
    fresh.wait_until_at_rest()


def test_what_has_a_stop_in_it_holds_and_the_plan_stays(fresh):
    running = fresh.start(COMMAND)
    assert applied(fresh.client.correct("hold on, stop there, I need my phone"))
    fresh.wait(lambda: fresh.plan.state == PlanStatus.PAUSED)
    fresh.wait_until_at_rest()
    assert not running.is_done
    assert applied(fresh.client.correct("go on"))
    assert fresh.finish(running).succeeded


def test_words_that_were_read_for_a_plan_that_has_changed_since_are_read_again(fresh, edit_plan, memory):
    versions = []

    def read(words: str, situation: Situation) -> Edit:
        versions.append(situation.version)
        if len(versions) == 1:  # the plan changes while these words are being read
            return Edit((SLOWER,), words, situation.version + 7)
        return Edit((SLOWER,), words, situation.version)

    with second_listener(fresh, read, memory) as (say, results):
        fresh.start("to and fro")
        say("slower please")
        fresh.wait(lambda: bool(results))
    assert (results[0].outcome, len(versions)) == (CorrectionResult.APPLIED, 2)
    stale = edit_plan(Edit((SLOWER,), "slower", version=0))
    assert (stale.error_code, stale.version) == (Code.STALE, 1)
    assert "the plan is at version 1 now; the edit was made for 0" in stale.error_msg


def test_where_nothing_is_seen_that_is_said(fresh, memory):
    with second_listener(fresh, lambda words, situation: Edit((SLOWER,), words), memory, "scene") as (say, results):
        say("slower please")
        fresh.wait(lambda: bool(results))
    assert results[0].outcome == CorrectionResult.REFUSED
    assert results[0].message == "Nothing shows me the scene. Is the simulator, or the robot's perception, running?"


def test_words_that_are_always_overtaken_are_given_up(fresh, memory):
    times = []

    def outrun(words: str, situation: Situation) -> Edit:
        times.append(words)
        return Edit((SLOWER,), words, situation.version + len(times))

    with second_listener(fresh, outrun, memory) as (say, results):
        fresh.start("to and fro")
        say("slower please")
        fresh.wait(lambda: bool(results))
    assert results[0].outcome == CorrectionResult.REFUSED
    assert results[0].message == "the plan changes faster than I can read; say it again"


def test_words_for_a_step_that_is_over_are_read_a_few_times_more_and_then_refused(fresh, memory):
    readings = []

    def too_late(words: str, situation: Situation) -> Edit:
        readings.append(words)
        return Edit((Rebind("1", "object", "blue block"),), words, situation.version)

    with second_listener(fresh, too_late, memory) as (say, results):
        running = fresh.start(COMMAND)
        fresh.wait(lambda: running_step(fresh) == "2" or running.is_done)
        say("no, the blue one")
        fresh.wait(lambda: bool(results))
    assert results[0].outcome == CorrectionResult.REFUSED
    assert 2 <= len(readings) <= 6  # until what is seen here has caught up with what was done
    assert results[0].message == 'step 1, pick("red block"), is over (done) and cannot be changed any more'


def test_an_edit_that_cannot_be_made_leaves_the_plan_and_says_why(fresh, edit_plan):
    running = fresh.start(COMMAND)
    steps = [step.id for step in fresh.plan.steps]
    refused = edit_plan(Edit((Insert("pick", {"object": "vase"}, "2"),), "first the vase"))
    assert refused.error_code == Code.REFUSED
    assert "the rest of the plan could not be done then" in refused.error_msg
    assert edit_plan("slower").error_code == Code.INVALID
    assert edit_plan(Edit((SLOWER,)), plan_id="another").error_code == Code.NO_PLAN
    result = fresh.finish(running)
    assert result.succeeded, result.message
    assert ([step.id for step in fresh.plan.steps], fresh.plan.version) == (steps, 0)


def test_what_is_only_looked_at_changes_nothing(fresh, edit_plan):
    fresh.start("to and fro")
    seen = edit_plan(Edit((SLOWER,)), only_check=True)
    assert (seen.error_code, list(seen.difference)) == (Code.ACCEPTED, ["~ speed 1 -> 0.5 of the full speed"])
    assert (seen.version, fresh.plan.version) == (0, 0)


def test_without_a_plan_one_is_told_to_say_it_as_a_command(fresh):
    answer = fresh.client.correct("slower")
    assert (answer.outcome, answer.message) == (Outcome.NOTHING, "no plan is running: say it as a command")
    answer = fresh.client.correct("stop")
    assert (answer.outcome, answer.message) == (Outcome.NOTHING, "no plan was running")


def test_when_the_listener_dies_nothing_is_lost_and_the_edit_can_still_be_taken_back(fresh):
    fresh.start("to and fro")
    assert applied(fresh.client.correct("much slower"))
    os.kill(fresh.processes.pid("correction_listener"), signal.SIGKILL)
    fresh.wait(lambda: fresh.client.node.count_subscribers("correction") == 2)  # the dead one is not forgotten yet
    assert (fresh.plan.state, fresh.plan.version) == (PlanStatus.RUNNING, 1)
    answer = fresh.client.correct("undo that")
    assert applied(answer), answer.message
    assert answer.message == "~ speed 0.25 -> 1 of the full speed"


def test_after_the_executor_dies_it_tells_what_was_done_and_what_was_corrected(fresh):
    running = fresh.start(COMMAND)
    assert applied(fresh.client.correct("slower"))
    killed = fresh.plan.executor
    os.kill(fresh.processes.pid("plan_executor"), signal.SIGKILL)
    assert fresh.finish(running).code == ExecuteCommand.Result.EXECUTOR_LOST
    fresh.wait_until_at_rest()
    fresh.wait(lambda: fresh.plan.executor != killed)
    left = f"left unfinished earlier: “{COMMAND}”, before any step was done, corrected by “slower”"
    assert fresh.plan.message == f"{left}; say “go on” to have the rest done"
    fresh.wait(lambda: left in fresh.client.correct("slower").message)  # once the listener knows the new one

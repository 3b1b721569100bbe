"""The console as a process: what the other nodes say reaches a page, and what a page says reaches them."""

from __future__ import annotations

import json
import random
import re
import time
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import pytest

pytest.importorskip("viser", reason="the console needs the package viser")

import rclpy
from llm_planner_interfaces.action import ExecuteCommand
from llm_planner_interfaces.msg import CommandStatus, CorrectionResult, PlanStatus, PlanStep, SceneObject
from llm_planner_interfaces.msg import Scene as SceneMsg
from llm_planner_interfaces.srv import StopRobot
from rclpy.action import ActionClient, GoalResponse
from rclpy.action.server import ServerGoalHandle
from rclpy.context import Context
from rclpy.executors import SingleThreadedExecutor
from rclpy.node import Node
from rclpy.signals import SignalHandlerOptions
from sensor_msgs.msg import JointState
from std_msgs.msg import Empty, String, UInt8MultiArray
from websockets.sync.client import connect

from llm_planner.cli.processes import NodeOptions, NodeProcesses, own_network
from llm_planner.ros.base_node import COMMANDS, LATCHED, RELIABLE, SPOKEN, STATES
from llm_planner.ros.node_table import EVERY_NODE, GRAPH, NODES
from llm_planner.ros.sender_identity import IdentifyingActionServer

TIMEOUT = 90.0  # [s] of wall time: generous, because the machine may be busy
WAVE = PlanStep(id="s1", line=1, skill="go_home", status=PlanStep.RUNNING)


class Others:
    """The nodes that the console speaks with, in one with the executor's name; what it says to them is in `said`."""

    def __init__(self, domain: int) -> None:
        self._context = Context()
        rclpy.init(context=self._context, domain_id=domain, signal_handler_options=SignalHandlerOptions.NO)
        self.node = Node("plan_executor", context=self._context)
        self._executor = SingleThreadedExecutor(context=self._context)
        self._executor.add_node(self.node)
        self.said: list[tuple[str, Any]] = []
        for kind, topic in ((String, "correction"), (String, "correction_preview"), (Empty, "stop"),
                            (UInt8MultiArray, "audio")):  # fmt: skip
            self.node.create_subscription(kind, topic, lambda message, topic=topic: self._hear(topic, message), SPOKEN)
        self.node.create_service(StopRobot, "stop", self._stop)
        self._planner = IdentifyingActionServer(
            self.node, ExecuteCommand, "execute_command", self._execute, goal_callback=self._on_goal
        )
        self.scene = self.node.create_publisher(SceneMsg, "scene", STATES)
        self.joints = self.node.create_publisher(JointState, "joint_states", STATES)
        self.status = self.node.create_publisher(PlanStatus, "plan_status", LATCHED)
        self.command = self.node.create_publisher(CommandStatus, "command_status", COMMANDS)
        self.answer = self.node.create_publisher(CorrectionResult, "correction_result", SPOKEN)
        self.transcript = self.node.create_publisher(String, "transcript", RELIABLE)
        self.node.create_timer(0.05, self._beat)

    def _hear(self, topic: str, message: Any) -> None:
        self.said.append((topic, getattr(message, "data", None)))

    def _stop(self, request: StopRobot.Request, response: StopRobot.Response) -> StopRobot.Response:
        self.said.append(("stop service", request.reason))
        response.error_code = StopRobot.Response.STOPPED
        return response

    def _on_goal(self, goal: ExecuteCommand.Goal) -> GoalResponse:
        self.said.append(("execute_command", (goal.command, goal.source, self._planner.sender)))
        return GoalResponse.ACCEPT

    def _execute(self, handle: ServerGoalHandle) -> ExecuteCommand.Result:
        handle.succeed()
        return ExecuteCommand.Result(error_code=ExecuteCommand.Result.SUCCEEDED)

    def _beat(self) -> None:
        cube = SceneObject(name="red block", kind="block", color="red")
        cube.pose.orientation.w = 1.0
        cube.size.x = cube.size.y = cube.size.z = 0.04
        now = self.node.get_clock().now().to_msg()
        scene = SceneMsg(world="tabletop", objects=[cube], speed=0.1)
        scene.header.stamp, scene.header.frame_id = now, "panda_link0"
        scene.robot.orientation.w = scene.base.orientation.w = 1.0
        self.scene.publish(scene)
        state = JointState(name=["a"], position=[0.0], velocity=[0.0])
        state.header.stamp = now
        self.joints.publish(state)

    def until(self, condition: Callable[[], Any], timeout: float = TIMEOUT) -> Any:
        """Spin until the condition holds, and return its value."""
        deadline = time.monotonic() + timeout
        while not (value := condition()):
            assert time.monotonic() < deadline, f"it did not come true; said: {self.said}"
            self._executor.spin_once(timeout_sec=0.05)
        return value

    def close(self) -> None:
        self._executor.shutdown()
        self.node.destroy_node()
        rclpy.try_shutdown(context=self._context)


class Page:
    """A page without a browser: the newest state, as its script keeps it."""

    def __init__(self, others: Others, address: str) -> None:
        self._others, self._address = others, address
        self.events, self.state = self.open("/events"), dict[str, Any]()

    def open(self, path: str):
        origin = self._address.rstrip("/")
        return connect(origin.replace("http", "ws") + path, origin=origin, proxy=None).__enter__()

    def say(self, what: str, words: str) -> None:
        self.events.send(json.dumps({"do": what, "words": words}))

    def until(self, condition: Callable[[dict[str, Any]], Any]) -> Any:
        def seen() -> Any:
            with suppress(TimeoutError):
                self.state.update(json.loads(self.events.recv(0.01)))
            try:
                return condition(self.state)
            except (KeyError, IndexError):
                return None

        return self._others.until(seen)


@pytest.fixture(scope="module")
def network(tmp_path_factory):
    environment = own_network(random.Random())
    others = Others(int(environment["ROS_DOMAIN_ID"]))
    log = tmp_path_factory.mktemp("console") / "nodes.log"
    console = [entry for entry in NODES if entry.name == "console"]
    with NodeProcesses(console, NodeOptions({"console": {"port": "0"}}), log, environment):
        address = others.until(lambda: re.search(r"The console is at (\S+)", log.read_text()))[1]
        yield others, address
    others.close()


@pytest.fixture
def others(network) -> Others:
    network[0].said.clear()
    return network[0]


@pytest.fixture
def page(network):
    one = Page(*network)
    yield one
    one.events.close()


def lately(state: dict[str, Any]) -> dict[str, Any]:
    return state["talk"][-1]


def test_a_page_shows_the_plan_the_motion_and_that_they_are_live(others, page):
    others.status.publish(PlanStatus(plan_id="p", state=PlanStatus.RUNNING, command="wave", steps=[WAVE]))

    page.until(lambda state: state["plan"]["state"] == "running" and state["live"]["scene"])
    assert page.state["plan"]["steps"][0]["text"] == "go_home()"
    assert page.state["motion"]["speed"] == 0.1


def test_words_are_a_command_at_rest_and_a_correction_under_way(others, page):
    others.status.publish(PlanStatus(plan_id="p", state=PlanStatus.SUCCEEDED))
    page.until(lambda state: state["plan"]["state"] == "done")
    page.say("say", " put the red block\nin the bowl ")
    others.until(lambda: ("execute_command", ("put the red block in the bowl", "console", "console")) in others.said)

    others.status.publish(PlanStatus(plan_id="q", state=PlanStatus.RUNNING))
    page.until(lambda state: state["plan"]["state"] == "running")
    page.say("say", "slower")
    page.say("preview", "no, the blue one")
    others.until(lambda: ("correction", "slower") in others.said and len(others.said) >= 3)
    assert ("correction_preview", "no, the blue one") in others.said


def test_a_goal_that_claims_to_be_of_the_console_is_known_by_its_sender(others):
    forger = ActionClient(others.node, ExecuteCommand, "execute_command")
    others.until(forger.server_is_ready)
    forger.send_goal_async(ExecuteCommand.Goal(command="wave", source="console"))
    others.until(lambda: others.said)
    assert others.said == [("execute_command", ("wave", "console", "plan_executor"))]
    forger.destroy()


def test_the_answer_to_a_question_goes_where_the_question_came_from(others, page):
    others.status.publish(PlanStatus(plan_id="r", state=PlanStatus.SUCCEEDED))
    asked = CorrectionResult(outcome=CorrectionResult.QUESTION, message="shall I keep this in mind? (yes / no)")
    page.until(lambda state: state["plan"]["state"] == "done")
    others.answer.publish(asked)
    page.until(lambda state: lately(state)["options"] == ["yes", "no"])
    page.say("say", "yes")
    others.until(lambda: others.said == [("correction", "yes")])


def test_what_others_say_is_in_the_talk_once(others, page):
    for state in (CommandStatus.PLANNING, CommandStatus.EXECUTING, CommandStatus.EXECUTING):
        others.command.publish(CommandStatus(id="c", command="wave", state=state, message="planning"))
    ended = CommandStatus(id="c", command="wave", state=CommandStatus.ENDED, error_code=1, message="It waved.")
    others.command.publish(ended)

    page.until(lambda state: lately(state)["text"] == "It waved.")
    assert lately(page.state)["outcome"] == "succeeded"
    assert [one["text"] for one in page.state["talk"]].count("wave") == 1
    others.transcript.publish(String(data="slower"))
    page.until(lambda state: (lately(state)["who"], lately(state)["text"]) == ("person", "slower"))


def test_stop_goes_by_topic_and_service_and_says_that_the_robot_rests(others, page):
    with page.open("/stop") as stop:
        stop.send("stop")

        def answered() -> str:
            try:
                return stop.recv(0.01)
            except TimeoutError:
                return ""

        assert others.until(answered) == "Stopped; the robot is at rest."
    assert ("stop", None) in others.said
    assert ("stop service", "the stop of the console was pressed") in others.said


def test_sound_goes_to_the_topic_audio(others, page):
    page.events.send(b"\x01\x02")
    others.until(lambda: others.said)
    assert [(topic, bytes(data)) for topic, data in others.said] == [("audio", b"\x01\x02")]


def test_what_is_no_request_and_what_cannot_be_read_changes_nothing(others, page):
    for request in ({}, {"do": "fly"}, {"do": "say"}, {"do": "say", "words": 5}, {"do": ["say"], "words": "x"}):
        page.events.send(json.dumps(request))
    others.status.publish(PlanStatus(plan_id="s", state=PlanStatus.RUNNING, steps=[PlanStep(id="x", status=77)]))
    others.status.publish(PlanStatus(plan_id="t", state=PlanStatus.STOPPED))
    page.until(lambda state: state["plan"]["id"] == "t")
    assert others.said == []


def test_a_page_that_comes_later_sees_the_same(others, page, network):
    others.status.publish(PlanStatus(plan_id="u", state=PlanStatus.PAUSED, command="wave"))
    page.until(lambda state: state["plan"]["state"] == "held")
    second = Page(*network)
    second.until(lambda state: state["plan"] == page.state["plan"] and state["talk"] == page.state["talk"])
    second.events.close()


def test_it_publishes_what_the_table_of_the_graph_says(others, page):
    def published() -> set[str]:
        found = others.node.get_publisher_names_and_types_by_node("console", "/")
        return {name for name, _ in found if not name.startswith("/console/")}

    told = GRAPH["console"].publishes | EVERY_NODE.publishes
    assert "execute_command" in GRAPH["console"].sends
    others.until(lambda: published() == {f"/{name.lstrip('/')}" for name in told})


def test_silence_of_the_executor_is_said(others, page):
    others.status.publish(PlanStatus(plan_id="v", state=PlanStatus.RUNNING))
    page.until(lambda state: state["live"]["executor"])
    page.until(lambda state: not state["live"]["executor"])
    assert page.state["live"]["scene"]

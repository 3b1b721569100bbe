"""What the nodes publish, as others see it."""

from __future__ import annotations

import numpy as np
import pytest
from diagnostic_msgs.msg import DiagnosticArray
from lifecycle_msgs.srv import GetState
from llm_planner_interfaces.action import ExecuteCommand
from llm_planner_interfaces.msg import CommandStatus, Plan, PlanStatus
from llm_planner_interfaces.srv import ResetWorld
from rclpy.qos import DurabilityPolicy, QoSProfile, qos_profile_sensor_data
from rosgraph_msgs.msg import Clock
from sensor_msgs.msg import Image, JointState
from std_msgs.msg import String

from llm_planner.ros.conversions.message_checks import seconds
from llm_planner.ros.node_table import NODES_IN_SIMULATION

LATCHED = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)


@pytest.fixture
def listen(system):
    """Subscribe for the length of a test; gives the list that the messages come into."""
    subscriptions = []

    def subscribe(kind, topic, qos=qos_profile_sensor_data):
        messages = []
        subscriptions.append(system.client.node.create_subscription(kind, topic, messages.append, qos))
        return messages

    yield subscribe
    for subscription in subscriptions:
        system.client.node.destroy_subscription(subscription)


def test_the_safety_filter_knows_what_the_hand_holds(fresh, listen):
    messages = listen(DiagnosticArray, "/diagnostics")

    def told() -> list[str]:
        filters = [status for message in messages for status in message.status if status.name == "/safety_filter"]
        return [value.value for status in filters for value in status.values if value.key == "holds"]

    submission = fresh.client.submit("put the red block in the green bowl")
    fresh.wait(lambda: "something" in told() or submission.is_done)
    assert fresh.finish(submission).succeeded
    before = len(told())
    fresh.wait(lambda: len(told()) > before + 1)
    assert "something" in told()
    assert told()[-1] == "nothing"


def test_every_node_is_active(system):
    for entry in NODES_IN_SIMULATION:
        answer = system.call(GetState, f"{entry.name}/get_state", GetState.Request())
        assert answer.current_state.label == "active", entry.name


def test_joint_states_come_a_hundred_times_a_second_of_the_robots_time_at_rest_a_third_of_that_at_most(fresh, listen):
    def period(messages: list[JointState]) -> float:
        times = [message.header.stamp.sec + 1e-9 * message.header.stamp.nanosec for message in messages]
        return float(np.median(np.diff(np.array(times))))

    submission, messages = fresh.start("to and fro"), listen(JointState, "joint_states")
    fresh.wait(lambda: len(messages) >= 150)
    assert list(messages[0].name[:2]) == ["panda_joint1", "panda_joint2"]
    assert period(messages) == pytest.approx(0.01, rel=0.01)
    fresh.client.stop("test")
    fresh.finish(submission)
    fresh.wait_until_at_rest(1.0)
    before = len(messages)
    fresh.wait(lambda: len(messages) >= before + 30)
    assert 0.009 < period(messages[before:]) < 0.031


def test_the_clock_goes_with_the_joint_states(fresh, listen):
    clocks, states = listen(Clock, "/clock"), listen(JointState, "joint_states")
    fresh.wait(lambda: len(clocks) > 5 and len(states) > 5)
    assert {message.clock.sec for message in clocks} & {message.header.stamp.sec for message in states}


def test_all_nodes_stamp_with_the_clock_of_the_simulator(fresh, listen):
    """Which is not that of the machine: it runs at another pace, and leaps at each reset."""
    for _ in range(3):
        fresh.reset()
    reports, statuses = listen(DiagnosticArray, "/diagnostics"), listen(PlanStatus, "plan_status", LATCHED)
    nodes = {f"/{entry.name}" for entry in NODES_IN_SIMULATION}
    fresh.wait(lambda: nodes <= {one.name for message in reports for one in message.status} and len(statuses) > 2)
    began = fresh.time
    fresh.wait(lambda: fresh.time > began + 3.0)
    last = {one.name: seconds(message.header.stamp) for message in reports for one in message.status}
    last["plan_status"] = seconds(statuses[-1].header.stamp)
    assert {name: stamp for name, stamp in last.items() if not began - 3.0 < stamp < fresh.time + 0.5} == {}


def test_an_arm_that_has_nothing_to_do_stands_still(fresh):
    start, began = fresh.qpos, fresh.time
    fresh.wait(lambda: fresh.time > began + 1.0)
    assert fresh.qpos == pytest.approx(start, abs=1e-4)


@pytest.fixture
def diagnosed(fresh, listen):
    """What simulator and controller say of themselves while a command is carried out: name -> list of values."""
    messages = listen(DiagnosticArray, "/diagnostics")
    assert fresh.say("put the red block in the green bowl").succeeded
    heard = len(messages)
    fresh.wait(lambda: len(messages) >= heard + 2 * len(NODES_IN_SIMULATION))
    reports: dict[str, list[dict[str, str]]] = {}
    for message in messages:
        for status in message.status:
            reports.setdefault(status.name, []).append({pair.key: pair.value for pair in status.values})
    return reports


def test_no_limit_is_exceeded_and_the_controller_reports_its_times(diagnosed):
    last = diagnosed["/simulator"][-1]
    assert 0.1 < float(last["largest_velocity_share"]) <= 1.0
    assert 0.1 < float(last["largest_acceleration_share"]) <= 1.0
    reports = diagnosed["/mpc_controller"]
    assert all("missed_deadlines" in report for report in reports)
    solve_times = [float(report["solve_time_median_ms"]) for report in reports if "solve_time_median_ms" in report]
    assert min(solve_times) < 5.0


def test_a_plan_is_latched_and_its_status_follows(fresh, listen):
    assert fresh.say("wave").succeeded
    plans, states = listen(Plan, "plan", LATCHED), listen(PlanStatus, "plan_status", LATCHED)
    fresh.wait(lambda: bool(states) and states[-1].plan_id in [plan.id for plan in plans])
    plan = next(plan for plan in plans if plan.id == states[-1].plan_id)
    assert (plan.command, plan.program.strip()) == ("wave", "go_home()")
    assert [step.skill for step in plan.steps] == ["go_home"]
    assert states[-1].state == PlanStatus.SUCCEEDED


def test_a_command_on_the_topic_is_carried_out_and_a_stop_word_stops_it(fresh, listen):
    statuses = listen(CommandStatus, "command_status", 10)
    node = fresh.client.node
    publisher = node.create_publisher(String, "language_command", 10)
    fresh.wait(lambda: publisher.get_subscription_count() > 0 and node.count_publishers("command_status") > 0)
    publisher.publish(String(data="put the red block in the green bowl"))
    fresh.wait(lambda: fresh.speed > 0.1)
    publisher.publish(String(data="Whoa, stop!"))
    fresh.wait(lambda: sum(status.state == CommandStatus.ENDED for status in statuses) >= 2)
    fresh.wait_until_at_rest()
    ended = {status.command: status.error_code for status in statuses if status.state == CommandStatus.ENDED}
    code = ExecuteCommand.Result
    assert ended == {"put the red block in the green bowl": code.STOPPED, "Whoa, stop!": code.SUCCEEDED}
    node.destroy_publisher(publisher)


@pytest.mark.usefixtures("off_screen")
def test_pictures_come_while_somebody_watches(fresh, listen):
    messages = listen(Image, "camera/image_raw")
    fresh.wait(lambda: len(messages) >= 2)
    picture = np.frombuffer(messages[-1].data, np.uint8).reshape(messages[-1].height, messages[-1].width, 3)
    assert messages[-1].encoding == "rgb8"
    assert picture.std() > 10.0, "it shows nothing"


def test_an_object_that_does_not_exist_cannot_be_laid_out(fresh):
    answer = fresh.call(ResetWorld, "reset_world", ResetWorld.Request(seed=1, objects=["red dragon"]))
    assert answer.error_code == ResetWorld.Response.INVALID_OBJECTS
    assert "'dragon'" in answer.error_msg
    assert fresh.say("wave").succeeded


def test_the_same_seed_lays_the_same_table_out(fresh):
    first = {item.name: item.position for item in fresh.scene.objects}
    fresh.reset(seed=2)
    other = {item.name: item.position for item in fresh.scene.objects}
    fresh.reset(seed=1)
    again = {item.name: item.position for item in fresh.scene.objects}
    assert other["red block"] != pytest.approx(first["red block"], abs=1e-3)
    assert again["red block"] == pytest.approx(first["red block"], abs=1e-4)

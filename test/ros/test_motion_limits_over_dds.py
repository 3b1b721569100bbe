"""Patches, and what is wrong with states and references, reach the moving arm over real DDS."""

from __future__ import annotations

import itertools
import os
import signal
from dataclasses import dataclass, field

import numpy as np
import pytest
import rclpy
from llm_planner_interfaces.action import ExecuteCommand
from llm_planner_interfaces.msg import MotionConstraints, MotionPatch, MotionReference, MotionStatus
from sensor_msgs.msg import JointState

from llm_planner.control.motion_constraints import Patch
from llm_planner.robots.arm_model import ArmKinematics, arm_model
from llm_planner.robots.motion import MotionReference as Reference
from llm_planner.ros.base_node import LATCHED, NEWEST_ONLY, PATCHES, SENSOR_DATA
from llm_planner.ros.conversions.message_checks import seconds, stamp
from llm_planner.ros.conversions.motion_messages import patch_to_msg, reference_to_msg
from llm_planner.scene.scene import Pose
from llm_planner.scene.zones import Shape, Zone

PANDA = arm_model("panda")

JOINTS = (*PANDA.joints, *PANDA.fingers)
COMMAND = "put the red block in the green bowl"
AFAR = Pose((0.4, -0.4, 0.4), (1.0, 0.0, 0.0, 0.0))


@dataclass
class Observer:
    """What the controller says, and how fast the gripper moves, by the robot's time."""

    system: object
    constraints: MotionConstraints = None
    status: MotionStatus = None
    reasons: list[str] = field(default_factory=list)
    speeds: list[tuple[float, float]] = field(default_factory=list)
    arm: ArmKinematics = field(default_factory=PANDA.kinematics)

    def on_constraints(self, message: MotionConstraints) -> None:
        self.constraints = message

    def on_status(self, message: MotionStatus) -> None:
        self.status = message
        self.reasons += [message.reason] * bool(message.reason)

    def on_joints(self, message: JointState) -> None:
        if np.isfinite(message.position).all():
            _, _, jacobian = self.arm.jacobian(np.array(message.position[:7]))
            speed = np.linalg.norm(jacobian[:3] @ np.array(message.velocity[:7]))
            self.speeds.append((seconds(message.header.stamp), float(speed)))

    def between(self, begin: float, end: float) -> list[float]:
        """The gripper's speeds in this span of the robot's time [m/s]."""
        return [speed for time, speed in self.speeds if begin <= time < end]

    def ahead(self, limit: float, begin: float, end: float) -> float:
        """By how much the gripper went farther in any part of this span than at `limit` [m/s] all the time [m]."""
        most = lead = 0.0
        looks = [(time, speed) for time, speed in self.speeds if begin <= time < end]
        for (before, _), (time, speed) in itertools.pairwise(looks):
            lead = max(0.0, lead + (speed - limit) * (time - before))
            most = max(most, lead)
        return most

    @property
    def is_held(self) -> bool:
        return self.status is not None and self.status.state == MotionStatus.STOPPED


@pytest.fixture
def observer(fresh):
    """Listens for the length of a test."""
    watching, node = Observer(fresh), fresh.client.node
    subscriptions = [
        node.create_subscription(MotionConstraints, "motion_constraints", watching.on_constraints, LATCHED),
        node.create_subscription(MotionStatus, "motion_status", watching.on_status, LATCHED),
        node.create_subscription(JointState, "joint_states", watching.on_joints, SENSOR_DATA),
    ]
    fresh.wait(lambda: watching.constraints is not None and watching.status is not None and watching.speeds)
    yield watching
    for subscription in subscriptions:
        node.destroy_subscription(subscription)


@pytest.fixture
def publisher(fresh):
    """Publishers for the length of a test, once the controller hears them; it takes references of the server only."""
    publishers, node = [], rclpy.create_node("skill_server", context=fresh.client.node.context)

    def publish_on(kind, topic, qos):
        made = node.create_publisher(kind, topic, qos)
        publishers.append(made)
        fresh.wait(lambda: made.get_subscription_count() > 0)
        return made

    yield publish_on
    node.destroy_node()


def test_a_speed_that_is_tightened_in_motion_is_kept(fresh, observer, publisher):
    patches = publisher(MotionPatch, "motion_patch", PATCHES)
    running = fresh.start(COMMAND)
    fresh.wait(lambda: observer.speeds[-1][1] > 0.2)
    told = fresh.time
    patches.publish(patch_to_msg(Patch("the test", told, told + 60.0, speed=0.1), "panda_link0"))
    fresh.wait(lambda: observer.constraints.speed == 0.1)
    in_force = seconds(observer.constraints.header.stamp)
    assert list(observer.constraints.sources) == ["the test"]
    fresh.wait(lambda: fresh.time > in_force + 2.0)
    assert np.median(observer.between(in_force + 0.15, in_force + 2.0)) <= 0.1
    # What is commanded keeps the limit; a command that comes late on a busy machine is caught up with, a little faster.
    assert observer.ahead(0.1, in_force + 0.15, in_force + 2.0) < 0.01

    patches.publish(patch_to_msg(Patch("the test", fresh.time, fresh.time + 1.0), "panda_link0"))
    fresh.wait(lambda: observer.constraints.speed == np.inf)
    fresh.finish(running)  # on a busy machine the hand may have come too late for its skill
    assert fresh.works_again()
    assert max(observer.between(in_force + 2.0, fresh.time)) > 0.2


def test_a_patch_in_another_frame_is_refused_with_the_reason(fresh, observer, publisher):
    patches = publisher(MotionPatch, "motion_patch", PATCHES)
    zone = Zone("the vase", Shape.SPHERE, (0.05,), AFAR)
    patches.publish(patch_to_msg(Patch("a visitor", fresh.time, fresh.time + 5.0, zones=(zone,)), frame="map"))
    reason = "a visitor: its zones are in the frame 'map'; those of this robot are in 'panda_link0'"
    fresh.wait(lambda: reason in observer.constraints.refused)
    assert not observer.constraints.zones


def test_joint_states_that_are_no_numbers_hold_the_arm_and_end_the_skill(fresh, observer, publisher):
    states = publisher(JointState, "joint_states", SENSOR_DATA)
    running = fresh.start(COMMAND)

    def spoil() -> bool:
        message = JointState(name=JOINTS, position=[float("nan")] * len(JOINTS), velocity=[0.0] * len(JOINTS))
        message.header.stamp = stamp(fresh.time + 0.02)
        states.publish(message)
        return running.is_done  # the step is tried twice

    fresh.wait(spoil)
    result = fresh.finish(running)
    assert result.code == ExecuteCommand.Result.SKILL_FAILED
    # Whoever sees it first, the controller or the skills, to which such a state is none.
    told = ("the positions in the robot's state are not all finite", "the robot's joint_states cannot be used")
    assert any(one in result.message for one in told), result.message
    fresh.wait(lambda: fresh.speed < 0.01 and observer.is_held)
    assert fresh.works_again()
    assert not observer.is_held


def test_when_the_states_stop_the_arm_is_held_until_the_next_command(fresh, observer):
    running = fresh.start(COMMAND)
    os.kill(fresh.processes.pid("simulator"), signal.SIGSTOP)
    try:
        fresh.wait(lambda: observer.is_held)
        reason = observer.status.reason
    finally:
        os.kill(fresh.processes.pid("simulator"), signal.SIGCONT)
    assert reason == "the robot's states have stopped: nothing newer for 1 s"
    fresh.finish(running)  # either way: a step that failed is tried once more, and by then the states are back
    assert fresh.works_again()
    assert not observer.is_held


@pytest.mark.parametrize(("epoch", "ahead"), [(0, 0.0), (2**62, 10.0)], ids=["of an earlier run", "from the future"])
def test_references_of_another_time_move_nothing(fresh, observer, publisher, epoch, ahead):
    assert fresh.say("wave").succeeded
    references = publisher(MotionReference, "motion_reference", NEWEST_ONLY)
    began = fresh.time

    def ask() -> bool:
        references.publish(
            reference_to_msg(Reference(fresh.time + ahead, 0.05, (AFAR,), 0.08, epoch=epoch), "panda_link0")
        )
        return fresh.time > began + 1.0

    fresh.wait(ask)
    assert max(observer.between(began, fresh.time)) < 0.01
    assert fresh.works_again()

"""The whole system beside a double of move_group, over DDS: MoveIt knows what holds, and the arm what MoveIt knows."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from math import dist

import numpy as np
import pytest
from llm_planner_interfaces.msg import MotionConstraints

from llm_planner.robots.arm_model import arm_model
from llm_planner.ros.base_node import LATCHED
from llm_planner.ros.conversions.geometry_messages import pose_to_msg
from llm_planner.scene.scene import Pose
from llm_planner.scene.zones import Shape, Zone
from llm_planner.skills.arm_paths import distances

pytest.importorskip("moveit_msgs.srv", reason="moveit_msgs is not installed; make setup-dev builds a stand-in")
from moveit_msgs.msg import CollisionObject
from shape_msgs.msg import SolidPrimitive

from test.ros.move_group import MoveGroup

KINEMATICS = arm_model("panda").kinematics()
COMMAND, RULE = "put the red block in the green bowl", "G !over(robot, mug)"
LAYOUT = 46  # seed of a table with the bowl far from the block
HALF = (0.03, 0.03, 0.1)  # [m] of the crate
SOON = 20.0  # [s] of wall time: generous, because the machine may be busy


class Beside:
    """move_group in this process, the node in another one, and what the controller heeds."""

    def __init__(self, system) -> None:
        self.system, node = system, system.client.node
        self.move_group = MoveGroup(node, "panda_link0", {"panda_hand": Pose((0.0, 0.0, 0.0))})
        self.zones: set[str] = set()
        self.attached: set[str] = set()  # that ever were
        self.seen: set[str] = set()  # names that ever were in the world
        self._heard = node.create_subscription(MotionConstraints, "motion_constraints", self._on_constraints, LATCHED)
        self._looks = node.create_timer(0.02, self._on_look)

    def end(self) -> None:
        self.move_group.die()
        self.system.client.node.destroy_subscription(self._heard)
        self.system.client.node.destroy_timer(self._looks)

    def _on_constraints(self, message: MotionConstraints) -> None:
        self.zones = {zone.name for zone in message.zones}

    def _on_look(self) -> None:
        self.attached |= self.move_group.attached.keys()
        self.seen |= self.move_group.world.keys()

    def wait(self, until) -> None:
        self.system.wait(until, SOON)

    @contextmanager
    def running(self) -> Iterator[subprocess.Popen]:
        """The node, until the block ends."""
        words = ["-m", "llm_planner.ros.nodes.planning_scene_node", "--ros-args", "-p", "use_sim_time:=true"]
        process = subprocess.Popen(
            [sys.executable, *words, "-p", "robot:=panda"], env={**os.environ, **self.system.environment}
        )
        try:
            yield process
        finally:
            process.terminate()
            process.wait()

    def put(self, x: float, y: float, **given: object) -> Zone:
        """Another program puts a crate on the table in MoveIt's scene."""
        solid = SolidPrimitive(type=SolidPrimitive.BOX, dimensions=[2 * half for half in HALF])
        one = CollisionObject(id="crate", primitives=[solid], pose=pose_to_msg(Pose((x, y, HALF[2]))), **given)
        one.header.frame_id, one.primitive_poses = "panda_link0", [pose_to_msg(Pose((0.0, 0.0, 0.0)))]
        self.move_group.process(one)
        return Zone("the crate", Shape.BOX, HALF, Pose((x, y, HALF[2])))


@pytest.fixture
def beside(fresh) -> Iterator[Beside]:
    fresh.reset(seed=LAYOUT)
    beside = Beside(fresh)
    yield beside
    beside.end()


def test_a_task_under_a_rule_is_seen_in_moveit_as_it_goes_on(fresh, beside):
    with beside.running():
        beside.wait(lambda: {"red block", "green bowl", "mug", "table top"} <= beside.move_group.world.keys())
        result = fresh.client.execute(COMMAND, lambda progress: None, rules=[RULE])
        assert result.succeeded, result.message
        (zone,) = (name for name in beside.seen if name.startswith("keep out"))
        assert zone.startswith("keep out of the mug (rule 1: ")
        assert beside.attached == {"red block"}
        beside.wait(lambda: zone not in beside.move_group.world and not beside.move_group.attached)
        bowl = beside.move_group.world["green bowl"].pose.position
        beside.wait(lambda: abs(beside.move_group.world["red block"].pose.position.x - bowl.x) < 0.03)
        assert beside.move_group.errors == []
        assert not beside.zones, "nothing of ours came back as an obstacle"


def test_the_arm_goes_around_what_another_program_puts_in_its_way_or_says_what_it_is(fresh, beside):
    block, bowl = fresh.scene.find("red block").position, fresh.scene.find("green bowl").position
    gaps: list[float] = []
    with beside.running() as process:
        crate = beside.put((block[0] + bowl[0]) / 2, (block[1] + bowl[1]) / 2)
        beside.wait(lambda: "the crate" in beside.zones)

        def look(progress) -> None:
            hand = KINEMATICS.pose(np.array(fresh.qpos[:7])).position
            gaps.append(float(distances(crate, np.array(hand))))

        result = fresh.client.execute(COMMAND, look)
        assert result.succeeded, result.message
        assert dist(fresh.scene.find("red block").position[:2], bowl[:2]) < 0.03
        assert min(gaps) > 0.1

        beside.put(*fresh.scene.find("blue block").position[:2])
        beside.wait(lambda: "the crate" in beside.zones)
        result = fresh.say("lift the blue block")
        assert not result.succeeded
        assert "the crate" in result.message

        process.send_signal(signal.SIGKILL)
        beside.wait(lambda: "the crate" not in beside.zones)
    assert fresh.works_again()

"""The driver without hardware keeps to what ros2_control's controllers do with commands."""

from __future__ import annotations

from pathlib import Path
from runpy import run_path

import numpy as np
import pytest
from builtin_interfaces.msg import Duration
from std_msgs.msg import Float64MultiArray
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

from llm_planner.ros.conversions.message_checks import header
from llm_planner.scene.scene import Pose, Scene, SceneObject

pytest.importorskip("control_msgs.action", reason="control_msgs is not installed; make setup-dev builds a stand-in")

DRIVER = run_path(str(Path(__file__).parents[2] / "examples" / "ros" / "mock_ros2_control.py"))
JOINTS = ("a", "b")
DOWN = (1.0, 0.0, 0.0, 0.0)  # of a hand that points straight down


def point(after: float, position: float, velocity: float = 0.0) -> JointTrajectoryPoint:
    whole = int(after)
    return JointTrajectoryPoint(
        positions=[position, 0.0],
        velocities=[velocity, 0.0],
        accelerations=[0.0, 0.0],
        time_from_start=Duration(sec=whole, nanosec=round(1e9 * (after - whole))),
    )


def trajectory(begins: float, *points: JointTrajectoryPoint, names=JOINTS) -> JointTrajectory:
    return JointTrajectory(header=header(begins, ""), joint_names=list(names), points=list(points))


@pytest.fixture
def controller():
    return DRIVER["JointTrajectoryController"](JOINTS, np.zeros(2))


def test_it_passes_through_the_points_and_holds_the_last(controller):
    assert controller.accept(trajectory(10.0, point(0.0, 0.0), point(1.0, 0.2, 0.2), point(2.0, 0.3)), 10.0) == ""
    assert controller.state(11.0)[:2, 0] == pytest.approx([0.2, 0.2])
    assert controller.state(50.0)[:2, 0] == pytest.approx([0.3, 0.0])


def test_it_goes_on_smoothly_to_a_trajectory_that_begins_later(controller):
    controller.accept(trajectory(10.0, point(0.0, 0.0), point(1.0, 0.5, 0.5), point(2.0, 1.0)), 10.0)
    before = controller.state(11.0)
    assert controller.accept(trajectory(11.5, point(0.0, 0.6), point(1.0, 0.6)), 11.0) == ""
    assert controller.state(11.0) == pytest.approx(before)
    assert controller.state(11.5)[:2, 0] == pytest.approx([0.6, 0.0])


def test_the_order_of_the_joints_does_not_matter(controller):
    controller.accept(trajectory(10.0, point(0.0, 0.0), point(1.0, 0.2), names=("b", "a")), 10.0)
    assert controller.state(11.0)[0] == pytest.approx([0.0, 0.2])


@pytest.mark.parametrize(
    ("message", "refusal"),
    [
        (trajectory(10.0, point(0.0, 0.0), point(1.0, 0.2), names=("a", "c")), "it names the joints a, c"),
        (trajectory(10.0), "it names the joints a, b, or has no points"),
        (trajectory(8.0, point(0.0, 0.0), point(1.0, 0.2)), "it ended 1.000 s ago"),
        (trajectory(10.0, point(1.0, 0.0), point(1.0, 0.2)), "its times do not increase"),
        (trajectory(10.0, point(0.0, 0.0), point(1.0, 0.2, 0.1)), "its last velocity is not zero"),
    ],
)
def test_what_a_joint_trajectory_controller_refuses_changes_nothing(controller, message, refusal):
    assert controller.accept(message, 10.0).startswith(refusal)
    assert controller.state(11.0)[0] == pytest.approx([0.0, 0.0])


def test_a_forward_command_controller_repeats_its_last_command():
    controller = DRIVER["ForwardCommandController"](np.zeros(2))
    assert "3 values for 2 joints" in controller.accept(Float64MultiArray(data=[0.1, 0.2, 0.3]), 0.0)
    assert controller.accept(Float64MultiArray(data=[0.1, 0.2]), 0.0) == ""
    assert controller.state(100.0)[0] == pytest.approx([0.1, 0.2])


def test_an_object_is_held_from_the_stall_to_the_release_and_moves_with_the_hand():
    block = SceneObject("block", "block", "red", (0.5, 0.0, 0.02), (0.0, 0.0, 0.0, 1.0), (0.04, 0.06, 0.04))
    table = DRIVER["Table"](Scene(0.0, (block,)))
    around, above = Pose((0.5, 0.0, 0.02), DOWN), Pose((0.5, 0.0, 0.2), DOWN)
    assert table.between(above) == ("", 0.0)
    name, width = table.between(around)
    assert (name, width) == ("block", pytest.approx(0.06))
    table.follow(around, name, False)
    table.follow(above, "", False)
    seen = table.scene(1.0, above)
    assert (seen.held, seen.find("block").position) == ("block", pytest.approx((0.5, 0.0, 0.2)))
    table.follow(above, "", True)
    assert table.scene(1.0, above).held == ""

"""Whatever a message holds, converters give a valid value or raise InputError, and nothing else."""

from __future__ import annotations

import math
import random
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from fuzz_examples import examples
from fuzzed_messages import Fuzz, class_of
from geometry_msgs.msg import Twist
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from llm_planner_interfaces.action import ExecuteSkill
from llm_planner_interfaces.msg import (
    Constraint,
    CorrectionResult,
    MotionConstraints,
    MotionPatch,
    MotionReference,
    MotionTuning,
    Plan,
    PlanStatus,
    PlanStep,
    Scene,
    Zone,
)
from llm_planner_interfaces.srv import EditPlan
from nav_msgs.msg import Odometry
from sensor_msgs.msg import Image, JointState
from std_msgs.msg import Float64
from trajectory_msgs.msg import JointTrajectory

from llm_planner.errors import InputError
from llm_planner.robots.arm_model import arm_model
from llm_planner.robots.carried import Carried, Grip
from llm_planner.robots.motion import JointState as State
from llm_planner.robots.motion import JointTrajectory as Trajectory
from llm_planner.robots.motion import MotionReference as Reference
from llm_planner.ros.conversions import camera_messages as camera
from llm_planner.ros.conversions import correction_messages as corrections
from llm_planner.ros.conversions import motion_messages as motion
from llm_planner.ros.conversions import plan_messages as plans
from llm_planner.ros.conversions import robot_messages as robots
from llm_planner.ros.conversions import scene_messages as scenes
from llm_planner.ros.conversions.scene_messages import SceneReader
from llm_planner.scene.scene import Pose
from llm_planner.scene.scene import Scene as SceneValue

PANDA = arm_model("panda")

EXAMPLES = examples()


def _tried(converter: Callable[[Any], Any], message: Any) -> tuple[str, Any]:
    """Why the message is refused, or what it is."""
    try:
        return "", converter(message)
    except InputError as error:
        return str(error), None


def _is_rotation(pose: Pose) -> bool:
    return all(map(math.isfinite, pose.position)) and abs(math.hypot(*pose.orientation) - 1.0) < 1e-9


def _valid_scene(scene: SceneValue) -> None:
    assert len(set(scene.names)) == len(scene.names)
    for item in scene.objects:
        assert item.name.strip()
        assert _is_rotation(Pose(item.position, item.orientation))
        assert all(0 < side <= 100 for side in item.size)
    assert scene.robot is None or _is_rotation(scene.robot)
    assert 0 <= scene.speed <= 100
    assert scene.time >= 0


def _valid_state(state: State) -> None:
    assert np.isfinite(state.qpos).all()
    assert np.isfinite(state.qvel).all()


def _valid_trajectory(trajectory: Trajectory) -> None:
    assert trajectory.dt > 0
    assert np.isfinite(trajectory.qpos).all()
    assert len(trajectory.qpos) == len(trajectory.qvel) == len(trajectory.qacc) + 1


def _valid_reference(reference: Reference | None) -> None:
    assert reference is None or (reference.dt > 0 and all(map(_is_rotation, reference.poses)))


def _valid_arguments(arguments: dict[str, Any]) -> None:
    numbers = [value for value in arguments.values() if isinstance(value, float)]
    assert all(map(math.isfinite, numbers))


def _finite(values: Any) -> None:
    assert np.isfinite(np.array(values, float)).all()


CONVERTERS: list[tuple[type, Callable[[Any], Any], Callable[[Any], None]]] = [
    (Scene, scenes.scene_from_msg, _valid_scene),
    (JointState, lambda message: robots.joint_state_from_msg(message, PANDA.joints, PANDA.fingers)[0], _valid_state),
    (JointState, lambda message: robots.joint_state_unchecked(message, PANDA.joints, ()), lambda state: None),
    (JointTrajectory, lambda message: robots.trajectory_from_msg(message, PANDA), _valid_trajectory),
    (MotionReference, motion.reference_from_msg, _valid_reference),
    (ExecuteSkill.Goal, lambda goal: plans.arguments_from_msg(goal.arguments), _valid_arguments),
    (Image, camera.image_from_msg, lambda picture: None),
    (Twist, robots.velocity_from_msg, _finite),
    (Float64, robots.width_from_msg, lambda width: None),
    (Odometry, robots.odometry_from_msg, _valid_state),
    (Odometry, robots.odometry_unchecked, lambda state: None),
    (PlanStep, plans.step_from_msg, lambda step: None),
    (Constraint, plans.constraint_from_msg, lambda constraint: None),
    (Plan, plans.plan_from_msg, lambda plan: None),
    (Zone, motion.zone_from_msg, lambda zone: _finite(zone.size)),
    (MotionPatch, motion.patch_from_msg, lambda patch: None),
    (MotionConstraints, motion.speed_limit_from_msg, lambda speed: None),
    (MotionTuning, corrections.tuning_from_msg, lambda tuning: _finite(tuning.offset)),
    (PlanStatus, corrections.checked_status, lambda told: None),
    (CorrectionResult, corrections.result_from_msg, lambda answer: None),
    (EditPlan.Request, lambda request: corrections.edit_from_text(request.edit), lambda edit: None),
]


@pytest.mark.parametrize(
    ("kind", "converter", "check"),
    CONVERTERS,
    ids=[f"{kind.__name__}-{n}" for n, (kind, _, _) in enumerate(CONVERTERS)],
)
@settings(max_examples=150, derandomize=True, deadline=None, database=None, suppress_health_check=list(HealthCheck))
@given(seed=st.integers(0, 2**32))
def test_a_converter_gives_what_is_valid_or_refuses(seed, kind, converter, check):
    message = Fuzz(random.Random(seed), EXAMPLES).message(kind)
    refused, value = _tried(converter, message)
    assert len(refused) < 2000
    if not refused:
        check(value)


@settings(max_examples=100, derandomize=True, deadline=None, database=None)
@given(st.lists(st.integers(0, 2**32), min_size=1, max_size=6))
def test_whatever_scenes_come_what_is_held_is_among_the_things_and_has_a_body(seeds):
    reader, grip = SceneReader(lambda flaw: None), Grip()
    for seed in seeds:
        try:
            scene = reader.read(Fuzz(random.Random(seed), EXAMPLES).message(Scene))
            grip.see(scene)
        except InputError:
            continue
        _valid_scene(scene)
        assert scene.held in ("", *scene.names)
        assert isinstance(grip.carried, Carried | None)


def test_messages_of_every_type_can_be_drawn():
    for kind in {kind for kind, _, _ in CONVERTERS} | {class_of("diagnostic_msgs/DiagnosticArray")}:
        fuzz = Fuzz(random.Random(1))
        drawn = [fuzz.message(kind) for _ in range(20)]
        assert any(message != kind() for message in drawn)

"""What the hand holds keeps out of zones like the hand."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from llm_planner.control import formulation
from llm_planner.control.formulation import StartState
from llm_planner.control.motion_constraints import MotionConstraints
from llm_planner.control.safety_filter.guard import Guard
from llm_planner.control.safety_filter.robots import arm_body
from llm_planner.control.safety_filter.safety_filter import SafetyFilter
from llm_planner.robots.arm_model import arm_model
from llm_planner.robots.carried import Carried
from llm_planner.robots.motion import JointState, JointTrajectory
from llm_planner.scene.scene import Pose
from llm_planner.scene.zones import Shape, Zone, half_sides

PANDA = arm_model("panda")

HOME = np.array(PANDA.home)
TILTED = tuple(Rotation.from_euler("xyz", [0.3, -0.5, 1.0]).as_quat().tolist())
THINGS = [
    Carried(Shape.BOX, (0.02, 0.02, 0.02), Pose((0.0, 0.0, 0.0))),
    Carried(Shape.BOX, (0.02, 0.04, 0.1), Pose((0.0, 0.02, 0.05), TILTED)),
    Carried(Shape.BOX, (0.08, 0.08, 0.03), Pose((0.05, 0.0, 0.02), TILTED)),
    Carried(Shape.CYLINDER, (0.03, 0.08), Pose((0.0, 0.0, 0.04), TILTED)),
    Carried(Shape.CAPSULE, (0.03, 0.08), Pose((0.0, 0.0, 0.04))),
    Carried(Shape.SPHERE, (0.05,), Pose((0.0, 0.01, 0.04))),
]
LONG = Carried(Shape.BOX, (0.02, 0.02, 0.1), Pose((0.0, 0.0, 0.09)))  # reaches 19 cm below the gripper point


@pytest.mark.parametrize("carried", THINGS, ids=lambda carried: carried.shape.value)
def test_spheres_cover_what_is_held_where_the_simulation_has_the_hand(carried: Carried) -> None:
    arm, rng, half = PANDA.kinematics(), np.random.default_rng(2), np.array(half_sides(carried.shape, carried.size))
    body, hand = arm_body(PANDA, carried), len(arm_body(PANDA).radii)
    qpos = rng.uniform(PANDA.limits.qpos_min, PANDA.limits.qpos_max)
    position, rotation = arm.forward(qpos)
    centres, radii = body.place(qpos[None]).points[:, 0, hand:].T, body.radii[hand:]
    inside = rng.uniform(-1.0, 1.0, (400, 3))
    inside[np.arange(400), rng.integers(0, 3, 400)] = rng.choice([-1.0, 1.0], 400)  # on the surface
    turned = Rotation.from_quat(carried.pose.orientation)
    surface = (turned.apply(inside * half) + carried.pose.position) @ rotation.T + position

    depth = radii - np.linalg.norm(surface[:, None] - centres, axis=2)
    assert (depth.max(axis=1) > -1e-9).all()
    local = turned.inv().apply((centres - position) @ rotation - carried.pose.position)
    assert (np.abs(local) + radii[:, None] - half).max() < 0.0145, "sticks out by more than the controller keeps away"


def below(distance: float) -> MotionConstraints:
    """A zone that far below the gripper point at home [m], which has 2 cm of clearance."""
    x, y, z = PANDA.kinematics().forward(HOME)[0].tolist()
    return MotionConstraints(zones=(Zone("the vase", Shape.SPHERE, (0.02,), Pose((x, y, z - distance)), 0.02),))


def lower(now: float) -> JointTrajectory:
    """The second joint lowers the hand by some centimetres."""
    qacc = np.zeros((10, 7))
    qacc[:5, 1], qacc[5:, 1] = 1.6, -1.6
    return formulation.integrate(StartState(HOME, 0.0 * HOME, 0.0 * HOME), qacc, now, 0.05, 0.0)


def test_a_motion_that_an_empty_hand_may_make_is_not_proved_for_a_thing_that_hangs_from_it() -> None:
    empty, holding = (SafetyFilter(arm_body(PANDA, carried), PANDA.limits) for carried in (None, LONG))

    assert empty.prove(lower(0.0), 0.0, below(0.25)).safe
    assert "the vase" in holding.prove(lower(0.0), 0.0, below(0.25)).why


def test_from_the_grasp_on_a_motion_that_had_passed_is_followed_only_as_far_as_it_is_safe_for_what_is_held() -> None:
    guard, zones = Guard(SafetyFilter(arm_body(PANDA), PANDA.limits)), below(0.25)
    guard.measured(JointState(0.0, HOME, 0.0 * HOME))
    assert guard.hear(lower(0.0), 0.0, zones) is not None

    guard.judged_by(SafetyFilter(arm_body(PANDA, LONG), PANDA.limits))
    motion = guard.steps(0.0, 0.5, zones)

    body, hand = arm_body(PANDA, LONG), len(arm_body(PANDA).radii)
    points = body.place(motion.qpos).points[:, :, hand:]
    away = np.linalg.norm(points - np.array(zones.zones[0].pose.position)[:, None, None], axis=0) - body.radii[hand:]
    assert away.min() > 0.04 - 1e-3
    assert np.abs(motion.qpos - HOME).max() > 0.005, "it goes as far as it may"


def test_what_is_taken_hold_of_far_from_every_zone_changes_nothing_of_a_motion() -> None:
    guard = Guard(SafetyFilter(arm_body(PANDA), PANDA.limits))
    guard.measured(JointState(0.0, HOME, 0.0 * HOME))
    guard.hear(lower(0.0), 0.0, MotionConstraints())

    guard.judged_by(SafetyFilter(arm_body(PANDA, LONG), PANDA.limits))

    assert guard.step(0.1, MotionConstraints()) is None
    assert not guard.is_stepping

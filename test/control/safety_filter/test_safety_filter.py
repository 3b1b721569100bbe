"""One tick of the filter: what is safe passes unchanged, what is not is made so, and what cannot be is braked for."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from llm_planner.control import formulation
from llm_planner.control.formulation import StartState
from llm_planner.control.motion_constraints import FREE, MotionConstraints
from llm_planner.control.safety_filter.bodies import Ball
from llm_planner.control.safety_filter.robots import arm_body
from llm_planner.control.safety_filter.safety_filter import FilterSettings, SafetyFilter
from llm_planner.errors import InputError
from llm_planner.robots.arm_model import arm_model
from llm_planner.robots.limits import RobotLimits
from llm_planner.scene.scene import Pose
from llm_planner.scene.zones import Shape, Subject, Zone

PANDA = arm_model("panda")

HOLD = 0.012
BALL_LIMITS = RobotLimits(
    np.full(3, -np.inf), np.full(3, np.inf), np.full(3, 2.0), np.full(3, 5.0), torque_max=np.full(3, np.inf)
)
POST = Zone("post", Shape.CYLINDER, (0.2, 1.0), Pose((1.0, 0.0, 0.0)), clearance=0.1)


@pytest.fixture
def arm() -> SafetyFilter:
    return SafetyFilter(arm_body(PANDA), PANDA.limits)


@pytest.fixture
def ball() -> SafetyFilter:
    return SafetyFilter(Ball(0.1), BALL_LIMITS)


def fly(
    safety: SafetyFilter, constraints: MotionConstraints, wanted: np.ndarray, ticks: int = 300, qvel=(0.0, 0.0, 0.0)
):
    """Positions (ticks, 3) and velocities (ticks, 3) of a ball from the origin on, and the verdicts."""
    qpos, qvel, ways, speeds, verdicts = np.zeros(3), np.array(qvel), [], [], []
    for _ in range(ticks):
        verdict = safety.filter(qpos, qvel, wanted, constraints, HOLD)
        qpos, qvel = qpos + HOLD * qvel + 0.5 * HOLD * HOLD * verdict.qacc, qvel + HOLD * verdict.qacc
        ways.append(qpos)
        speeds.append(qvel)
        verdicts.append(verdict)
    return np.array(ways), np.array(speeds), verdicts


def test_what_is_safe_passes_unchanged(arm, home):
    wanted = np.array([1.0, -2.0, 0.5, 0.0, 3.0, 0.0, -1.0])
    verdict = arm.filter(home, np.zeros(7), wanted, FREE, HOLD)
    assert verdict.qacc == pytest.approx(wanted, abs=0.0)
    assert (verdict.changed, verdict.binding, verdict.infeasible) == (False, (), False)


def test_no_joint_is_accelerated_by_more_than_its_share(arm, home):
    verdict = arm.filter(home, np.zeros(7), np.full(7, 1e6), FREE, HOLD)
    assert verdict.qacc == pytest.approx(0.8 * PANDA.limits.qacc_max)
    assert verdict.changed
    assert verdict.binding == tuple(f"joint {k}" for k in range(1, 8))


def test_a_joint_comes_to_rest_before_its_limit(arm, home):
    qpos, qvel, wanted = home.copy(), np.zeros(7), np.zeros(7)
    wanted[3] = 20.0
    for _ in range(300):
        qacc = arm.filter(qpos, qvel, wanted, FREE, HOLD).qacc
        qpos, qvel = qpos + HOLD * qvel + 0.5 * HOLD * HOLD * qacc, qvel + HOLD * qacc
    assert PANDA.limits.qpos_max[3] - 0.02 < qpos[3] <= PANDA.limits.qpos_max[3] - 0.01 + 1e-6
    assert np.abs(qvel).max() < 0.01


def test_a_ball_flown_straight_at_a_post_stops_at_its_clearance(ball):
    ways, speeds, verdicts = fly(ball, MotionConstraints(zones=(POST,)), np.array([5.0, 0.0, 0.0]))
    nearest = 1.0 - 0.2 - 0.1 - 0.1  # the post, its clearance, the ball
    assert nearest - 0.01 < ways[-1, 0]
    assert ways[:, 0].max() <= nearest
    assert speeds[:, 0].max() > 1.0, "it was not held back more than it had to be"
    assert any("post" in verdict.binding for verdict in verdicts[-20:])
    assert not any(verdict.infeasible for verdict in verdicts)


def test_a_ball_flown_past_a_post_slides_along_it(ball):
    ways, _, verdicts = fly(ball, MotionConstraints(zones=(POST,)), np.array([5.0, 1.0, 0.0]), ticks=400)
    across = np.hypot(ways[:, 0] - 1.0, ways[:, 1])
    assert across.min() >= 0.4 - 1e-6
    assert ways[-1, 0] > 1.5, "it got past"
    assert any(verdict.changed for verdict in verdicts)


def test_a_zone_for_the_gripper_binds_only_the_point(ball):
    zone = Zone("post", POST.shape, POST.size, POST.pose, POST.clearance, Subject.GRIPPER)
    ways, _, _ = fly(ball, MotionConstraints(zones=(zone,)), np.array([5.0, 0.0, 0.0]))
    assert 0.69 < ways[:, 0].max() <= 0.7


@pytest.mark.parametrize("direction", [(1.0, 0.0, 0.0), (1.0, 1.0, 0.0), (-1.0, 1.0, 1.0)])
def test_no_direction_is_faster_than_the_speed_limit(ball, direction):
    _, speeds, _ = fly(ball, MotionConstraints(speed=0.5), 5.0 * np.array(direction))
    speed = np.linalg.norm(speeds, axis=1)
    assert speed.max() <= 0.5
    assert speed[-1] > 0.45


def test_a_limit_that_falls_in_motion_is_reached_by_braking(ball):
    _, speeds, verdicts = fly(ball, MotionConstraints(speed=0.15), np.zeros(3), ticks=50, qvel=(0.9, 0.9, 0.0))
    speed = np.linalg.norm(speeds, axis=1)
    assert speed[0] < 1.27
    assert speed[-1] <= 0.15
    assert verdicts[0].binding == ("speed",)


def test_settings_bound_the_speed_whatever_the_constraints_say():
    safety = SafetyFilter(Ball(0.1), BALL_LIMITS, FilterSettings(top_speed=0.8))
    _, speeds, _ = fly(safety, FREE, np.array([5.0, 5.0, 0.0]))
    assert np.linalg.norm(speeds, axis=1).max() <= 0.8


def test_a_smaller_share_of_the_joint_speeds_binds(ball):
    _, speeds, _ = fly(ball, MotionConstraints(joint_share=0.25), np.array([5.0, 0.0, 0.0]))
    assert speeds[:, 0].max() == pytest.approx(0.25 * 0.8 * 2.0)


def test_inside_a_zone_it_goes_no_deeper_and_may_leave(ball):
    around = Zone("fog", Shape.SPHERE, (0.5,), Pose((0.2, 0.0, 0.0)))
    constraints = MotionConstraints(zones=(around,))
    deeper, _, _ = fly(ball, constraints, np.array([5.0, 0.0, 0.0]), ticks=100)
    assert deeper[:, 0].max() < 0.001
    out, _, _ = fly(ball, constraints, np.array([-5.0, 0.0, 0.0]), ticks=100)
    assert out[-1, 0] < -0.4


def test_a_zone_that_appears_too_near_to_stop_is_braked_for_and_told(ball):
    constraints = MotionConstraints(zones=(POST,))
    verdict = ball.filter(np.array([0.58, 0.0, 0.0]), np.array([1.5, 0.0, 0.0]), np.zeros(3), constraints, HOLD)
    assert verdict.infeasible
    assert verdict.refused
    assert verdict.qacc[0] < -3.0
    assert verdict.slack > 0.1
    assert "post" in verdict.binding


def test_instead_of_numbers_that_are_none_it_brakes(ball):
    verdict = ball.filter(np.zeros(3), np.array([1.0, 0.0, 0.0]), np.array([np.nan, 0.0, 0.0]), FREE, HOLD)
    assert verdict.qacc == pytest.approx([-3.75, 0.0, 0.0])
    assert verdict.changed
    assert verdict.binding == ("no finite command",)


@pytest.mark.parametrize("qpos", [np.zeros(2), np.array([0.0, np.inf, 0.0])])
def test_a_state_that_is_none_is_an_error(ball, qpos):
    with pytest.raises(InputError, match="the filter needs 3 finite joint positions, not"):
        ball.filter(qpos, np.zeros(3), np.zeros(3), FREE, HOLD)


def test_velocities_that_are_none_are_an_error(ball):
    with pytest.raises(InputError, match="the filter needs 3 finite joint velocities, not"):
        ball.filter(np.zeros(3), np.full(3, np.nan), np.zeros(3), FREE, HOLD)


def test_the_speed_of_the_point_is_that_of_its_joints(ball):
    assert ball.point_speed(np.zeros(3), np.array([0.3, 0.4, 0.0])) == pytest.approx(0.5)


def test_an_answer_does_not_depend_on_what_was_asked_before(surroundings):
    around = surroundings(3)
    rng = np.random.default_rng(0)
    used, new = (SafetyFilter(around.body, PANDA.limits) for _ in range(2))
    for _ in range(40):
        qvel, wanted = rng.uniform(-0.5, 0.5, 7), rng.uniform(-10, 10, 7)
        used.filter(around.qpos + rng.uniform(-0.01, 0.01, 7), qvel, wanted, around.constraints, HOLD)
    last = qvel, wanted, around.constraints, HOLD
    assert used.filter(around.qpos, *last).qacc == pytest.approx(new.filter(around.qpos, *last).qacc, abs=1e-6)


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("speed", [np.inf, 0.25])
def test_no_clearance_is_lost_whatever_is_wanted(surroundings, seed, speed):
    """Random, towards a zone, or held: for a while each; the state is that after each hold."""
    around = surroundings(seed, speed=speed)
    safety, rng = SafetyFilter(around.body, PANDA.limits), np.random.default_rng(seed)
    qpos, qvel, first = around.qpos, np.zeros(7), np.zeros(3, dtype=np.intp)
    nearest, fastest, changed = np.inf, 0.0, 0
    for tick in range(150):
        if tick % 25 == 0:
            mode, held = rng.integers(3), rng.uniform(-1, 1, 7) * PANDA.limits.qacc_max
            goal = np.array(around.constraints.zones[rng.integers(4)].pose.position)
        jacobian = around.body.place(qpos[None]).slopes(first, first, np.eye(3))
        towards = np.sign(jacobian.T @ (goal - around.tip(qpos))) * PANDA.limits.qacc_max
        wanted = (rng.uniform(-1, 1, 7) * PANDA.limits.qacc_max, towards, held)[mode]
        verdict = safety.filter(qpos, qvel, wanted, around.constraints, HOLD)
        before, start = around.tip(qpos), StartState(qpos, qvel, qvel)
        qpos, qvel = qpos + HOLD * qvel + 0.5 * HOLD * HOLD * verdict.qacc, qvel + HOLD * verdict.qacc
        after = safety.point_speed(qpos, qvel)
        if not verdict.refused and after > max(1.02 * speed, safety.point_speed(start.qpos, start.qvel)):
            brake = formulation.brake(start, safety.stopping, 0.0, HOLD, 0.0)
            left = safety.prove(brake, 0.0, replace(around.constraints, speed=np.inf)).clearance
            assert left < 0.001, "it speeds up beyond its limit only where braking does not keep the clearances"
        changed += verdict.changed
        nearest = min(nearest, around.clearance(qpos))
        fastest = max(fastest, float(np.linalg.norm(around.tip(qpos) - before)) / HOLD)
        assert (np.abs(verdict.qacc) <= 0.8 * PANDA.limits.qacc_max + 1e-6).all()
        assert (np.abs(qvel) <= 0.8 * PANDA.limits.qvel_max + 1e-6).all()
    assert nearest > -1e-4
    # Joints that brake each in its own time let the hand speed up for a moment, and zones come first.
    assert fastest < 1.2 * speed
    assert changed > 50

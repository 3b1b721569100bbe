import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from scipy.interpolate import CubicSpline

from llm_planner.control import formulation
from llm_planner.control.formulation import Bounds, Horizon, TrackingProblem, Weights
from llm_planner.control.motion_constraints import MotionConstraints
from llm_planner.control.mpc import MpcController, Status
from llm_planner.control.qp_solver import NoSolution, TrackingSolver
from llm_planner.errors import InputError
from llm_planner.robots.arm_model import ArmKinematics, arm_model
from llm_planner.robots.limits import LimitShare
from llm_planner.robots.motion import JointState, MotionReference
from llm_planner.scene.scene import Pose
from llm_planner.scene.zones import Shape, Zone
from llm_planner.skills.hand_geometry import HandPose, rest_pose
from llm_planner.skills.motion import PATH_DT, Leg, MotionLimits, plan_path

PANDA = arm_model("panda")

HOME = rest_pose(PANDA.shape)
REST = JointState(0.0, np.array(PANDA.home), np.zeros(7))
GOAL = HandPose(0.55, 0.25, 0.1, 0.3)
PATH = plan_path(HOME, [Leg(GOAL)], MotionLimits())


def streamed(now: float) -> MotionReference:
    """What a skill on the way to `GOAL` sends at `now`."""
    index = min(int(now / PATH_DT + 1e-6), len(PATH) - 1)
    return MotionReference(min(now, index * PATH_DT), PATH_DT, PATH[index : index + 21], 0.03, valid_for=10.0)


def fast_jump(speed_scale: float = 1.0) -> Callable[[float], MotionReference]:
    """A goal at the other end of the table, at once."""
    pose = HandPose(0.5, -0.35, 0.1, -0.6).pose()
    return lambda now: MotionReference(now, 0.05, (pose,), 0.03, speed_scale=speed_scale)


class FailingSolver:
    """Solves so many times, and then never again."""

    def __init__(self, answers: int) -> None:
        self.answers = answers
        self.inner = TrackingSolver(TrackingProblem(Horizon(), Weights()))

    def solve(self, bounds: Bounds) -> np.ndarray:
        if self.answers == 0:
            raise NoSolution("given up")
        self.answers -= 1
        return self.inner.solve(bounds)


def test_the_gripper_follows_a_path_within_millimetres(robot: Any, arm: ArmKinematics) -> None:
    errors = []
    for _ in range(round(len(PATH) * PATH_DT / 0.01)):
        robot.tick(streamed(robot.now))
        place = min(robot.now / PATH_DT, len(PATH) - 1)
        k = int(place)
        wanted = np.array(PATH[k].position) + (place - k) * np.subtract(
            PATH[min(k + 1, len(PATH) - 1)].position, PATH[k].position
        )
        errors.append(math.dist(arm.pose(robot.qpos).position, wanted))

    assert max(errors) < 0.004
    assert errors[-1] < 0.0015
    assert robot.controller.statistics.status is Status.TRACKING


def test_a_goal_far_away_never_breaks_a_limit(robot: Any) -> None:
    robot.run(fast_jump(), 2.5)

    assert 0.5 < np.max(robot.velocities) <= 0.75 + 1e-6
    assert 0.4 < np.max(robot.accelerations) <= 0.6 + 1e-6


def test_a_lower_speed_is_kept_and_reached_from_full_speed(robot: Any) -> None:
    robot.run(fast_jump(), 0.6)
    robot.run(fast_jump(speed_scale=0.3), 1.0)

    assert np.max(robot.velocities[:60]) > 0.5
    assert np.max(robot.velocities[-10:]) <= 0.3 * 0.75 + 1e-3


def test_every_plan_ends_at_rest(robot: Any) -> None:
    robot.run(fast_jump(), 1.0)
    assert all(not plan.qvel[-1].any() for plan in robot.plans)


def test_the_velocity_never_jumps_between_plans(robot: Any) -> None:
    robot.run(fast_jump(), 1.0)
    for before, after in zip(robot.plans, robot.plans[1:], strict=False):
        assert after.qvel[0] == pytest.approx(formulation.sample(before, after.start_time).qvel, abs=1e-9)


def test_without_a_reference_the_arm_holds_and_leaves_the_fingers_alone(robot: Any) -> None:
    plan = robot.tick(None)

    assert plan.qpos[-1] == pytest.approx(PANDA.home)
    assert math.isnan(plan.gripper_width)
    assert robot.controller.statistics.status is Status.HOLDING


def test_a_void_reference_brakes_to_rest_and_holds(robot: Any) -> None:
    robot.run(fast_jump(), 0.5)
    stale = fast_jump()(robot.now - 0.6)
    assert np.abs(robot.qvel).max() > 0.3

    plan = robot.tick(stale)
    assert robot.controller.statistics.status is Status.BRAKING
    robot.run(lambda now: stale, 0.5)

    assert not robot.qvel.any()
    assert robot.qpos == pytest.approx(plan.qpos[-1])
    assert robot.controller.statistics.status is Status.HOLDING
    assert plan.gripper_width == 0.03
    assert np.max(robot.accelerations) <= LimitShare().braking + 1e-6


def test_motion_goes_on_after_a_stop(robot: Any, arm: ArmKinematics) -> None:
    robot.run(fast_jump(), 0.5)
    robot.run(lambda now: None, 0.5)
    robot.run(fast_jump(), 3.0)

    assert arm.pose(robot.qpos).position == pytest.approx((0.5, -0.35, 0.1), abs=0.002)


def test_noise_in_the_measurement_does_not_reach_the_command(arm: ArmKinematics) -> None:
    controller = MpcController(kinematics=arm)
    rng = np.random.default_rng(0)
    pose = HOME.pose()
    starts = []
    for k in range(20):
        noisy = JointState(0.01 * k, REST.qpos + rng.normal(0.0, 0.002, 7), rng.normal(0.0, 0.05, 7))
        starts.append(controller.step(noisy, MotionReference(0.01 * k, 0.05, (pose,), 0.03), 0.01 * k).qpos[0])

    assert np.abs(np.diff(starts, axis=0)).max() < 0.002
    assert controller.statistics.tracking_error < 0.02


def test_an_arm_pushed_off_its_plan_is_planned_for_where_it_is(robot: Any) -> None:
    robot.run(fast_jump(), 0.3)
    robot.qpos = robot.qpos + 0.3
    robot.qvel = np.zeros(7)

    plan = robot.tick(None)

    assert plan.qpos[0] == pytest.approx(np.array(plan.qpos[-1]))
    assert plan.qpos[0][0] == pytest.approx(robot.qpos[0], abs=1e-9)


@pytest.mark.parametrize("beyond", [0.0, 0.002, 0.02])
def test_an_arm_pushed_to_the_end_of_a_joint_or_beyond_comes_back_and_never_goes_on(
    robot: Any, arm: ArmKinematics, beyond: float
) -> None:
    pushed = PANDA.limits.qpos_max[5] + beyond
    robot.qpos = np.array([0.21, 0.26, 0.02, -2.56, -0.01, pushed, 1.08])

    robot.run(fast_jump(), 4.0)

    assert max(plan.qpos[:, 5].max() for plan in robot.plans) <= pushed + 1e-6
    assert math.dist(arm.pose(robot.qpos).position, (0.5, -0.35, 0.1)) < 0.002
    assert max(map(np.max, robot.accelerations)) <= 1.0


def test_when_the_program_has_no_answer_the_last_plan_is_replayed_and_then_held(arm: ArmKinematics) -> None:
    controller = MpcController(kinematics=arm, solver=FailingSolver(answers=1))
    reference = fast_jump()(0.0)
    plan = controller.step(REST, reference, 0.0)
    assert controller.statistics.status is Status.TRACKING

    state = formulation.sample(plan, 0.2)
    replayed = controller.step(JointState(0.2, state.qpos, state.qvel), replace(reference, start_time=0.2), 0.2)

    assert replayed is plan
    assert controller.statistics.status is Status.FALLBACK
    assert controller.statistics.message == "given up"
    end = formulation.end_time(plan)
    held = controller.step(JointState(end, plan.qpos[-1], np.zeros(7)), replace(reference, start_time=end), end)
    assert held.qpos[-1] == pytest.approx(plan.qpos[-1])
    assert not held.qvel.any()


def test_with_no_plan_to_replay_the_fallback_brakes(arm: ArmKinematics) -> None:
    controller = MpcController(kinematics=arm, solver=FailingSolver(answers=0))
    moving = JointState(0.0, REST.qpos, np.full(7, 0.2))

    plan = controller.step(moving, fast_jump()(0.0), 0.0)

    assert controller.statistics.status is Status.FALLBACK
    assert plan.qvel[0] == pytest.approx(moving.qvel)
    assert plan.qvel[-1] == pytest.approx(0.0, abs=1e-12)


def test_an_unreachable_reference_is_followed_within_the_speeds(robot: Any) -> None:
    pose = HandPose(1.2, 0.0, 0.3, 0.0).pose()
    robot.run(lambda now: MotionReference(now, 0.05, (pose,), 0.03), 3.0)

    assert np.max(robot.velocities) <= 0.75 + 1e-6


def test_the_statistics_time_the_tick_and_the_solver_by_the_clock_that_was_given(robot: Any) -> None:
    robot.tick(streamed(0.0))

    assert robot.controller.statistics.tick_time > robot.controller.statistics.solve_time > 0.0


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"qpos": np.zeros(6)}, r"qpos must have the shape \(7,\), not \(6,\)"),
        ({"qvel": np.zeros((7, 1))}, r"qvel must have the shape \(7,\), not \(7, 1\)"),
        ({"qpos": np.full(7, np.nan)}, "qpos holds a number that is not finite"),
        ({"qvel": np.full(7, np.inf)}, "qvel holds a number that is not finite"),
    ],
)
def test_a_wrong_joint_state_is_told_and_nothing_is_planned(robot: Any, change: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        robot.controller.step(replace(REST, **change), streamed(0.0), 0.0)


def test_a_wrong_reference_is_told_and_the_plan_so_far_stands(robot: Any) -> None:
    robot.run(fast_jump(), 0.2)
    wrong = replace(fast_jump()(robot.now), dt=math.nan)
    with pytest.raises(InputError, match="dt is not a finite number"):
        robot.controller.step(JointState(robot.now, robot.qpos, robot.qvel), wrong, robot.now)

    before = robot.plans[-1]
    plan = robot.tick(fast_jump()(robot.now))
    assert plan.qvel[0] == pytest.approx(formulation.sample(before, plan.start_time).qvel)


def around(position: Any, clearance: float = 0.05) -> Zone:
    return Zone("the ball", Shape.SPHERE, (0.1,), Pose(tuple(position)), clearance)


def test_a_dry_run_tells_what_could_be_kept_and_moves_nothing(robot: Any, arm: ArmKinematics) -> None:
    before = robot.tick(None)
    gripper = arm.pose(robot.qpos).position
    statistics = robot.controller.statistics

    x, y, z = gripper

    assert robot.controller.could_keep(robot.state, robot.now, MotionConstraints(zones=(around((x + 0.5, y, z)),)))
    assert not robot.controller.could_keep(robot.state, robot.now, MotionConstraints(zones=(around(gripper),)))
    assert robot.controller.statistics is statistics
    assert robot.tick(None).qpos == pytest.approx(before.qpos)


def test_a_program_without_an_answer_keeps_nothing(arm: ArmKinematics) -> None:
    assert not MpcController(kinematics=arm, solver=FailingSolver(0)).could_keep(REST, 0.0, MotionConstraints())


def test_a_smaller_weight_of_the_position_follows_more_lazily(arm: ArmKinematics) -> None:
    pose = HandPose(0.5, 0.05, 0.3, 0.0).pose()

    def first_step(factors: dict[str, float]) -> float:
        controller = MpcController(kinematics=arm)
        controller.step(REST, MotionReference(0.0, 0.05, (pose,), 0.03), 0.0, MotionConstraints(weights=factors))
        plan = controller.step(REST, MotionReference(0.0, 0.05, (pose,), 0.03), 0.0, MotionConstraints(weights=factors))
        return float(np.abs(plan.qpos[5] - plan.qpos[0]).max())

    assert first_step({"position": 0.01}) < 0.95 * first_step({})
    assert first_step({"position": 1.0}) == pytest.approx(first_step({}))


def test_the_gripper_follows_a_smooth_path_within_hundredths_of_a_millimetre(robot: Any, arm: ArmKinematics) -> None:
    curve = CubicSpline(PATH_DT * np.arange(len(PATH)), [pose.position for pose in PATH])
    errors = []
    for _ in range(round((len(PATH) - 1) * PATH_DT / 0.01)):
        robot.tick(streamed(robot.now))
        errors.append(math.dist(arm.pose(robot.qpos).position, curve(robot.now)))

    assert np.sqrt(np.mean(np.square(errors[20:]))) < 5e-5

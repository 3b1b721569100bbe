"""The controller of a mobile base, on a base that does exactly what it is told."""

import math

import numpy as np
import pytest

from llm_planner.control.controlled_robot import base_spec
from llm_planner.control.formulation import sample
from llm_planner.control.motion_constraints import FREE, MotionConstraints
from llm_planner.control.mpc import BaseController, BaseSettings, Status
from llm_planner.errors import InputError
from llm_planner.robots.mobile_base import BASE_LIMITS, MOTOR_LAG
from llm_planner.robots.motion import JointState, MotionReference
from llm_planner.robots.robot_model import RobotModel
from llm_planner.scene.geometry import upright_pose, yaw_of
from llm_planner.scene.scene import Pose
from llm_planner.scene.zones import Shape, Zone

PERIOD = 0.1
STILL = JointState(0.0, np.zeros(3), np.zeros(3))


def reference(*poses, start=0.0, valid_for=100.0, speed_scale=1.0):
    return MotionReference(start, 0.05, tuple(upright_pose(*pose) for pose in poses), 0.4, valid_for, speed_scale)


def drive(controller, wanted, seconds, state=STILL):
    """The states that a perfect base passes, one a tick, and the velocities commanded, every 20 ms."""
    states, velocities = [state], []
    for _ in range(round(seconds / PERIOD)):
        plan = controller.step(states[-1], wanted, states[-1].time)
        ahead = sample(plan, states[-1].time + PERIOD)
        velocities += [sample(plan, states[-1].time + k * 0.02).qvel for k in range(5)]
        states.append(JointState(states[-1].time + PERIOD, ahead.qpos, ahead.qvel))
    return states, np.array(velocities)


def test_it_comes_to_where_it_is_told_and_faces_as_told():
    states, _ = drive(BaseController(), reference((2.0, -1.0, 2.5)), 8.0)
    assert states[-1].qpos == pytest.approx([2.0, -1.0, 2.5], abs=0.02)
    assert np.abs(states[-1].qvel).max() < 0.02


def test_it_keeps_its_share_of_the_limits_however_far_it_is_told_to_go():
    settings = BaseSettings()
    _, velocities = drive(BaseController(settings), reference((50.0, 50.0, 3.0)), 3.0)
    speed = np.hypot(velocities[:, 0], velocities[:, 1])
    accelerations = np.diff(velocities, axis=0) / 0.02
    assert 0.9 < speed.max() / (settings.speed_share * BASE_LIMITS.qvel_max[0]) <= 1.0 + 1e-9
    assert np.hypot(*accelerations[:, :2].T).max() <= settings.acceleration_share * BASE_LIMITS.qacc_max[0] + 1e-6
    assert np.abs(velocities[:, 2]).max() <= settings.speed_share * BASE_LIMITS.qvel_max[2] + 1e-9
    assert np.abs(accelerations[:, 2]).max() <= settings.acceleration_share * BASE_LIMITS.qacc_max[2] + 1e-6


def test_a_slower_reference_is_driven_more_slowly():
    _, velocities = drive(BaseController(), reference((50.0, 0.0, 0.0), speed_scale=0.5), 3.0)
    assert velocities[:, 0].max() == pytest.approx(0.5 * BaseSettings().speed_share * BASE_LIMITS.qvel_max[0])


def test_a_speed_limit_and_a_share_of_the_joint_speeds_are_kept():
    for constraints in (MotionConstraints(speed=0.2), MotionConstraints(joint_share=0.3)):
        controller, state = BaseController(), STILL
        for _ in range(20):
            plan = controller.step(state, reference((50.0, 0.0, 0.0)), state.time, constraints)
            ahead = sample(plan, state.time + PERIOD)
            state = JointState(state.time + PERIOD, ahead.qpos, ahead.qvel)
        fastest = constraints.joint_share * BaseSettings().speed_share * BASE_LIMITS.qvel_max[0]
        assert state.qvel[0] == pytest.approx(min(fastest, constraints.speed))


def test_it_turns_the_short_way():
    states, velocities = drive(
        BaseController(), reference((0.0, 0.0, -3.0)), 0.5, JointState(0.0, np.array([0.0, 0.0, 3.0]), np.zeros(3))
    )
    assert states[-1].qpos[2] > 3.0
    assert velocities[:, 2].min() >= 0.0


@pytest.mark.parametrize("wanted", [None, reference((9.0, 0.0, 0.0), start=-1.0, valid_for=0.3)])
def test_without_a_valid_reference_it_is_at_rest_within_half_a_second(wanted):
    controller = BaseController()
    fast, _ = drive(controller, reference((50.0, 0.0, 0.0)), 2.0)
    plan = controller.step(fast[-1], wanted, fast[-1].time)
    assert controller.statistics.status is Status.BRAKING
    assert fast[-1].qvel[0] > 1.0
    assert sample(plan, fast[-1].time + 0.5).qvel == pytest.approx(np.zeros(3), abs=1e-9)
    brakes = np.abs(plan.qacc).max(axis=0)
    assert brakes[0] <= BASE_LIMITS.qacc_max[0]
    assert plan.gripper_width == 0.4, "the fingers stay as they are"


def test_every_plan_ends_at_rest():
    controller = BaseController()
    controller.step(STILL, reference((5.0, 5.0, 1.0)), 0.0)
    plan = controller.step(STILL, reference((5.0, 5.0, 1.0)), 0.1)
    assert plan.qvel[-1] == pytest.approx(np.zeros(3), abs=1e-9)


def test_before_any_reference_the_fingers_are_left_alone_and_the_base_holds():
    controller = BaseController()
    plan = controller.step(STILL, None, 0.0)
    assert math.isnan(plan.gripper_width)
    assert controller.statistics.status is Status.HOLDING


def test_a_base_that_was_pushed_is_planned_for_as_it_moves_once_the_plan_is_forgotten():
    controller = BaseController()
    pushed = JointState(0.0, np.zeros(3), np.array([0.2, 0.0, 0.0]))
    controller.step(STILL, reference((0.0, 0.0, 0.0)), 0.0)
    assert controller.step(pushed, None, 0.0).qvel[0] == pytest.approx(np.zeros(3))
    controller.reset()
    assert controller.step(pushed, None, 0.0).qvel[0] == pytest.approx([0.2, 0.0, 0.0])


@pytest.mark.parametrize("qpos", [np.zeros(7), np.array([0.0, np.nan, 0.0])])
def test_a_state_that_is_no_base_is_refused(qpos):
    with pytest.raises(InputError, match="the joint state's qpos "):
        BaseController().step(JointState(0.0, qpos, np.zeros(3)), None, 0.0)


@pytest.mark.parametrize("yaw", [0.0, 1.0, -3.0, 3.1])
def test_a_pose_keeps_its_yaw(yaw):
    assert yaw_of(upright_pose(1.0, 2.0, yaw)) == pytest.approx(yaw)


class LaggingBase:
    """Wheels that come to the commanded velocity with the motors' lag; keeps where it was, every 10 ms."""

    def __init__(self, controller):
        self.controller, self.state = controller, STILL
        self.trail = []

    def drive(self, wanted, seconds, constraints):
        for _ in range(round(seconds / 0.05)):
            plan = self.controller.step(self.state, wanted(self.state.time), self.state.time, constraints)
            for _ in range(5):
                self._step(sample(plan, self.state.time + 0.01).qvel, 0.01)

    def _step(self, commanded, dt):
        qvel = self.state.qvel + dt / MOTOR_LAG * (commanded - self.state.qvel)
        self.state = JointState(self.state.time + dt, self.state.qpos + dt * qvel, qvel)
        self.trail.append((*self.state.qpos[:2], math.hypot(*qvel[:2])))


def to(x, y):
    return lambda now: reference((x, y, 0.0), start=now)


PUDDLE = Zone("the puddle", Shape.CYLINDER, (0.3, 0.1), Pose((2.0, 0.05, 0.0)), 0.1)
CRATE = Zone("the crate", Shape.BOX, (0.4, 0.3, 0.3), Pose((2.0, 0.03, 0.3), (0.0, 0.0, 0.3827, 0.9239)), 0.05)


@pytest.mark.parametrize("zone", [PUDDLE, CRATE], ids=lambda zone: zone.name)
def test_it_drives_round_a_zone_between_it_and_its_goal(zone):
    base, watch = LaggingBase(BaseController()), RobotModel(base_spec)
    base.drive(to(4.0, 0.0), 8.0, MotionConstraints(zones=(zone,)))
    watch.watch((zone,))
    places = watch.postures(np.array([(x, y, 0.0) for x, y, _ in base.trail]))
    distances = watch.nearness(places, np.array([(watch.links[0], 0)])).distance
    assert -0.001 < distances.min() - zone.clearance < 0.1
    assert base.state.qpos[:2] == pytest.approx([4.0, 0.0], abs=0.03)


def test_a_base_that_a_zone_grows_over_drives_away():
    base = LaggingBase(BaseController())
    near = Zone("the puddle", Shape.CYLINDER, (0.3, 0.1), Pose((0.5, 0.1, 0.0)), 0.15)
    base.drive(to(0.0, 0.0), 1.0, MotionConstraints(zones=(near,)))
    x, y = base.state.qpos[:2]
    assert math.hypot(x - 0.5, y - 0.1) > 0.3 + 0.22 + 0.15 - 0.001
    assert base.controller.statistics.binding == ("the puddle",)


def test_a_speed_limit_holds_across_both_axes_and_is_reached_from_full_speed():
    base = LaggingBase(BaseController())
    base.drive(to(9.0, 6.0), 1.5, FREE)
    base.drive(to(9.0, 6.0), 1.5, MotionConstraints(speed=0.4))
    speeds = [speed for _, _, speed in base.trail]
    assert max(speeds[:150]) > 1.2
    assert 0.37 < max(speeds[-60:]) <= 0.4

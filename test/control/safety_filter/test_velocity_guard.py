"""The guard of a robot that is told velocities: a base among zones, with motors that lag."""

from __future__ import annotations

import numpy as np
import pytest

from llm_planner.control.motion_constraints import FREE, MotionConstraints
from llm_planner.control.safety_filter.robots import VelocityGuard, base_body
from llm_planner.control.safety_filter.safety_filter import FilterSettings, SafetyFilter
from llm_planner.errors import InputError
from llm_planner.robots.limits import LimitShare
from llm_planner.robots.mobile_base import BASE_LIMITS, BASE_RADIUS, MOTOR_LAG
from llm_planner.robots.motion import JointState
from llm_planner.scene.scene import Pose
from llm_planner.scene.zones import Shape, Zone

TICK = 0.01
PERSON = MotionConstraints(zones=(Zone("Anna", Shape.CYLINDER, (0.25, 1.0), Pose((3.0, 0.0, 1.0)), clearance=0.5),))


class Base:
    """Its velocity comes after the command as that of a first-order lag."""

    def __init__(self, timeout: float = 0.0) -> None:
        share = LimitShare(velocity=1.0, acceleration=1.0, braking=0.8, position_margin=0.0)
        settings = FilterSettings(share=share, top_speed=1.5)
        self.guard = VelocityGuard(SafetyFilter(base_body(), BASE_LIMITS, settings), MOTOR_LAG, timeout=timeout)
        self.command = np.zeros(3)
        self.now, self.qpos, self.qvel = 0.0, np.zeros(3), np.zeros(3)

    def drive(self, seconds: float, constraints: MotionConstraints, wanted=None) -> list[np.ndarray]:
        """Positions every tick."""
        way = []
        for _ in range(round(seconds / TICK)):
            if wanted is not None:
                self.guard.hear(np.array(wanted, dtype=float), self.now)
            self.command = self.guard.step(JointState(self.now, self.qpos, self.qvel), self.now, constraints)
            self.roll()
            way.append(self.qpos)
        return way

    def roll(self) -> None:
        """One tick with the velocity that was commanded last."""
        after = self.command + (self.qvel - self.command) * np.exp(-TICK / MOTOR_LAG)
        self.qpos, self.qvel = self.qpos + TICK * (self.qvel + after) / 2, after
        self.now += TICK


@pytest.fixture
def base() -> Base:
    return Base()


def test_velocities_that_the_base_can_reach_pass_as_they_are(base):
    velocity = np.array([0.03, 0.0, 0.05])
    base.guard.hear(velocity, 0.0)
    assert base.guard.step(JointState(0.0, base.qpos, base.qvel), 0.0, FREE) == pytest.approx(velocity, abs=0.0)
    assert not base.guard.filtered.changed


def test_a_base_driven_at_a_person_stops_at_the_clearance(base):
    way = np.array(base.drive(5.0, PERSON, (1.2, 0.0, 0.0)))
    away = np.hypot(way[:, 0] - 3.0, way[:, 1]) - 0.25 - BASE_RADIUS
    assert away.min() >= 0.5 - 1e-3
    assert away[-1] < 0.56
    assert "Anna" in base.guard.filtered.binding


@pytest.mark.parametrize("moment", np.arange(0.5, 3.0, 0.25))
def test_a_base_that_hears_nothing_more_brakes_after_its_timeout_and_keeps_the_clearance(moment):
    base = Base(timeout=0.2)
    base.drive(moment, PERSON, (1.2, 0.0, 0.0))
    for _ in range(round(0.2 / TICK)):
        base.roll()
    for _ in range(100):  # its driver brakes
        base.command = np.maximum(base.command - TICK * 0.8 * BASE_LIMITS.qacc_max, 0.0)
        base.roll()
    assert 3.0 - base.qpos[0] - 0.25 - BASE_RADIUS >= 0.5 - 1e-3


def test_no_direction_is_faster_than_the_limit(base):
    base.drive(2.0, MotionConstraints(speed=0.4), (1.5, 1.5, 0.0))
    assert 0.37 < np.hypot(*base.qvel[:2]) <= 0.4


def test_without_a_commander_it_brakes_and_rests(base):
    base.drive(1.0, FREE, (1.0, 0.0, 0.5))
    base.drive(1.5, FREE)
    assert base.guard.rests(base.now)
    assert np.abs(base.qvel).max() < 1e-3


def test_a_velocity_that_is_none_is_braked_for(base):
    base.drive(1.0, FREE, (1.0, 0.0, 0.0))
    base.drive(1.0, FREE, (np.nan, 0.0, 0.0))
    assert np.abs(base.qvel).max() < 0.01


def test_after_a_restart_nothing_of_before_counts(base):
    base.drive(1.0, FREE, (1.0, 0.0, 0.0))
    base.guard.forget()
    assert base.guard.rests(0.0)
    assert not base.guard.step(JointState(0.0, np.zeros(3), np.zeros(3)), 0.0, FREE).any()


def test_a_state_that_is_none_is_an_error(base):
    with pytest.raises(InputError, match="the filter needs 3 finite joint velocities"):
        base.guard.step(JointState(0.0, np.zeros(3), np.full(3, np.inf)), 0.0, FREE)


ROOM = Zone("the lab", Shape.BOX, (2.0, 2.0, 2.0), Pose((3.0, 0.0, 0.0)))  # begins at x = 1.0


@pytest.mark.parametrize(
    ("x", "velocity", "is_out"),
    [
        (0.70, (0.0, 0.0), True),
        (0.80, (0.0, 0.0), False),  # its footprint is inside
        (0.30, (0.2, 0.0), True),
        (0.30, (1.2, 0.0), False),  # it would come to rest inside
        (0.30, (0.0, 1.2), True),
        (0.70, (-1.2, 0.0), True),
    ],
)
def test_a_base_keeps_out_of_a_zone_if_its_motion_to_rest_does(x, velocity, is_out):
    base = Base(timeout=0.2)
    assert not base.guard.keeps_out(ROOM, 0.0), "nothing is known before the first state"
    base.drive(0.6, FREE, (*velocity, 0.0))
    state = JointState(base.now, np.array([x, 0.0, 0.0]), base.qvel)
    base.guard.measured(state)
    assert base.guard.keeps_out(ROOM, base.now) is is_out
    base.guard.forget()
    assert not base.guard.keeps_out(ROOM, base.now)


def test_a_base_that_keeps_out_of_a_zone_can_stay_out_from_then_on(base):
    for _ in range(300):
        base.drive(0.01, FREE, (1.0, 0.2, 0.0))
        state = JointState(base.now, base.qpos, base.qvel)
        base.guard.measured(state)
        if not base.guard.keeps_out(ROOM, base.now):
            break
        before = base.now, base.qpos, base.qvel, base.command
    assert base.qpos[0] > 0.3, "it came near"
    base.now, base.qpos, base.qvel, base.command = before
    way = np.array(base.drive(3.0, MotionConstraints(zones=(ROOM,)), (1.0, 0.2, 0.0)))
    assert way[:, 0].max() <= 1.0 - BASE_RADIUS

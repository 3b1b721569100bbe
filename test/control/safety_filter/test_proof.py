"""Motions that are proved keep everything between their samples too; those that do not are named with the reason."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from llm_planner.control import formulation
from llm_planner.control.formulation import StartState
from llm_planner.control.motion_constraints import FREE, MotionConstraints
from llm_planner.control.safety_filter.distances import ITSELF
from llm_planner.control.safety_filter.proof import CLEAR
from llm_planner.control.safety_filter.safety_filter import SafetyFilter
from llm_planner.robots.arm_model import arm_model
from llm_planner.robots.motion import JointTrajectory

PANDA = arm_model("panda")

ZERO = np.zeros(7)


def swing(qpos: np.ndarray, step: np.ndarray, seconds: float = 1.0) -> JointTrajectory:
    """From rest at `qpos` (7,) to rest `step` (7,) farther on."""
    dt, half = 0.05, round(seconds / 0.1)
    qacc = np.repeat([1.0, -1.0], half)[:, None] * (step / (half * dt) ** 2)
    return formulation.integrate(StartState(qpos, ZERO, ZERO), qacc, 0.0, dt, 0.08)


@pytest.fixture
def safety(surroundings) -> SafetyFilter:
    return SafetyFilter(surroundings(0).body, PANDA.limits)


def test_a_slow_motion_among_no_zones_is_safe(safety, home):
    assert safety.prove(swing(home, np.full(7, 0.1)), 0.0, FREE).safe


@pytest.mark.parametrize(
    ("spoil", "why"),
    [
        (lambda m: replace(m, qvel=m.qvel * np.nan), "a number that is not finite"),
        (lambda m: replace(m, qpos=m.qpos + np.linspace(0, 1, len(m.qpos))[:, None]), "it jumps between two knots"),
        (lambda m: replace(m, qpos=m.qpos[:5], qvel=m.qvel[:5], qacc=m.qacc[:4]), "it does not end at rest"),
    ],
)
def test_what_is_no_motion_to_rest_is_not_safe(safety, home, spoil, why):
    assert safety.prove(spoil(swing(home, np.full(7, 0.1))), 0.0, FREE).why == why


@pytest.mark.parametrize(
    ("step", "seconds", "why"),
    [
        (np.array([0, 0, 0, 2.4, 0, 0, 0]), 4.0, "joint 4: position"),
        (np.array([2.0, 0, 0, 0, 0, 0, 0]), 1.6, "joint 1: velocity"),
        (np.array([0, 1.0, 0, 0, 0, 0, 0]), 0.6, "joint 2: acceleration"),
    ],
)
def test_the_joint_that_breaks_a_limit_is_named(safety, home, step, seconds, why):
    assert safety.prove(swing(home, step, seconds), 0.0, FREE).why == why


def test_a_hand_faster_than_the_limit_is_not_safe(safety, home):
    motion = swing(home, np.array([0.5, 0, 0, 0, 0, 0, 0]))
    assert safety.prove(motion, 0.0, MotionConstraints(speed=0.4)).safe
    assert safety.prove(motion, 0.0, MotionConstraints(speed=0.2)).why == "speed"


def test_only_what_is_still_to_come_counts(safety, home):
    motion = swing(home, np.array([0.5, 0, 0, 0, 0, 0, 0]))
    assert safety.prove(motion, 0.85, MotionConstraints(speed=0.2)).safe


@pytest.mark.parametrize("seed", range(60))
def test_what_is_proved_touches_no_zone_at_any_moment(surroundings, seed):
    around, rng = surroundings(seed), np.random.default_rng(seed)
    safety = SafetyFilter(around.body, PANDA.limits)
    motion = swing(around.qpos, rng.uniform(-0.3, 0.3, 7), 2.0)
    proof = safety.prove(motion, 0.0, around.constraints)
    moments = [formulation.sample(motion, time).qpos for time in np.linspace(0.0, 2.0, 400)]
    nearest = min(around.clearance(qpos) for qpos in moments)
    if proof.safe:
        assert nearest >= min(proof.clearance, CLEAR) - 1e-9
    else:
        assert proof.why in {ITSELF, *(zone.name for zone in around.constraints.zones)}
        assert nearest < 0.01, "the proof is not much stricter than it has to be"

"""Which motions of the hand are drawn for a reward program, and what none of them should do."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from llm_planner.control.zones import Zone
from llm_planner.rewards.futures import Futures
from llm_planner.rewards.hand_model import HAND_JOINTS, TIMESTEP, HandModel
from llm_planner.rewards.keeping import KeepOut
from llm_planner.rewards.planner import Motions
from llm_planner.rewards.rollouts import Rolled
from llm_planner.rewards.sampling import ControlRange, SamplingSettings
from llm_planner.simulation.objects import object_kind
from llm_planner.skills.gripper_shape import TIP
from llm_planner.skills.reach import REACH_MAX, REACH_MIN
from llm_planner.skills.ways import HAND, least_gap

Array = NDArray[np.float64]

ROLLOUTS, CHEAP_PARTS = 18, 8  # a thing of more convex parts is rolled out less often, so that a plan takes no longer
HORIZON, KNOTS = 1.0, 6  # [s]
EVERY = 5
FAST, PUSH_FAST, TURNING = 0.25, 0.14, 1.2  # [m/s], [rad/s] of a hand, and of one that pushes; faster is dear
LAG = 0.02  # [m] that the hand may be behind its servo: more is pushing against something that does not give
TABLE_X, TABLE_Y = (0.24, 0.72), 0.48  # [m] where things are left in reach
# Standard deviations of the control points: place, height [m], yaw, tilt [rad].
PUSHING = (0.015, 0.004, 0.1, 0.0)
MOVING = (0.05, 0.05, 0.3, 0.0)
CARRYING = (0.05, 0.05, 0.3, 0.3)
LOWER = np.array([0.2, -0.6, TIP + 0.003, -7.0, -1.7, -1.7])
UPPER = np.array([0.8, 0.6, 0.55, 7.0, 1.7, 1.7])


def push_motions(model: HandModel) -> Motions:
    """Of closed fingers that touch things: small, and at one height."""
    parts = sum(len(object_kind(model.scene.find(name).kind).parts) for name in model.movers)
    count = max(6, round(ROLLOUTS * min(1.0, CHEAP_PARTS / max(parts, 1))))
    return _motions(model, count, PUSHING, PUSH_FAST, 0)


def free_motions(model: HandModel) -> Motions:
    """Of a hand that touches nothing but what it holds."""
    return _motions(model, ROLLOUTS, CARRYING if model.scene.held else MOVING, FAST, 10)


def hand_keeps_out(model: HandModel, zones: tuple[Zone, ...]) -> KeepOut:
    """Of `zones`: the point between the fingertips, or the whole hand with what it holds."""
    reach = max(HAND, model.load)
    return KeepOut(zones, lambda zone: least_gap(zone, reach))


def _motions(model: HandModel, rollouts: int, spreads: Sequence[float], fast: float, elsewhere: int) -> Motions:
    place, height, turn, tilt = spreads
    widest = np.array([place, place, height, turn, tilt, tilt])
    spread = np.tile(widest, (KNOTS, 1))
    spread[0] = 0.0  # the first control point is where the hand is
    sampling = SamplingSettings(rollouts=rollouts, horizon=HORIZON, knots=KNOTS, interpolation="linear", finest=0.2)
    return Motions(
        sampling, ControlRange(LOWER, UPPER, spread), EVERY,
        lambda rolled, futures: strain(rolled, fast) + _out_of_reach(futures, model.movers),
        lambda rng: _elsewhere(widest, rng), elsewhere, axes=3,
    )  # fmt: skip


def _elsewhere(spread: Array, rng: np.random.Generator) -> Array:
    """A motion over the horizon no faster than a hand should be: of place, height, heading and tilt some, or all."""
    end = 3.0 * spread * rng.standard_normal(len(HAND_JOINTS))
    end *= np.repeat(rng.random(4) < (0.8, 0.6, 0.3, 0.3), (2, 1, 1, 2))
    most = HORIZON * np.array([FAST, TURNING])
    sizes = np.array([np.linalg.norm(end[:3]), np.abs(end[3:]).max()])
    end *= 10.0 ** rng.uniform(-1.0, 0.0)  # far, or a last little way
    shrunk: Array = end * np.repeat(np.minimum(1.0, most / np.maximum(sizes, 1e-9)), (3, 3))
    return shrunk


def strain(rolled: Rolled, fast: float) -> Array:
    """What no program wants (n,): a hand faster than `fast` [m/s], out of reach, or pushing against what does not
    give."""
    controls, hand = rolled.controls, rolled.qpos[:, :, : len(HAND_JOINTS)]
    rates = np.diff(controls[:, ::10], axis=1) / (10 * TIMESTEP)
    speed = np.linalg.norm(rates[..., :3], axis=-1)
    turning = np.abs(rates[..., 3:]).max(axis=-1)
    hurry = np.maximum(speed / fast - 1.0, 0.0) + np.maximum(turning / TURNING - 1.0, 0.0)
    lag = np.linalg.norm((controls - hand)[..., :3], axis=-1)
    radius = np.linalg.norm(controls[..., :2], axis=-1)
    beyond = np.maximum(radius - REACH_MAX, 0.0) + np.maximum(REACH_MIN + 0.02 - radius, 0.0)
    cost: Array = (
        hurry.mean(axis=1) + 0.05 * speed.mean(axis=1) + 0.02 * turning.mean(axis=1)
        + 20.0 * np.maximum(lag - LAG, 0.0).mean(axis=1) + 20.0 * beyond.mean(axis=1)
    )  # fmt: skip
    return cost


def _out_of_reach(futures: Futures, movers: Sequence[str]) -> Array:
    """Things pushed to where the arm could not push them back from (n,)."""
    out = np.zeros(len(next(iter(futures.courses.values())).position))
    for name in movers:
        x, y = np.moveaxis(futures.course(name).position[:, -1, :2], -1, 0)
        out += np.maximum(TABLE_X[0] - x, 0) + np.maximum(x - TABLE_X[1], 0) + np.maximum(np.abs(y) - TABLE_Y, 0)
    return 20.0 * out

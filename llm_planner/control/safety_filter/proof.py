"""Proofs that a whole motion is safe until the robot rests, and the accelerations after which joints can still stop.

Between two samples a point of the body stays within dq' B dq / 8 + e' r of its chord. B and r bound the body's second
and first derivatives, and e is the deviation of the joints from the straight line (a dt^2 / 8). Along the chord the
distance from a zone is convex, so the tangents at both ends bound it from below. A proof holds for the commanded motion
and for the spheres that cover the body.

Joints are double integrators with bounded deceleration. A joint with velocity v that brakes in whole stages of `dt`
travels at most

    s(v) = v |v| / (2 b) + dt v / 2          [rad], b its braking deceleration

before it rests; the second term bounds the effect of rounding up to whole stages. A next velocity is allowed if the
joint can reach it and then rest inside its limits. Braking with b preserves this property. The barrier
q + s(v) <= q_max is therefore invariant, and inside it the inequalities below always have a solution.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from llm_planner.control.safety_filter import kernel
from llm_planner.control.safety_filter.bodies import Body
from llm_planner.control.safety_filter.distances import Surroundings
from llm_planner.robots.limits import JointLimits
from llm_planner.robots.motion import Array, JointTrajectory, sample

CHORD = 0.0005  # [m] deviation from a chord above which sampling is refined
FINEST = 4  # largest number of samples per stage
STAND = 1e-6  # [m] by which a violated clearance may shrink
JUMP = 2e-3  # [rad, rad/s] tolerance between a knot and its integration from the previous one
SPEED_TOLERANCE = 1.02
CLEAR = 0.01  # [m] from zones at which a proved hold needs no program


@dataclass(frozen=True)
class Proof:
    """Result of a proof: `why` is empty if the motion is safe, else the reason against it.

    `clearance` [m] is a lower bound on the smallest clearance, and is meaningful only up to `CLEAR`.
    """

    why: str = ""
    clearance: float = float("inf")

    @property
    def safe(self) -> bool:
        return not self.why


def joints_proof(motion: JointTrajectory, limits: JointLimits) -> Proof:
    """Prove that the knots of `motion` are consistent, end at rest, and keep the joint limits."""
    qpos, qvel, qacc, dt = motion.qpos, motion.qvel, motion.qacc, motion.dt
    if not (np.isfinite(qpos).all() and np.isfinite(qvel).all() and np.isfinite(qacc).all()):
        return Proof("a number that is not finite")
    if np.abs(qvel[-1]).max() > JUMP:
        return Proof("it does not end at rest")
    change = dt * qacc
    apart = np.abs(qvel[1:] - qvel[:-1] - change).max(initial=0.0)
    if max(apart, np.abs(qpos[1:] - qpos[:-1] - dt * (qvel[:-1] + 0.5 * change)).max(initial=0.0)) > JUMP:
        return Proof("it jumps between two knots")
    for values, bound, name in ((qacc, limits.acceleration, "acceleration"), (qvel, limits.velocity, "velocity")):
        over = (np.abs(values) - bound).max(axis=0)
        if over.max() > JUMP:
            return Proof(f"joint {int(over.argmax()) + 1}: {name}")
    outside = np.maximum(limits.lower - qpos, qpos - limits.upper)
    worse = outside.max(axis=0) - np.maximum(outside[0], 0.0)
    if worse.max() > JUMP:
        return Proof(f"joint {int(worse.argmax()) + 1}: position")
    return Proof()


def motion_proof(motion: JointTrajectory, now: float, around: Surroundings, speed: float) -> Proof:
    """Prove that `motion` keeps all clearances, and point 0 its limit `speed` [m/s], from `now` [s] to the end."""
    times, step = _times(motion, now, around.body)
    qpos = np.ascontiguousarray(sample(motion, times)[0])
    between = sag(qpos, np.abs(motion.qacc).max(axis=0) * (0.125 * step * step), around.body)
    way = np.abs(qpos[1:] - qpos[:-1]).sum(axis=0)
    around = around.near(qpos[0], way, 2.0 * float(between.max(initial=0.0)) + CLEAR)
    bound, lost, farthest = around.model.path(qpos, between, STAND, CLEAR)
    if farthest > SPEED_TOLERANCE * speed * step:
        return Proof("speed")
    return Proof(around.name(lost), bound)


def ahead_proof(ahead: kernel.Ahead, around: Surroundings) -> Proof:
    """Prove the clearances along a look ahead in `around`; those that are violated at its start must not shrink."""
    bound, lost = ahead.lowest(STAND, CLEAR)
    return Proof(around.name(lost), bound)


def sag(qpos: Array, off: Array, body: Body) -> Array:
    """Bound the deviation of points of `body` from their chords between joint positions, (n - 1,) [m].

    Args:
        qpos: Joint positions, (n, nq) [rad].
        off: Deviation of the joints from the straight lines between these, (nq,) [rad].
        body: Body of the robot.
    """
    leaves = np.empty(len(qpos) - 1)
    kernel.sag(np.ascontiguousarray(qpos), off, body.bend, body.most, leaves)
    return leaves


def _times(motion: JointTrajectory, now: float, body: Body) -> tuple[Array, float]:
    """Return evenly spaced times from `now` to the end, as fine as `CHORD` requires, and their step [s]."""
    chord = sag(motion.qpos, np.abs(motion.qacc).max(axis=0) * (0.125 * motion.dt**2), body).max()
    parts = min(max(int(np.ceil(np.sqrt(chord / CHORD))), 1), FINEST)
    left = motion.start_time + motion.dt * len(motion.qacc) - now
    count = max(1, int(np.ceil(parts * left / motion.dt - 1e-6)))
    step = max(left, 0.0) / count
    times: Array = now + step * np.arange(count + 1.0)
    return times, max(step, 1e-9)


@dataclass(frozen=True)
class Move:
    """Start of a hold: joint positions and velocities (nq,), and the duration `dt` [s]."""

    qpos: Array
    qvel: Array
    dt: float


def travel(qvel: Array, braking: Array, dt: float) -> Array:
    """Return the signed braking distance of each joint, (nq,) [rad]."""
    return qvel * (0.5 * np.abs(qvel) / braking + 0.5 * dt)


def acceleration_bounds(
    qpos: Array, qvel: Array, limits: JointLimits, braking: Array, dt: float
) -> tuple[Array, Array]:
    """Compute the bounds (nq,) of the accelerations for the next `dt` [s] after which each joint can still stop.

    Acceleration limits take precedence: a joint that cannot keep its other limits gets the one acceleration that comes
    closest. A joint beyond a limit is not pushed back, but must not move farther out.
    """
    bounds = np.empty((2, len(qpos)))
    at_most = limits.lower, limits.upper, limits.velocity, limits.acceleration
    kernel.acceleration_bounds(qpos, qvel, *at_most, braking, dt, bounds)
    return bounds[0], bounds[1]


def way_to_rest(start: Move, qacc: Array, braking: Array, samples: int) -> tuple[Array, Array]:
    """Sample a hold of `qacc` (nq,) and the braking after it; joints brake like `formulation.brake`.

    Returns:
        Positions (n + 1, nq) [rad] now, after the hold, at up to `samples` times of braking, and last where immediate
        braking ends; and bounds (n - 1, nq) [rad] on the deviation of the joints from straight lines between the
        first n.
    """
    nq = len(qacc)
    way, off = np.empty((samples + 3, nq)), np.empty((samples + 1, nq))
    used = kernel.way_to_rest(start.qpos, start.qvel, qacc, braking, start.dt, way, off)
    return way[: used + 3], off[: used + 1]

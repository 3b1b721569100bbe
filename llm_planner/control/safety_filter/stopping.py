"""What every joint may do next so that it can still stop: double integrators with bounded deceleration.

A joint with velocity v that brakes in whole stages of `dt` comes to rest within

    s(v) = v |v| / (2 b) + dt v / 2          [rad], b its braking deceleration

farther on (the second term is what rounding up to whole stages costs at most). A next velocity is allowed if the joint
gets there and to rest inside its limits; since braking with b keeps that true, it is true for ever once it is: the
barrier q + s(v) <= q_max is invariant, and no inequality below is ever empty inside it.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from llm_planner.control.limits import JointLimits
from llm_planner.control.reference import Array


@dataclass(frozen=True)
class Move:
    """Where one hold begins: joint positions and velocities (nq,), and how long it is, `dt` [s]."""

    qpos: Array
    qvel: Array
    dt: float


def travel(qvel: Array, braking: Array, dt: float) -> Array:
    """How far each joint goes on until it rests (nq,) [rad], signed."""
    return qvel * (0.5 * np.abs(qvel) / braking + 0.5 * dt)


def travel_slope(qvel: Array, braking: Array, dt: float) -> Array:
    """The derivative of `travel` by the velocity (nq,) [s]."""
    slope: Array = np.abs(qvel) / braking + 0.5 * dt
    return slope


def acceleration_bounds(
    qpos: Array, qvel: Array, limits: JointLimits, braking: Array, dt: float
) -> tuple[Array, Array]:
    """The accelerations (nq,) between which each joint may choose for the next `dt` [s].

    The acceleration limit comes first: a joint that can no longer keep its other limits gets the one acceleration that
    comes closest. One that is beyond a limit is not pushed back, but never goes on.
    """
    fastest = np.minimum(limits.velocity, _approach(limits.upper - qpos, qvel, braking, dt))
    slowest = -np.minimum(limits.velocity, _approach(qpos - limits.lower, -qvel, braking, dt))
    least, most = -limits.acceleration, limits.acceleration
    lower: Array = np.minimum(np.maximum((slowest - qvel) / dt, least), most)
    upper: Array = np.minimum(np.maximum((fastest - qvel) / dt, least), most)
    return np.minimum(lower, upper), upper


def _approach(room: Array, qvel: Array, braking: Array, dt: float) -> Array:
    """The largest next velocity towards a limit `room` ahead: dt (v + v') / 2 + s(v') <= room, and v' >= 0."""
    left = np.maximum(room - 0.5 * dt * qvel, 0.0)
    velocity: Array = braking * (np.sqrt(dt * dt + 2.0 * left / braking) - dt)
    return velocity


def way_to_rest(start: Move, qacc: Array, braking: Array, samples: int) -> tuple[Array, Array]:
    """Positions (n, nq) now, after a hold of `qacc` (nq,), and up to `samples` more while every joint brakes to rest.

    Also how far the joints may be from the straight line between two of them (n - 1, nq) [rad]. Each joint brakes
    evenly over whole stages of `start.dt`, as `control.fallback.brake` has it.
    """
    dt = start.dt
    velocity = start.qvel + dt * qacc
    after = start.qpos + (0.5 * dt) * (start.qvel + velocity)
    stages = np.ceil(np.abs(velocity) / (braking * dt) - 1e-9)
    slowing = 0.5 * velocity / (dt * np.maximum(stages, 1.0))
    longest = int(stages.max())
    samples = min(max(longest, 1), samples)
    step = longest * dt / samples
    time = np.minimum(step * np.arange(samples + 1.0)[:, None], dt * stages)
    qpos = np.concatenate([start.qpos[None], after + time * (velocity - slowing * time)])
    off = np.minimum(np.abs(qpos[1:] - qpos[:-1]), np.abs(slowing) * (0.25 * step * step))
    off[0] = np.abs(qacc) * (0.125 * dt * dt)
    return qpos, off

"""Rows that keep the Euclidean speed of the gripper point: a box around its velocity, inside the ball of the limit.

An axis-aligned box of half width v lets the speed be sqrt(3) v. Here the box is turned along the velocity that was
planned so far and is the longer and the thinner the nearer that is to the limit; its corners lie on the ball.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from llm_planner.control.reference import Array

LONGEST = 0.97  # half length of the box along the velocity, by the limit; its half widths are then 0.17
_CUBE = 3.0**-0.5


@dataclass(frozen=True)
class SpeedRows:
    """|`gradient` (K, 3, nq) @ qvel_k| <= `most` (K, 3), in m/s."""

    gradient: Array
    most: Array


def speed_rows(jacobian: Array, velocity: Array, wish: Array, limit: float) -> SpeedRows:
    """Rows for the Jacobian (K, nq, 3) of the point at stages where it moves at `velocity` (K, 3), so far planned.

    Where it hardly moves the box turns along `wish` (K, 3), the velocity without the limit.
    """
    speed = np.sqrt(np.einsum("ki,ki->k", velocity, velocity))
    share = np.minimum(speed / limit, 1.0)
    along = np.where((share > 0.2)[:, None], velocity, wish)
    axes = _frames(along)
    length = _CUBE + (LONGEST - _CUBE) * share
    width = np.sqrt(0.5 * (1.0 - length * length))
    return SpeedRows(np.einsum("kfi,kji->kfj", axes, jacobian), limit * np.stack([length, width, width], axis=1))


def _frames(along: Array) -> Array:
    """(K, 3, 3): rows are unit vectors, the first along `along` (K, 3), which may be zero."""
    norm = np.sqrt(np.einsum("ki,ki->k", along, along))
    first = np.where((norm > 1e-9)[:, None], along / np.maximum(norm, 1e-9)[:, None], (1.0, 0.0, 0.0))
    helper = np.where((np.abs(first[:, 2]) < 0.9)[:, None], (0.0, 0.0, 1.0), (1.0, 0.0, 0.0))
    second = _cross(first, helper)
    second /= np.sqrt(np.einsum("ki,ki->k", second, second))[:, None]
    return np.stack([first, second, _cross(first, second)], axis=1)


def _cross(a: Array, b: Array) -> Array:
    return a[:, [1, 2, 0]] * b[:, [2, 0, 1]] - a[:, [2, 0, 1]] * b[:, [1, 2, 0]]

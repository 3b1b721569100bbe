"""Samples a joint trajectory at the physics rate."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from llm_planner.control.reference import JointTrajectory

Array = NDArray[np.float64]


def sample(trajectory: JointTrajectory, times: Array) -> tuple[Array, Array]:
    """qpos and qvel, each (n, nq), at `times` (n,) [s]: constant acceleration between knots, the ends hold."""
    last = len(trajectory.qacc)
    elapsed = np.minimum(np.maximum(times - trajectory.start_time, 0.0), last * trajectory.dt)
    knots = (elapsed / trajectory.dt).astype(np.intp)
    tau = (elapsed - knots * trajectory.dt)[:, None]  # 0 at the last knot, after which nothing accelerates
    qvel, qacc = trajectory.qvel[knots], trajectory.qacc[np.minimum(knots, last - 1)]
    return trajectory.qpos[knots] + tau * (qvel + 0.5 * tau * qacc), qvel + tau * qacc

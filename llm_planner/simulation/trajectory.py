"""Samples a joint trajectory at the physics rate."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from llm_planner.control.reference import JointTrajectory

Array = NDArray[np.float64]


def sample(trajectory: JointTrajectory, times: Array) -> tuple[Array, Array]:
    """qpos and qvel, each (n, nq), at `times` (n,) [s]: constant acceleration between knots, the ends hold."""
    last = len(trajectory.qacc) - 1
    elapsed = np.minimum(np.maximum(times - trajectory.start_time, 0.0), (last + 1) * trajectory.dt)
    knots = np.minimum((elapsed / trajectory.dt).astype(np.intp), last)
    tau = (elapsed - knots * trajectory.dt)[:, None]
    qvel, qacc = trajectory.qvel[knots], trajectory.qacc[knots]
    return trajectory.qpos[knots] + tau * (qvel + 0.5 * tau * qacc), qvel + tau * qacc

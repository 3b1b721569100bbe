"""Moves a commanded trajectory a little aside, smoothly, so that a servo that sags ends where the plan wants it.

The shift is a small plan of its own: from where it is to where it should be, at rest, with the least acceleration.
It takes about as long as the servo takes to answer, so that the servo's damping term is not provoked.
"""

from __future__ import annotations

import numpy as np

from llm_planner.control import fallback
from llm_planner.control.formulation import StartState
from llm_planner.control.reference import Array, JointTrajectory

REACHED_IN = 0.2  # [s] at most; every tick plans anew, so that it is approached rather than reached


class Shift:
    """The shift in force, of `nq` joints; single owner."""

    def __init__(self, nq: int) -> None:
        self._nq = nq
        self.reset()

    def reset(self) -> None:
        """No shift."""
        self._plan = fallback.hold(np.zeros(self._nq), 0.0, 1.0, 0.0)

    def at(self, time: float) -> Array:
        """The shift at `time` [s], (nq,) [rad]."""
        return fallback.sample(self._plan, time).qpos

    def applied(self, plan: JointTrajectory, wanted: Array) -> JointTrajectory:
        """`plan` with the shift on its way to `wanted` (nq,) [rad] from the plan's start on; it still ends at rest."""
        stages = max(1, round(REACHED_IN / plan.dt))
        plan = _lengthened(plan, stages)
        start = fallback.sample(self._plan, plan.start_time)
        qacc = np.zeros_like(plan.qacc)
        qacc[:stages] = _transfer(start, wanted, stages, plan.dt)
        self._plan = shift = fallback.integrate(start, qacc, plan.start_time, plan.dt, 0.0)
        return JointTrajectory(
            plan.start_time,
            plan.dt,
            plan.qpos + shift.qpos,
            plan.qvel + shift.qvel,
            plan.qacc + shift.qacc,
            plan.gripper_width,
        )


def _transfer(start: StartState, goal: Array, stages: int, dt: float) -> Array:
    """The least accelerations (stages, nq) [rad/s^2], constant in each stage, that bring `start` to rest at `goal`."""
    to_end = dt * dt * (stages - 0.5 - np.arange(stages))  # of the position, by the acceleration of each stage
    effect = np.vstack([to_end, np.full(stages, dt)])
    missing = np.vstack([goal - start.qpos - stages * dt * start.qvel, -start.qvel])
    accelerations: Array = np.linalg.pinv(effect) @ missing
    return accelerations


def _lengthened(plan: JointTrajectory, stages: int) -> JointTrajectory:
    """`plan`, at rest at its end until it has that many stages."""
    missing = max(0, stages - len(plan.qacc))
    nothing = np.zeros((missing, plan.qpos.shape[1]))
    return JointTrajectory(
        plan.start_time,
        plan.dt,
        np.vstack([plan.qpos, np.tile(plan.qpos[-1], (missing, 1))]),
        np.vstack([plan.qvel, nothing]),
        np.vstack([plan.qacc, nothing]),
        plan.gripper_width,
    )

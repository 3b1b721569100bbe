"""Plans that need no solver: rest, brake, and sampling or replaying an earlier plan."""

from __future__ import annotations

import numpy as np

from llm_planner.control.formulation import StartState
from llm_planner.control.limits import JointLimits
from llm_planner.control.reference import Array, JointTrajectory


def sample(plan: JointTrajectory, time: float) -> StartState:
    """Position, velocity and acceleration of `plan` at `time` [s]; before it its start, after it its end."""
    elapsed = max(0.0, time - plan.start_time)
    # A hair of tolerance so that a time on a knot never falls into the stage before it.
    stage = int(elapsed / plan.dt + 1e-6)
    if stage >= len(plan.qacc):
        zero = np.zeros_like(plan.qpos[-1])
        return StartState(plan.qpos[-1], zero, zero)
    tau = max(0.0, elapsed - stage * plan.dt)
    qacc = plan.qacc[stage]
    qvel = plan.qvel[stage] + tau * qacc
    return StartState(plan.qpos[stage] + tau * (plan.qvel[stage] + 0.5 * tau * qacc), qvel, qacc)


def end_time(plan: JointTrajectory) -> float:
    """When `plan` has come to rest [s]."""
    return plan.start_time + plan.dt * len(plan.qacc)


def integrate(start: StartState, qacc: Array, start_time: float, dt: float, gripper_width: float) -> JointTrajectory:
    """The trajectory from `start` under accelerations `qacc` (n, nq), constant in each stage of `dt` [s]."""
    qpos, qvel = np.empty((2, len(qacc) + 1, len(start.qpos)))
    qpos[0], qvel[0] = start.qpos, start.qvel
    qvel[1:] = start.qvel + dt * qacc.cumsum(axis=0)
    qpos[1:] = start.qpos + (dt * qvel[:-1] + (0.5 * dt * dt) * qacc).cumsum(axis=0)
    return JointTrajectory(start_time, dt, qpos, qvel, qacc, gripper_width)


def hold(qpos: Array, time: float, dt: float, gripper_width: float) -> JointTrajectory:
    """Stand still at `qpos` (nq,)."""
    zero = np.zeros((1, len(qpos)))
    return JointTrajectory(time, dt, np.vstack([qpos, qpos]), np.vstack([zero, zero]), zero, gripper_width)


def brake(start: StartState, limits: JointLimits, time: float, dt: float, gripper_width: float) -> JointTrajectory:
    """Bring every joint to rest as fast as `limits.acceleration` allows, in whole stages of `dt` [s]."""
    return integrate(start, braking(start.qvel, limits.acceleration, dt), time, dt, gripper_width)


def braking(qvel: Array, most: Array, dt: float) -> Array:
    """The accelerations (n, nq) that bring joints from `qvel` (nq,) to rest, at most `most`, in stages of `dt` [s]."""
    stages = np.ceil(np.abs(qvel) / (most * dt) - 1e-9)
    count = max(1, int(stages.max()))
    per_stage = -qvel / (dt * np.maximum(stages, 1.0))
    return np.where(np.arange(count)[:, None] < stages, per_stage, 0.0)


def brake_together(start: StartState, stages: int, time: float, dt: float, gripper_width: float) -> JointTrajectory:
    """Bring all joints to rest in `stages` of `dt` [s]: in joint space straight on, and ever more slowly."""
    qacc = np.tile(-start.qvel / (stages * dt), (stages, 1))
    return integrate(start, qacc, time, dt, gripper_width)

"""Quadratic program of the tracking problem for each joint, and plans that need no solver.

Over a horizon of N stages of `dt` seconds each joint is a double integrator with constant acceleration in every stage.
Stages form blocks that share one acceleration (move blocking), so the decision variable of a joint is x (n_blocks,),
its acceleration [rad/s^2] in each block. With start (q0, v0), planned acceleration a0 and reference r:

    minimise   sum_k  w_q,k (q_k - r_k)^2 + w_v (v_k - rdot_k)^2 + w_a a_k^2  +  w_da sum_b (x_b - x_{b-1})^2
    subject to |x_b| <= a_max,  |v_k| <= v_max,  q_min <= q_k <= q_max   for k = 1..N,    v_N = 0

with x_{-1} = a0. The plan ends at rest, so following it to its end is always safe; the fallback relies on this.
Velocity is linear in a block, so bounds at the ends of blocks hold at all stages and between them.

No term couples two joints, so each joint has its own program. Only the gradient f and the bounds change from tick to
tick; H and the constraint matrix are constant.

A plan is replaced after the period p between ticks, which may be shorter than a stage. A constant acceleration that
meets the reference at the end of the stage trails it when only the first part of the stage is carried out. The program
therefore tracks, instead of r, the motion of the model nearest to r that starts in r's present state, has r's velocity
at p, and ends at rest. Costs of acceleration count from the accelerations of that motion.

The functions hold, brake, sample and integrate plans without a solver.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from llm_planner.errors import InputError
from llm_planner.robots.limits import JointLimits
from llm_planner.robots.motion import Array, JointTrajectory


@dataclass(frozen=True)
class Horizon:
    """Horizon of stages of `dt` [s]; the `blocks[i]` stages of block i share one acceleration."""

    dt: float = 0.05
    blocks: tuple[int, ...] = (1, 1, 1, 2, 2, 3, 4, 6)

    def __post_init__(self) -> None:
        if self.dt <= 0 or not self.blocks or min(self.blocks) < 1:
            raise InputError(f"a horizon needs dt > 0 and blocks of one stage or more, not dt={self.dt}, {self.blocks}")

    @property
    def stages(self) -> int:
        return sum(self.blocks)


@dataclass(frozen=True)
class Weights:
    """Weights of the cost; their units make each term dimensionless."""

    position: float = 20000.0
    velocity: float = 20.0
    acceleration: float = 0.0005
    acceleration_change: float = 0.001
    decay: float = 0.9  # ratio of the position and velocity weights of successive stages


@dataclass(frozen=True)
class StartState:
    """Start of a plan: `qpos`, `qvel`, and the acceleration `qacc` of the previous plan there, each (nq,)."""

    qpos: Array
    qvel: Array
    qacc: Array


@dataclass(frozen=True)
class Reference:
    """Motion to track: `qpos` and `qvel` (N + 2, nq) now, after the `period` [s] between ticks, and at knots 1..N."""

    period: float
    qpos: Array
    qvel: Array


@dataclass(frozen=True)
class Bounds:
    """Per-tick parts of the tracking programs.

    Attributes:
        f: Gradient of each joint, (nq, n).
        lower: Bounds of the variables, followed by those of the rows of A, (nq, n + m).
        upper: The same.
    """

    f: Array
    lower: Array
    upper: Array


class TrackingProblem:
    """Matrices of the tracking program: `H` (n, n), and `A` (m, n) with velocities at block ends, then positions."""

    def __init__(self, horizon: Horizon, weights: Weights) -> None:
        self.horizon = horizon
        stages, dt = horizon.stages, horizon.dt
        self._block_of_stage = np.repeat(np.arange(len(horizon.blocks)), horizon.blocks)
        expand = np.eye(len(horizon.blocks))[self._block_of_stage]  # (N, n): stage accelerations from block ones
        lag = np.arange(1, stages + 1)[:, None] - np.arange(stages)[None, :]  # stages from the start of l to knot k
        self.velocity = np.tril(np.full((stages, stages), dt)) @ expand  # (N, n): v_k - v_0
        self.position = np.where(lag > 0, dt * dt * (lag - 0.5), 0.0) @ expand  # (N, n): q_k - q_0 - k dt v_0
        self._times = dt * np.arange(1, stages + 1)
        self.block_ends = np.cumsum(horizon.blocks) - 1
        decay = weights.decay ** np.arange(stages)
        self._position_gradient = self.position.T * (weights.position * decay)
        self._velocity_gradient = self.velocity.T * (weights.velocity * decay)
        self._change = weights.acceleration_change
        difference = np.eye(len(horizon.blocks)) - np.eye(len(horizon.blocks), k=-1)
        hessian = self._position_gradient @ self.position + self._velocity_gradient @ self.velocity
        hessian = hessian + weights.acceleration * expand.T @ expand + self._change * difference.T @ difference
        self.H = np.ascontiguousarray((hessian + hessian.T) / 2)
        self.A = np.vstack([self.velocity[self.block_ends], self.position])
        self._gradients = dict[float, Array]()

    @property
    def equality_row(self) -> int:
        """Index of the constraint v_N = 0 in the simple bounds followed by the rows of A."""
        return 2 * len(self.horizon.blocks) - 1

    def times(self, period: float) -> Array:
        """Return the times of a `Reference` after now, (N + 2,) [s]."""
        return np.concatenate([(0.0, period), self._times])

    def bounds(self, start: StartState, reference: Reference, limits: JointLimits) -> Bounds:
        """Compute gradient and bounds for a tick that plans from `start` within `limits`."""
        coast, period = self.coast(start), reference.period
        gain = reference.qvel[1] - reference.qvel[0]
        gain = np.minimum(np.maximum(gain, -period * limits.acceleration), period * limits.acceleration)
        known = np.concatenate([(start.qpos, start.qvel, start.qacc, gain), reference.qpos, reference.qvel])
        if period not in self._gradients:
            self._gradients[period] = self._gradient(period)
        gradient = self._gradients[period] @ known
        ends = self._times[self.block_ends][:, None]
        # A start above the limit, which may have been lowered, gets the time that it needs to brake below it.
        room = np.maximum(limits.velocity, np.abs(start.qvel) - 0.8 * limits.acceleration * ends)
        room[-1] = 0.0
        n, nq = gradient.shape
        lower, upper = np.empty((2, nq, 2 * n + len(coast)))
        upper[:, :n] = limits.acceleration[:, None]
        lower[:, :n] = -upper[:, :n]
        upper[:, n : 2 * n] = (room - start.qvel).T
        lower[:, n : 2 * n] = (-room - start.qvel).T
        # A joint that was pushed beyond its range may stay there, but must not move farther out.
        upper[:, 2 * n :] = (np.maximum(limits.upper, start.qpos) - coast).T
        lower[:, 2 * n :] = (np.minimum(limits.lower, start.qpos) - coast).T
        return Bounds(np.ascontiguousarray(gradient.T), lower, upper)

    def _gradient(self, period: float) -> Array:
        """Return the matrix of f: by start (qpos, qvel, qacc), velocity gained in `period`, and reference."""
        n = len(self.H)
        fixed = self.velocity[-1:]
        if period < self.horizon.dt:  # otherwise whole stages are carried out
            fixed = np.vstack([fixed, period * np.eye(n)[0]])
        system = np.block([[self.H, fixed.T], [fixed, np.zeros((len(fixed), len(fixed)))]])
        nearest = self.H @ np.linalg.inv(system)[:n]
        nearest, at_rest, gained = nearest[:, :n], nearest[:, n], nearest[:, n + 1 :].sum(axis=1)
        positions, velocities = self._position_gradient, self._velocity_gradient
        shift, drift = positions.sum(axis=1), positions @ self._times + velocities.sum(axis=1)
        change = self._change * np.eye(n)[0]
        unused = np.zeros(n)
        columns = [shift, drift, -change, change / period - gained]
        columns += [nearest @ shift - shift, unused, *(-nearest @ positions).T]
        columns += [nearest @ drift - drift + at_rest, unused, *(-nearest @ velocities).T]
        return np.ascontiguousarray(np.array(columns).T)

    def coast(self, start: StartState) -> Array:
        """Compute positions (N, nq) at knots 1..N without acceleration."""
        there: Array = start.qpos + self._times[:, None] * start.qvel
        return there

    def motion(self, start: StartState, x: Array) -> tuple[Array, Array]:
        """Compute positions and velocities (N, nq) at knots 1..N under the block accelerations `x` (n, nq)."""
        return self.coast(start) + self.position @ x, start.qvel + self.velocity @ x

    def trajectory(self, start: StartState, x: Array, start_time: float, gripper_width: float) -> JointTrajectory:
        """Build the plan from `start` under the block accelerations `x` (n, nq)."""
        shape = (self.horizon.stages + 1, len(start.qpos))
        qpos, qvel = np.empty(shape), np.empty(shape)
        qpos[0], qvel[0] = start.qpos, start.qvel
        qpos[1:], qvel[1:] = self.motion(start, x)
        qvel[-1] = 0.0  # the solver meets v_N = 0 only within its tolerance
        return JointTrajectory(start_time, self.horizon.dt, qpos, qvel, x[self._block_of_stage], gripper_width)


def sample(plan: JointTrajectory, time: float) -> StartState:
    """Sample position, velocity and acceleration of `plan` at `time` [s], clamped to its start and end."""
    elapsed = max(0.0, time - plan.start_time)
    # The tolerance keeps a time on a knot out of the stage before it.
    stage = int(elapsed / plan.dt + 1e-6)
    if stage >= len(plan.qacc):
        zero = np.zeros_like(plan.qpos[-1])
        return StartState(plan.qpos[-1], zero, zero)
    tau = max(0.0, elapsed - stage * plan.dt)
    qacc = plan.qacc[stage]
    qvel = plan.qvel[stage] + tau * qacc
    return StartState(plan.qpos[stage] + tau * (plan.qvel[stage] + 0.5 * tau * qacc), qvel, qacc)


def end_time(plan: JointTrajectory) -> float:
    """Return the time at which `plan` comes to rest [s]."""
    return plan.start_time + plan.dt * len(plan.qacc)


def integrate(start: StartState, qacc: Array, start_time: float, dt: float, gripper_width: float) -> JointTrajectory:
    """Integrate accelerations `qacc` (n, nq), constant in each stage of `dt` [s], from `start`."""
    qpos, qvel = np.empty((2, len(qacc) + 1, len(start.qpos)))
    qpos[0], qvel[0] = start.qpos, start.qvel
    qvel[1:] = start.qvel + dt * qacc.cumsum(axis=0)
    qpos[1:] = start.qpos + (dt * qvel[:-1] + (0.5 * dt * dt) * qacc).cumsum(axis=0)
    return JointTrajectory(start_time, dt, qpos, qvel, qacc, gripper_width)


def hold(qpos: Array, time: float, dt: float, gripper_width: float) -> JointTrajectory:
    """Return a plan of one stage that stands still at `qpos` (nq,)."""
    zero = np.zeros((1, len(qpos)))
    return JointTrajectory(time, dt, np.vstack([qpos, qpos]), np.vstack([zero, zero]), zero, gripper_width)


def brake(start: StartState, limits: JointLimits, time: float, dt: float, gripper_width: float) -> JointTrajectory:
    """Bring every joint to rest as fast as `limits.acceleration` allows, in whole stages of `dt` [s]."""
    return integrate(start, braking(start.qvel, limits.acceleration, dt), time, dt, gripper_width)


def braking(qvel: Array, most: Array, dt: float) -> Array:
    """Compute accelerations (n, nq) of at most `most` that bring `qvel` (nq,) to rest in stages of `dt` [s]."""
    stages = np.ceil(np.abs(qvel) / (most * dt) - 1e-9)
    count = max(1, int(stages.max()))
    per_stage = -qvel / (dt * np.maximum(stages, 1.0))
    return np.where(np.arange(count)[:, None] < stages, per_stage, 0.0)


def brake_together(start: StartState, stages: int, time: float, dt: float, gripper_width: float) -> JointTrajectory:
    """Bring all joints to rest together in `stages` of `dt` [s], along a straight line in joint space."""
    qacc = np.tile(-start.qvel / (stages * dt), (stages, 1))
    return integrate(start, qacc, time, dt, gripper_width)


def transfer(start: StartState, goal: Array, stages: int, dt: float) -> Array:
    """Compute the least accelerations (stages, nq) [rad/s^2] that bring `start` to rest at `goal` (nq,)."""
    to_end = dt * dt * (stages - 0.5 - np.arange(stages))  # effect of each stage's acceleration on the end position
    effect = np.array([to_end, np.full(stages, dt)])
    missing = np.array([goal - start.qpos - stages * dt * start.qvel, -start.qvel])
    accelerations: Array = effect.T @ np.linalg.solve(effect @ effect.T, missing)
    return accelerations

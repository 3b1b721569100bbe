"""The tracking problem as a quadratic program, once for every joint.

Over a horizon of N stages of `dt` seconds each joint is a double integrator with constant acceleration in every stage;
stages are grouped into blocks that share one acceleration (move blocking), so the decision variable of a joint is
x (n_blocks,), its acceleration [rad/s^2] in each block. With start (q0, v0), planned acceleration a0 and reference r:

    minimise   sum_k  w_q,k (q_k - r_k)^2 + w_v (v_k - rdot_k)^2 + w_a a_k^2  +  w_da sum_b (x_b - x_{b-1})^2
    subject to |x_b| <= a_max,  |v_k| <= v_max,  q_min <= q_k <= q_max   for k = 1..N,    v_N = 0

with x_{-1} = a0. The plan ends at rest, so following it to its end is always safe (the fallback rests on this).
Velocity is linear in a block, so bounding it at the ends of blocks bounds it at all stages and between them.

No term couples two joints: the problem of the whole arm has a block-diagonal Hessian and constraint matrix, and solving
it joint by joint gives the same answer as one large program in a third of the time. H and the constraint matrix do not
change from tick to tick; only the gradient f and the bounds do.

Plans that need no solver: rest, brake, and sampling or replaying an earlier plan.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from llm_planner.errors import InputError
from llm_planner.robots.limits import JointLimits
from llm_planner.robots.motion import Array, JointTrajectory


@dataclass(frozen=True)
class Horizon:
    """`blocks[i]` stages share one acceleration; their sum is the number of stages; `dt` [s] is a stage."""

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
    """What the plan is measured by; units make each term dimensionless."""

    position: float = 20000.0
    velocity: float = 20.0
    acceleration: float = 0.0005
    acceleration_change: float = 0.001
    decay: float = 0.9  # each stage's position and velocity weight is this times the one before


@dataclass(frozen=True)
class StartState:
    """Where the plan begins: `qpos`, `qvel`, and `qacc` that the plan so far had there, each (nq,)."""

    qpos: Array
    qvel: Array
    qacc: Array


@dataclass(frozen=True)
class Bounds:
    """The changing parts of the programs of all joints: gradient `f` (nq, n), `lower` and `upper` (nq, n + m)."""

    f: Array
    lower: Array
    upper: Array


class TrackingProblem:
    """The matrices of the program above. `H` (n, n), `A` (m, n): rows are velocities at block ends, then positions."""

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
        self.H = self._hessian(expand, weights)
        self.A = np.vstack([self.velocity[self.block_ends], self.position])

    def _hessian(self, expand: Array, weights: Weights) -> Array:
        difference = np.eye(len(self.horizon.blocks)) - np.eye(len(self.horizon.blocks), k=-1)
        hessian = self._position_gradient @ self.position + self._velocity_gradient @ self.velocity
        hessian = hessian + weights.acceleration * expand.T @ expand + self._change * difference.T @ difference
        return np.ascontiguousarray((hessian + hessian.T) / 2)

    @property
    def equality_row(self) -> int:
        """The index, among simple bounds and then rows of A, of the constraint that the plan ends at rest."""
        return 2 * len(self.horizon.blocks) - 1

    def bounds(self, start: StartState, reference: Array, velocity: Array, limits: JointLimits) -> Bounds:
        """Gradient and bounds for `start` and the reference at knots 1..N: `reference` [rad], `velocity`, (N, nq)."""
        coast = self.coast(start)
        gradient = self._position_gradient @ (coast - reference) + self._velocity_gradient @ (start.qvel - velocity)
        gradient[0] -= self._change * start.qacc
        ends = self._times[self.block_ends][:, None]
        # A start above the limit (a lowered speed) may take the time it needs to brake below it.
        room = np.maximum(limits.velocity, np.abs(start.qvel) - 0.8 * limits.acceleration * ends)
        room[-1] = 0.0
        n, nq = gradient.shape
        lower, upper = np.empty((nq, 2 * n + len(coast))), np.empty((nq, 2 * n + len(coast)))
        upper[:, :n] = limits.acceleration[:, None]
        lower[:, :n] = -upper[:, :n]
        upper[:, n : 2 * n] = (room - start.qvel).T
        lower[:, n : 2 * n] = (-room - start.qvel).T
        # A joint that something pushed beyond its range need not be back at once, but never goes on.
        upper[:, 2 * n :] = (np.maximum(limits.upper, start.qpos) - coast).T
        lower[:, 2 * n :] = (np.minimum(limits.lower, start.qpos) - coast).T
        return Bounds(np.ascontiguousarray(gradient.T), lower, upper)

    def coast(self, start: StartState) -> Array:
        """Positions (N, nq) at knots 1..N when nothing accelerates."""
        there: Array = start.qpos + self._times[:, None] * start.qvel
        return there

    def motion(self, start: StartState, x: Array) -> tuple[Array, Array]:
        """Positions and velocities (N, nq) at knots 1..N under the block accelerations `x` (n, nq)."""
        return self.coast(start) + self.position @ x, start.qvel + self.velocity @ x

    def trajectory(self, start: StartState, x: Array, start_time: float, gripper_width: float) -> JointTrajectory:
        """The plan from `start` under the block accelerations `x` (n, nq)."""
        shape = (self.horizon.stages + 1, len(start.qpos))
        qpos, qvel = np.empty(shape), np.empty(shape)
        qpos[0], qvel[0] = start.qpos, start.qvel
        qpos[1:], qvel[1:] = self.motion(start, x)
        qvel[-1] = 0.0  # the program says so up to its tolerance
        return JointTrajectory(start_time, self.horizon.dt, qpos, qvel, x[self._block_of_stage], gripper_width)


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

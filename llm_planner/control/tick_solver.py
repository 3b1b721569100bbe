"""Planning of one tick: tracking alone in general, with rows that couple joints where zones or a speed limit matter."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from llm_planner.control.formulation import Bounds, Horizon, Reference, StartState, TrackingProblem, Weights
from llm_planner.control.keep_out import (
    KeepOutRows,
    KeepOutSettings,
    SpeedRows,
    keep_out_rows,
    select,
    speed_rows,
)
from llm_planner.control.motion_constraints import MotionConstraints
from llm_planner.control.qp_solver import (
    CoupledProblem,
    CoupledSolver,
    Program,
    Solution,
    TrackingSolver,
)
from llm_planner.robots.carried import Carried
from llm_planner.robots.limits import JointLimits, LimitShare
from llm_planner.robots.motion import Array
from llm_planner.robots.robot_model import Indices, Postures, RobotModel

RELAXED = 1e-4  # [m, m/s, rad] slack above which a row counts as relaxed
NOTHING: Indices = np.zeros((0, 2), dtype=np.int64)


@dataclass(frozen=True)
class ConstrainedSettings:
    """Settings of the coupled program."""

    keep_out: KeepOutSettings = field(default_factory=KeepOutSettings)
    speed_share: float = 0.98  # share of a speed limit that plans use
    heed_speed: float = 0.6  # share of that, from which speed rows accompany zone rows


@dataclass(frozen=True)
class MpcSettings:
    """Settings of `MpcController`; times in [s], angles in [rad]."""

    horizon: Horizon = field(default_factory=Horizon)
    weights: Weights = field(default_factory=Weights)
    share: LimitShare = field(default_factory=LimitShare)
    constrained: ConstrainedSettings = field(default_factory=ConstrainedSettings)
    # Limit for the coupled program of one tick [s]. Without it, simulated runs do not depend on the machine's load.
    time_limit: float = math.inf
    resync_position: float = 0.1  # tracking error at which planning restarts from the measurement [rad]


@dataclass(frozen=True)
class Motion:
    """Joint positions and velocities at the stages of a plan, each (K, nq)."""

    qpos: Array
    qvel: Array


@dataclass(frozen=True)
class TickSolution:
    """Solution of a tick, with the slacks of its constraints.

    Attributes:
        x: Block accelerations, (n, nq) [rad/s^2].
        keep_out_slack: Largest shortfall below the bare clearance, by the linearised rows [m].
        speed_slack: Largest excess over the speed limit, by the linearised rows [m/s].
        binding: Names of zones with active rows.
        relaxed: Whether any row has slack.
        rows: Number of zone and speed rows.
        solve_time: Time spent in the solvers [s].
    """

    x: Array
    keep_out_slack: float = 0.0
    speed_slack: float = 0.0
    binding: tuple[str, ...] = ()
    relaxed: bool = False
    rows: int = 0
    solve_time: float = 0.0


class TickSolver:
    """Solver of the ticks of one robot, with cost weights that may change between ticks."""

    def __init__(
        self,
        settings: MpcSettings,
        sliding: NDArray[np.bool_],
        model: Callable[[], RobotModel],
        solver: TrackingSolver | None = None,
        coupled_solver: CoupledSolver | None = None,
        clock: Callable[[], float] = time.perf_counter,
    ) -> None:
        """Create the programs.

        Args:
            settings: Horizon, weights and limits.
            sliding: Mask of the robot's slide joints, (nq,).
            model: Makes the collision model; called at the first constraint.
            solver: Replaces the solver of tracking, and keeps its own cost when weights change.
            coupled_solver: Replaces the solver of the coupled program.
            clock: Clock for statistics [s].
        """
        self._settings, self._sliding, self._make_model = settings, sliding, model
        self._given_solver, self._clock = solver, clock
        self._coupled_solver = coupled_solver or CoupledSolver(settings.time_limit)
        self._robot: RobotModel | None = None
        self._carried: Carried | None = None
        self._pairs = NOTHING
        self._factors: Mapping[str, float] = {}
        self._weigh(settings.weights)

    def _weigh(self, weights: Weights) -> None:
        self.problem = TrackingProblem(self._settings.horizon, weights)
        self._solver = self._given_solver or TrackingSolver(self.problem)
        self._coupled = CoupledProblem(self.problem, len(self._sliding))

    def carry(self, carried: Carried | None) -> None:
        """Set the object that the robot carries, or None; it keeps out of zones like the robot."""
        self._carried = carried
        if self._robot is not None:
            self._robot.carry(carried)

    def prepare(self) -> None:
        """Build in advance what the first constraint needs, which takes some hundredths of a second."""
        self._model().postures(np.zeros((self._settings.horizon.stages, len(self._sliding))))

    def _model(self) -> RobotModel:
        if self._robot is None:
            self._robot = self._make_model()
            self._robot.carry(self._carried)
        return self._robot

    def solve(
        self,
        start: StartState,
        wish: Reference,
        limits: JointLimits,
        constraints: MotionConstraints,
        nominal: Callable[[], Motion],
    ) -> TickSolution:
        """Plan from `start` towards the reference `wish`; raises `NoSolution`.

        `nominal` makes the motion around which rows are linearised, and is called only if needed.
        """
        if constraints.weights != self._factors:
            self._factors, usual = dict(constraints.weights), self._settings.weights
            self._weigh(replace(usual, **{name: by * getattr(usual, name) for name, by in self._factors.items()}))
        began = self._clock()
        bounds = self.problem.bounds(start, wish, limits)
        x = self._solver.solve(bounds)
        free = TickSolution(x, solve_time=self._clock() - began)
        if not constraints.zones and self._slow_enough(start, x, constraints.speed):
            return free
        return self.constrained(start, bounds, free, nominal(), constraints)

    def _slow_enough(self, start: StartState, x: Array, speed: float) -> bool:
        """Return whether slide joints alone show, without kinematics, that the point keeps `speed` [m/s]."""
        if speed == math.inf or not self._sliding.any():
            return speed == math.inf
        velocity = self.problem.motion(start, x)[1][:, self._sliding]
        return float(np.einsum("kj,kj->k", velocity, velocity).max()) <= (speed * (1.0 + 1e-6)) ** 2

    def constrained(
        self, start: StartState, bounds: Bounds, free: TickSolution, nominal: Motion, constraints: MotionConstraints
    ) -> TickSolution:
        """Plan under zones and a speed limit, with rows linearised around `nominal`.

        `free` is the solution without `constraints`, and the result if they do not matter. Raises `NoSolution`.
        """
        robot, settings = self._model(), self._settings.constrained.keep_out
        if constraints.zones is not robot.zones:
            robot.watch(constraints.zones)
        wish = Motion(*self.problem.motion(start, free.x))
        wished = robot.postures(wish.qpos)
        wished_velocity = np.einsum("kj,kji->ki", wish.qvel, robot.point_jacobian(wished))
        postures = robot.postures(nominal.qpos)
        self._pairs = select(robot, settings, self._pairs, postures, wished) if constraints.zones else NOTHING
        diverted = bool(len(self._pairs))
        speed = self._speed_rows(postures, nominal, wished_velocity, constraints.speed, diverted)
        if not diverted and speed is None:
            return free
        keep_out = keep_out_rows(robot, settings, postures, nominal.qvel, self._pairs) if diverted else None
        program = self._coupled.program(bounds, start, keep_out, speed)
        began = self._clock()
        solution = self._coupled_solver.solve(program)
        taken = free.solve_time + self._clock() - began
        return replace(self._judged(solution, program, start, keep_out, speed, constraints), solve_time=taken)

    def _speed_rows(
        self, postures: Postures, nominal: Motion, wish: Array, limit: float, diverted: bool
    ) -> SpeedRows | None:
        """Build the speed rows; None if the motion is slow enough. `diverted` says that zone rows change the motion."""
        if limit == np.inf:
            return None
        jacobian = self._model().point_jacobian(postures)
        velocity = np.einsum("kj,kji->ki", nominal.qvel, jacobian)
        limit *= self._settings.constrained.speed_share
        heeded = self._settings.constrained.heed_speed * limit if diverted else limit * (1.0 + 1e-6)
        looked_at = np.concatenate([velocity, wish]) if diverted else wish
        fast = float(np.einsum("ki,ki->k", looked_at, looked_at).max()) > heeded * heeded
        at = self._coupled.turns
        return speed_rows(jacobian[at], velocity[at], wish[at], limit) if fast else None

    def _judged(
        self,
        solution: Solution,
        program: Program,
        start: StartState,
        keep_out: KeepOutRows | None,
        speed: SpeedRows | None,
        constraints: MotionConstraints,
    ) -> TickSolution:
        reached = program.A @ solution.y
        slack = np.maximum(np.maximum(program.lower - reached, reached - program.upper), 0.0)
        fast = 0 if speed is None else speed.most.size
        zones = 0 if keep_out is None else keep_out.least.size
        short, binding = 0.0, tuple[str, ...]()
        if keep_out is not None:
            rows = slice(len(slack) - fast - zones, len(slack) - fast)
            short = float((slack[rows] - keep_out.spare.ravel()).max(initial=0.0))
            active = solution.active[rows].reshape(keep_out.least.shape).any(axis=0)
            touched = (constraints.zones[keep_out.zones[pair]].name for pair in np.flatnonzero(active))
            binding = tuple(dict.fromkeys(touched))
        return TickSolution(
            self._coupled.accelerations(solution.y, start),
            short,
            float(slack[len(slack) - fast :].max(initial=0.0)),
            binding,
            relaxed=bool(slack[program.hard :].max() > RELAXED),
            rows=zones + fast,
        )

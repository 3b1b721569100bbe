"""Planning of one tick: tracking alone in general, with rows that couple joints where zones or a speed limit matter."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property

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
    zones_of,
)
from llm_planner.control.motion_constraints import MotionConstraints
from llm_planner.control.qp_solver import (
    CoupledProblem,
    CoupledSolver,
    Penalties,
    Program,
    Solution,
    Solver,
    TrackingSolver,
)
from llm_planner.robots.carried import Carried
from llm_planner.robots.limits import JointLimits
from llm_planner.robots.motion import Array
from llm_planner.robots.robot_model import Indices, Postures, RobotModel

RELAXED = 1e-4  # [m, m/s, rad] slack above which a row counts as relaxed
NOTHING: Indices = np.zeros((0, 2), dtype=np.int64)


@dataclass(frozen=True)
class ConstrainedSettings:
    """Settings of the coupled program."""

    keep_out: KeepOutSettings = field(default_factory=KeepOutSettings)
    penalties: Penalties = field(default_factory=Penalties)
    speed_share: float = 0.98  # share of a speed limit that plans use
    heed_speed: float = 0.6  # share of that, from which speed rows accompany zone rows


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


class ConstrainedPlanner:
    """Planner that couples the joints of one robot where the constraints require it."""

    def __init__(
        self,
        problem: TrackingProblem,
        robot: RobotModel,
        settings: ConstrainedSettings | None = None,
        solver: CoupledSolver | None = None,
        clock: Callable[[], float] = time.perf_counter,
    ) -> None:
        self._problem, self._robot = problem, robot
        self._settings = settings or ConstrainedSettings()
        self._coupled = CoupledProblem(problem, robot.nq, self._settings.penalties)
        self._solver = solver or CoupledSolver()
        self._clock = clock
        self._pairs = NOTHING

    def carry(self, held: Carried | None) -> None:
        """Set the object that the gripper holds, or None."""
        self._robot.carry(held)

    def plan(
        self, start: StartState, bounds: Bounds, free: TickSolution, nominal: Motion, constraints: MotionConstraints
    ) -> TickSolution:
        """Plan under zones and a speed limit, with rows linearised around `nominal`.

        `free` is the solution without `constraints`, and the result if they do not matter. Raises `NoSolution`.
        """
        if constraints.zones is not self._robot.zones:
            self._robot.watch(constraints.zones)
        wish = Motion(*self._problem.motion(start, free.x))
        wished = self._robot.postures(wish.qpos)
        wished_velocity = np.einsum("kj,kji->ki", wish.qvel, self._robot.point_jacobian(wished))
        postures = self._robot.postures(nominal.qpos)
        pairs = NOTHING
        if constraints.zones:
            pairs = select(self._robot, self._settings.keep_out, self._pairs, postures, wished)
        self._pairs = pairs
        speed = self._speed_rows(postures, nominal, wished_velocity, constraints.speed, bool(len(pairs)))
        if not len(pairs) and speed is None:
            return free
        keep_out = (
            keep_out_rows(self._robot, self._settings.keep_out, postures, nominal.qvel, pairs) if len(pairs) else None
        )
        program = self._coupled.program(bounds, start, keep_out, speed)
        began = self._clock()
        solution = self._solver.solve(program)
        taken = free.solve_time + self._clock() - began
        return replace(self._judged(solution, program, start, keep_out, speed, constraints), solve_time=taken)

    def _speed_rows(
        self, postures: Postures, nominal: Motion, wish: Array, limit: float, diverted: bool
    ) -> SpeedRows | None:
        """Build the speed rows; None if the motion is slow enough. `diverted` says that zone rows change the motion."""
        if limit == np.inf:
            return None
        jacobian = self._robot.point_jacobian(postures)
        velocity = np.einsum("kj,kji->ki", nominal.qvel, jacobian)
        limit *= self._settings.speed_share
        heeded = self._settings.heed_speed * limit if diverted else limit * (1.0 + 1e-6)
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
            binding = zones_of(constraints, keep_out, solution.active[rows].reshape(keep_out.least.shape))
        return TickSolution(
            self._coupled.accelerations(solution.y, start),
            short,
            float(slack[len(slack) - fast :].max(initial=0.0)),
            binding,
            relaxed=bool(slack[program.hard :].max() > RELAXED),
            rows=zones + fast,
        )


@dataclass(frozen=True)
class ProgramSettings:
    """Settings of `TickSolver`; `time_limit` [s] applies to the coupled program."""

    horizon: Horizon
    weights: Weights
    constrained: ConstrainedSettings
    time_limit: float = math.inf


class TickSolver:
    """Solver of ticks, with cost weights that may change between ticks."""

    def __init__(
        self,
        settings: ProgramSettings,
        sliding: NDArray[np.bool_],
        model: Callable[[], RobotModel],
        solver: Solver | None = None,
        clock: Callable[[], float] = time.perf_counter,
    ) -> None:
        """Create the programs of one robot.

        Args:
            settings: Horizon, weights and limits.
            sliding: Mask of the robot's slide joints, (nq,).
            model: Makes the collision model; called at the first constraint.
            solver: Replaces the solver of tracking, and keeps its own cost when weights change.
            clock: Clock for time limits and statistics [s].
        """
        self.problem = TrackingProblem(settings.horizon, settings.weights)
        self._settings, self._make_model = settings, model
        self._nq, self._sliding = len(sliding), sliding
        self._handed_in, self._clock = solver, clock
        self._solver = solver or TrackingSolver(self.problem)
        self._factors: Mapping[str, float] = {}
        self._carried: Carried | None = None

    def weigh(self, factors: Mapping[str, float]) -> None:
        """Multiply the cost weights by `factors`, by name."""
        if factors == self._factors:
            return
        weights = self._settings.weights
        changed = {name: factor * getattr(weights, name) for name, factor in factors.items()}
        self._factors = dict(factors)
        self.problem = TrackingProblem(self._settings.horizon, replace(weights, **changed))
        self._solver = self._handed_in or TrackingSolver(self.problem)
        self.__dict__.pop("_constrained", None)

    def carry(self, carried: Carried | None) -> None:
        """Set the object that the robot carries, or None."""
        self._carried = carried
        if "_constrained" in self.__dict__:
            self._constrained.carry(carried)

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
        self.weigh(constraints.weights)
        began = self._clock()
        bounds = self.problem.bounds(start, wish, limits)
        x = self._solver.solve(bounds)
        kept = TickSolution(x, solve_time=self._clock() - began)
        if not constraints.zones and self._slow_enough(start, x, constraints.speed):
            return kept
        return self._constrained.plan(start, bounds, kept, nominal(), constraints)

    def _slow_enough(self, start: StartState, x: Array, speed: float) -> bool:
        """Return whether slide joints alone show, without kinematics, that the point keeps `speed` [m/s]."""
        if speed == math.inf or not self._sliding.any():
            return speed == math.inf
        velocity = self.problem.motion(start, x)[1][:, self._sliding]
        return float(np.einsum("kj,kj->k", velocity, velocity).max()) <= (speed * (1.0 + 1e-6)) ** 2

    def prepare(self) -> None:
        """Build in advance what the first constraint needs, which takes some hundredths of a second."""
        _ = self._constrained
        self.model.postures(np.zeros((self._settings.horizon.stages, self._nq)))

    @cached_property
    def model(self) -> RobotModel:
        """Collision model of the robot, built on first use."""
        return self._make_model()

    @cached_property
    def _constrained(self) -> ConstrainedPlanner:
        solver = CoupledSolver(self._settings.time_limit)
        planner = ConstrainedPlanner(self.problem, self.model, self._settings.constrained, solver, self._clock)
        planner.carry(self._carried)
        return planner

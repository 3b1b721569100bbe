"""The programs of one robot: joint by joint while nothing couples them, all joints together where something does."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from llm_planner.control.carried import Carried
from llm_planner.control.constrained import ConstrainedPlanner, ConstrainedSettings, Kept, Motion
from llm_planner.control.formulation import Horizon, StartState, TrackingProblem, Weights
from llm_planner.control.limits import JointLimits
from llm_planner.control.motion_constraints import MotionConstraints
from llm_planner.control.reference import Array
from llm_planner.control.robot_model import RobotModel
from llm_planner.control.solver import CoupledSolver, JointwiseSolver, Solver


@dataclass(frozen=True)
class ProgramSettings:
    """`time_limit` [s] is for each of a tick's solutions, jointwise and together."""

    horizon: Horizon
    weights: Weights
    constrained: ConstrainedSettings
    time_limit: float = math.inf


class Programs:
    """Solves a tick, under weights that may change between ticks."""

    def __init__(
        self,
        settings: ProgramSettings,
        sliding: NDArray[np.bool_],
        model: Callable[[], RobotModel],
        solver: Solver | None = None,
        clock: Callable[[], float] = time.perf_counter,
    ) -> None:
        """`sliding` (nq,) is the robot's; `model` is asked for when the first constraint comes.

        A `solver` handed in keeps its own cost.
        """
        self.problem = TrackingProblem(settings.horizon, settings.weights)
        self._settings, self._make_model = settings, model
        self._nq, self._sliding = len(sliding), sliding
        self._handed_in, self._clock = solver, clock
        self._solver = solver or JointwiseSolver(self.problem, self._nq, settings.time_limit, clock)
        self._factors: Mapping[str, float] = {}
        self._carried: Carried | None = None

    def weigh(self, factors: Mapping[str, float]) -> None:
        """Have the cost's weights multiplied by `factors`, by name."""
        if factors == self._factors:
            return
        weights = self._settings.weights
        changed = {name: factor * getattr(weights, name) for name, factor in factors.items()}
        self._factors = dict(factors)
        self.problem = TrackingProblem(self._settings.horizon, replace(weights, **changed))
        self._solver = self._handed_in or JointwiseSolver(
            self.problem, self._nq, self._settings.time_limit, self._clock
        )
        self.__dict__.pop("_constrained", None)

    def carry(self, carried: Carried | None) -> None:
        """What the robot carries, or None."""
        self._carried = carried
        if "_constrained" in self.__dict__:
            self._constrained.carry(carried)

    def solve(
        self,
        start: StartState,
        wish: Motion,
        limits: JointLimits,
        constraints: MotionConstraints,
        nominal: Callable[[], Motion],
    ) -> Kept:
        """The best plan from `start` towards `wish`; its rows, if any, are linearised around `nominal`.

        Raises NoSolution.
        """
        self.weigh(constraints.weights)
        began = self._clock()
        bounds = self.problem.bounds(start, wish.qpos, wish.qvel, limits)
        x = self._solver.solve(bounds)
        kept = Kept(x, solve_time=self._clock() - began)
        if not constraints.zones and self._slow_enough(start, x, constraints.speed):
            return kept
        return self._constrained.plan(start, bounds, kept, nominal(), constraints)

    def _slow_enough(self, start: StartState, x: Array, speed: float) -> bool:
        """Whether the point needs no rows to keep `speed` [m/s], as far as that can be seen without kinematics."""
        if speed == math.inf or not self._sliding.any():
            return speed == math.inf
        velocity = self.problem.motion(start, x)[1][:, self._sliding]
        return float(np.einsum("kj,kj->k", velocity, velocity).max()) <= (speed * (1.0 + 1e-6)) ** 2

    def prepare(self) -> None:
        """Builds now what the first constraint would otherwise wait for (some hundredths of a second)."""
        _ = self._constrained
        self.model.postures(np.zeros((self._settings.horizon.stages, self._nq)))

    @cached_property
    def model(self) -> RobotModel:
        """The robot, built when it is first needed."""
        return self._make_model()

    @cached_property
    def _constrained(self) -> ConstrainedPlanner:
        solver = CoupledSolver(self._settings.time_limit)
        planner = ConstrainedPlanner(self.problem, self.model, self._settings.constrained, solver, self._clock)
        planner.carry(self._carried)
        return planner

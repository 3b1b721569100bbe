"""Plans that keep out of zones and under a speed: the joints' programs coupled, where zones or the speed matter."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace

import numpy as np

from llm_planner.control.carried import Carried
from llm_planner.control.coupled import CoupledProblem, Penalties, Program
from llm_planner.control.formulation import Bounds, StartState, TrackingProblem
from llm_planner.control.keep_out import KeepOutRows, KeepOutSettings, keep_out_rows, select, zones_of
from llm_planner.control.motion_constraints import MotionConstraints
from llm_planner.control.reference import Array
from llm_planner.control.robot_model import Indices, Postures, RobotModel
from llm_planner.control.solver import CoupledSolver, Solution
from llm_planner.control.speed_facets import SpeedRows, speed_rows

RELAXED = 1e-4  # [m, m/s, rad] of slack that counts
NOTHING: Indices = np.zeros((0, 2), dtype=np.int64)


@dataclass(frozen=True)
class ConstrainedSettings:
    """What zones and speeds are kept by."""

    keep_out: KeepOutSettings = field(default_factory=KeepOutSettings)
    penalties: Penalties = field(default_factory=Penalties)
    speed_share: float = 0.98  # of a speed limit, that plans use
    heed_speed: float = 0.6  # of what plans use: below it the speed has no rows beside those of zones


@dataclass(frozen=True)
class Motion:
    """Joint positions and velocities at the stages of a plan, each (K, nq)."""

    qpos: Array
    qvel: Array


@dataclass(frozen=True)
class Kept:
    """Block accelerations `x` (n, nq), and what of the constraints the plan does not keep.

    `keep_out_slack` [m] is below the bare clearance, `speed_slack` [m/s] above the limit, both at the worst stage as
    the rows see it; `binding` names the zones with rows that hold the plan back; `relaxed` when any row gave way;
    `rows` counts those of zones and of the speed; `solve_time` [s] is that of the programs alone.
    """

    x: Array
    keep_out_slack: float = 0.0
    speed_slack: float = 0.0
    binding: tuple[str, ...] = ()
    relaxed: bool = False
    rows: int = 0
    solve_time: float = 0.0


class ConstrainedPlanner:
    """Couples the joints of one robot where the constraints need it."""

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
        """What the gripper holds."""
        self._robot.carry(held)

    def plan(
        self, start: StartState, bounds: Bounds, free: Kept, nominal: Motion, constraints: MotionConstraints
    ) -> Kept:
        """The plan under `constraints` where `free` would be the answer without; linearised around `nominal`.

        Raises NoSolution.
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
        """None where the speed has no say: a motion that nothing else diverts is the wish, which may be slow enough."""
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
    ) -> Kept:
        reached = program.A @ solution.y
        slack = np.maximum(np.maximum(program.lower - reached, reached - program.upper), 0.0)
        fast = 0 if speed is None else speed.most.size
        zones = 0 if keep_out is None else keep_out.least.size
        short, binding = 0.0, tuple[str, ...]()
        if keep_out is not None:
            rows = slice(len(slack) - fast - zones, len(slack) - fast)
            short = float((slack[rows] - keep_out.spare.ravel()).max(initial=0.0))
            binding = zones_of(constraints, keep_out, solution.active[rows].reshape(keep_out.least.shape))
        return Kept(
            self._coupled.accelerations(solution.y, start),
            short,
            float(slack[len(slack) - fast :].max(initial=0.0)),
            binding,
            relaxed=bool(slack[program.hard :].max() > RELAXED),
            rows=zones + fast,
        )

"""The quadratic programs of closed-loop runs, solved by the controller's solver and by other people's, in CPU time.

Every solver gets the same programs in the same order, so that those that start from their last answer can. Only what a
tick does anew is timed: new numbers, and the solution; of ours with all of its Python, of the others without theirs.
Programs of tracking alone, whose joints do not touch each other; and programs with four rows of zones and three of the
speed at every stage, once with every row hard, as the others can have it cheaply (some then have no solution), and once
with a slack variable for each row that may give way, which is what ours solves.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from bench_mpc import AMONG_ZONES, PAIRS, PERIOD, REFERENCE_TICKS, references
from peer_solvers import PEERS, Array, Program
from reports import print_report, report_parser

from llm_planner.control import formulation, qp_solver
from llm_planner.control.formulation import Bounds, StartState, TrackingProblem
from llm_planner.control.keep_out import KeepOutSettings
from llm_planner.control.motion_constraints import FREE, MotionConstraints
from llm_planner.control.mpc import MpcController
from llm_planner.control.qp_solver import CoupledSolver, Solution, TrackingSolver
from llm_planner.control.tick_solver import ConstrainedSettings, Motion, MpcSettings, TickSolution, TickSolver
from llm_planner.robots.arm_model import arm_model
from llm_planner.robots.motion import JointState, JointTrajectory, sample
from llm_planner.robots.robot_model import RobotModel

PANDA = arm_model("panda")

OURS = "ours"
ALL_ROWS = ConstrainedSettings(KeepOutSettings(pairs=PAIRS, heed=0.3), heed_speed=0.0)


class Recorder:
    """The controller's solver, which writes down what it is asked."""

    def __init__(self, problem: TrackingProblem, nq: int) -> None:
        self._solver = TrackingSolver(problem)
        self.asked: list[Bounds] = []

    def solve(self, bounds: Bounds) -> Array:
        self.asked.append(bounds)
        return self._solver.solve(bounds)


class CoupledRecorder(CoupledSolver):
    """The same of programs that couple the joints."""

    def __init__(self) -> None:
        super().__init__()
        self.asked: list[qp_solver.Program] = []

    def solve(self, program: qp_solver.Program) -> Solution:
        self.asked.append(program)
        return super().solve(program)


@dataclass(frozen=True)
class Tick:
    """What the controller had at `now` [s]: the plan before, and the programs of the joints."""

    now: float
    before: JointTrajectory
    bounds: Bounds


def closed_loop(ticks: int, seed: int, constraints: MotionConstraints) -> tuple[TrackingProblem, list[Tick]]:
    """A run that tracks paths all over the table; the joints follow the plans exactly."""
    settings = MpcSettings(constrained=ALL_ROWS)
    problem = TrackingProblem(settings.horizon, settings.weights)
    qpos, qvel = np.array(PANDA.home), np.zeros(len(PANDA.home))
    recorder = Recorder(problem, len(qpos))
    controller = MpcController(settings, solver=recorder)
    stream, seen = references(np.random.default_rng(seed)), []
    plan = formulation.hold(qpos, 0.0, settings.horizon.dt, 0.08)
    for k in range(ticks):
        if k % REFERENCE_TICKS == 0:
            reference = next(stream)
        before, now = plan, k * PERIOD
        plan = controller.step(JointState(now, qpos, qvel), reference, now, constraints)
        seen.append(Tick(now, before, recorder.asked[-1]))
        state = formulation.sample(plan, now + PERIOD)
        qpos, qvel = state.qpos, state.qvel
    return problem, seen


def record(ticks: int, seed: int) -> tuple[TrackingProblem, list[Bounds]]:
    problem, seen = closed_loop(ticks, seed, FREE)
    return problem, [tick.bounds for tick in seen]


def record_coupled(count: int, seed: int) -> tuple[TrackingProblem, list[qp_solver.Program]]:
    """The last `count` programs that have all rows."""
    problem, seen = closed_loop(10 * count, seed, AMONG_ZONES)
    recorder = CoupledRecorder()
    planner = TickSolver(
        MpcSettings(constrained=ALL_ROWS), np.zeros(PANDA.nq, bool), lambda: RobotModel(PANDA.collision_spec),
        coupled_solver=recorder,
    )  # fmt: skip
    knots = problem.horizon.dt * np.arange(1.0, problem.horizon.stages + 1)
    alone = TrackingSolver(problem)
    for tick in seen:
        nominal = Motion(*sample(tick.before, tick.now + knots))
        start = formulation.sample(tick.before, tick.now)
        planner.constrained(start, tick.bounds, TickSolution(alone.solve(tick.bounds)), nominal, AMONG_ZONES)
    most = max(len(program.A) for program in recorder.asked)
    return problem, [program for program in recorder.asked if len(program.A) == most][-count:]


def whole(problem: TrackingProblem, asked: Sequence[Bounds]) -> list[Program]:
    """All joints in one program."""
    nq, n = asked[0].f.shape
    H, A = np.kron(np.eye(nq), problem.H), np.kron(np.eye(nq), problem.A)
    return [
        Program(
            H,
            b.f.ravel(),
            A,
            *(s[:, n:].ravel() for s in (b.lower, b.upper)),
            *(s[:, :n].ravel() for s in (b.lower, b.upper)),
        )
        for b in asked
    ]


def split(problem: TrackingProblem, asked: Sequence[Bounds]) -> list[list[Program]]:
    """For each joint its programs."""
    nq, n = asked[0].f.shape
    return [
        [
            Program(problem.H, b.f[j], problem.A, b.lower[j, n:], b.upper[j, n:], b.lower[j, :n], b.upper[j, :n])
            for b in asked
        ]
        for j in range(nq)
    ]


@dataclass(frozen=True)
class Answers:
    """What a solver made of a run of programs: `x` (ticks, n), not a number where unsolved; `spent` (ticks,) [s]."""

    x: Array
    spent: Array


def ours(problem: TrackingProblem, asked: Sequence[Bounds]) -> Answers:
    solver = TrackingSolver(problem)
    answers, spent = [], []
    for bounds in asked:
        began = time.thread_time()
        x = solver.solve(bounds)
        spent.append(time.thread_time() - began)
        answers.append(x.T.ravel())
    return Answers(np.array(answers), np.array(spent))


def theirs(name: str, programs: Sequence[Program]) -> Answers:
    solve = PEERS[name](programs)
    answers, spent = zip(*(solve(program) for program in programs), strict=True)
    return Answers(np.array(answers), np.array(spent))


def row(programs: Sequence[Program], found: Answers, own: Answers, planned: Array) -> dict[str, float]:
    """Times [ms], also against our own; how many are unsolved; how far positions `planned` @ x [rad] are from ours."""
    solved = np.isfinite(found.x).all(axis=1)
    apart = np.abs((found.x[solved] - own.x[solved]) @ planned.T)
    broken = [program.violation(x) for program, x, ok in zip(programs, found.x, solved, strict=True) if ok]
    return {
        "median": 1e3 * float(np.median(found.spent)),
        "p99": 1e3 * float(np.percentile(found.spent, 99)),
        "ratio": float(np.median(found.spent) / np.median(own.spent)),
        "ratio p99": float(np.percentile(found.spent, 99) / np.percentile(own.spent, 99)),
        "unsolved": int((~solved).sum()),
        "apart": float(apart.max(initial=0.0)),
        "broken by": max(broken, default=0.0),
    }


def tracking(ticks: int, seed: int) -> dict[str, dict[str, float]]:
    """The comparison on programs of tracking alone, whose joints do not touch each other."""
    problem, asked = record(ticks, seed)
    programs, own = whole(problem, asked), ours(problem, asked)
    found = {OURS: own} | {name: theirs(name, programs) for name in PEERS}
    for name in ("ProxQP", "PIQP, dense"):
        parts = [theirs(name, joint) for joint in split(problem, asked)]
        spent = np.sum([part.spent for part in parts], axis=0)
        found[f"{name}, by joint"] = Answers(np.hstack([part.x for part in parts]), spent)
    planned = np.kron(np.eye(len(asked[0].f)), problem.position)
    return {name: row(programs, answers, own, planned) for name, answers in found.items()}


def hard(program: qp_solver.Program, places: tuple[Array, Array]) -> Program:
    """Every row as a bound; `places` are the ends of no bounds on the variables."""
    return Program(np.eye(len(program.f)), program.f, program.A, program.lower, program.upper, *places)


def with_slack(program: qp_solver.Program) -> Program:
    """The same program in variables (y, s), s >= 0 for each row that may give way."""
    n, firm, soft = len(program.f), program.hard, len(program.A) - program.hard
    two_sided = program.upper[firm:] < qp_solver.UNBOUNDED
    slack = np.eye(soft)
    rows = np.block(
        [
            [program.A[:firm], np.zeros((firm, soft))],
            [program.A[firm:], slack],
            [program.A[firm:][two_sided], -slack[two_sided]],
        ]
    )
    free = np.full(two_sided.sum(), -qp_solver.UNBOUNDED)
    return Program(
        np.diag(np.concatenate([np.ones(n), program.quadratic[firm:]])),
        np.concatenate([program.f, program.linear[firm:]]),
        rows,
        np.concatenate([program.lower, free]),
        np.concatenate([program.upper[:firm], np.full(soft, qp_solver.UNBOUNDED), program.upper[firm:][two_sided]]),
        np.concatenate([np.full(n, -qp_solver.UNBOUNDED), np.zeros(soft)]),
        np.full(n + soft, qp_solver.UNBOUNDED),
    )


def constrained(count: int, seed: int) -> dict[str, dict[str, dict[str, float]]]:
    """The comparison on programs that couple the joints, without and with slack."""
    problem, asked = record_coupled(count, seed)
    n, nq = len(asked[0].f), len(PANDA.home)
    solver, answers, spent = CoupledSolver(), [], []
    for program in asked:
        began = time.thread_time()
        answers.append(solver.solve(program).y)
        spent.append(time.thread_time() - began)
    own = Answers(np.array(answers), np.array(spent))
    rest, shape = StartState(*np.zeros((3, nq))), qp_solver.CoupledProblem(problem, nq)
    planned = np.array([(problem.position @ shape.accelerations(y, rest)).ravel() for y in np.eye(n)]).T
    ends = np.full(n, -qp_solver.UNBOUNDED), np.full(n, qp_solver.UNBOUNDED)
    tables = {}
    for title, programs in (
        ("every row hard", [hard(program, ends) for program in asked]),
        ("slack in each soft row", [with_slack(program) for program in asked]),
    ):
        found = {OURS: own}
        for name in PEERS:
            answered = theirs(name, programs)
            found[name] = Answers(answered.x[:, :n], answered.spent)
        plain = [hard(program, ends) for program in asked]
        tables[title] = {name: row(plain, each, own, planned) for name, each in found.items()}
    return tables


def run(ticks: int, count: int, seed: int) -> dict[str, Any]:
    return {"ticks": ticks, "tracking": tracking(ticks, seed), **constrained(count, seed)}


def main(argv: Sequence[str] | None = None) -> int:
    """Prints a table or JSON; returns 0."""
    parser = report_parser(__doc__)
    parser.add_argument("--ticks", type=int, default=1000)
    parser.add_argument("--constrained", type=int, default=60, help="programs with rows of zones and speed")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args(argv)
    report = run(options.ticks, options.constrained, options.seed)
    return print_report(report, options.json)


if __name__ == "__main__":
    sys.exit(main())

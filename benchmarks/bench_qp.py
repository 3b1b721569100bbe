"""The quadratic programs of closed-loop runs, solved by the controller's solver and by other people's, in CPU time.

Every solver gets the same programs in the same order, so that those that start from their last answer can. Only what a
tick does anew is timed: new numbers, and the solution; of ours with all of its Python, of the others without theirs.
Usage: bench_qp.py [--ticks 1000] [--seed 0] [--json]
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from bench_mpc import PERIOD, REFERENCE_TICKS, references
from peer_solvers import PEERS, Array, Program

from llm_planner.control import fallback
from llm_planner.control.formulation import Bounds, TrackingProblem
from llm_planner.control.mpc import MpcController, MpcSettings
from llm_planner.control.reference import JointState
from llm_planner.control.solver import JointwiseSolver
from llm_planner.simulation.panda import HOME_QPOS

OURS = "ours"


class Recorder:
    """The controller's solver, which writes down what it is asked."""

    def __init__(self, problem: TrackingProblem, nq: int) -> None:
        self._solver = JointwiseSolver(problem, nq)
        self.asked: list[Bounds] = []

    def solve(self, bounds: Bounds) -> Array:
        self.asked.append(bounds)
        return self._solver.solve(bounds)


def record(ticks: int, seed: int) -> tuple[TrackingProblem, list[Bounds]]:
    """The programs of a run that tracks paths all over the table; the joints follow the plans exactly."""
    settings = MpcSettings()
    problem = TrackingProblem(settings.horizon, settings.weights)
    qpos, qvel = np.array(HOME_QPOS), np.zeros(len(HOME_QPOS))
    recorder = Recorder(problem, len(qpos))
    controller = MpcController(settings, solver=recorder)
    stream = references(np.random.default_rng(seed))
    for k in range(ticks):
        if k % REFERENCE_TICKS == 0:
            reference = next(stream)
        plan = controller.step(JointState(k * PERIOD, qpos, qvel), reference, k * PERIOD)
        state = fallback.sample(plan, (k + 1) * PERIOD)
        qpos, qvel = state.qpos, state.qvel
    return problem, recorder.asked


def whole(problem: TrackingProblem, asked: Sequence[Bounds]) -> list[Program]:
    """All joints in one program."""
    nq, n = asked[0].f.shape
    H, A = np.kron(np.eye(nq), problem.H), np.kron(np.eye(nq), problem.A)
    return [
        Program(H, b.f.ravel(), A, *(side[:, n:].ravel() for side in (b.lower, b.upper)),
                *(side[:, :n].ravel() for side in (b.lower, b.upper)))
        for b in asked
    ]  # fmt: skip


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
    solver = JointwiseSolver(problem, len(asked[0].f))
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


def show(title: str, table: dict[str, dict[str, float]]) -> None:
    heads = ("median", "99 %", "/ ours", "unsolved", "apart [rad]", "broken by")
    print(f"{title + ', CPU ms':24} " + " ".join(f"{head:>11}" for head in heads))
    for name, line in table.items():
        times = f"{line['median']:11.3f} {line['p99']:11.3f} {line['ratio']:11.2f}"
        print(f"{name:24} {times} {line['unsolved']:11.0f} {line['apart']:11.1e} {line['broken by']:11.1e}")


def run(ticks: int, seed: int) -> dict[str, Any]:
    return {"ticks": ticks, "tracking": tracking(ticks, seed)}


def main(argv: Sequence[str] | None = None) -> int:
    """Prints a table or JSON; returns 0."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--ticks", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args(argv)
    report = run(options.ticks, options.seed)
    if options.json:
        print(json.dumps(report, indent=2))
        return 0
    show("tracking", report["tracking"])
    return 0


if __name__ == "__main__":
    sys.exit(main())

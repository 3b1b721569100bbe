"""Faults of every kind, one at a time, in random scenes whose way leads through a zone: what the arm then does.

Contacts with zones' solids and the table are counted from MuJoCo's distances; those within 0.6 s of the start of a push
are the push's own. A violation is more than 1 mm below a clearance, outside of pushes.
"Uncontrolled" is a run in which a joint goes beyond 100 % of its velocity or acceleration limit (means over 10 ms,
outside of pushes), or moves although no valid reference has come for 1.2 s (0.5 s of validity, and braking). The
recovery is from the start of the fault to the last tick at which the robot was held by it; the skill begins a new run
half a second after it is told that it failed. Contradictory zones cannot be kept.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from bench_clearance import TOLERANCE, judge, place
from clearance_scenes import SECONDS, draw_scene
from faults import FAULTS, PUSHED, Fault
from guarded_arm import PERIOD, GuardedArm, Log, piece
from reports import print_report, report_parser

from llm_planner.control.fallback_supervisor import FallbackLevel
from llm_planner.robots.arm_model import arm_model
from llm_planner.skills.motion import PATH_DT

PANDA = arm_model("panda")

RESTART = 50  # ticks after which a skill that failed begins anew
UNREFERENCED = 1.2  # [s] after the last valid reference
STILL = 0.05  # [rad/s]


@dataclass(frozen=True)
class Outcome:
    """Of one scene under one fault; lengths in m, times in s."""

    contact: bool
    contact_by_push: bool
    violation: float
    recovery: float
    uncontrolled: str  # what, or nothing
    held: bool  # at the end of the scene


def play(fault: Fault, seed: int, filtered: bool) -> tuple[Log, float]:
    """The whole scene, and when the fault began [s]."""
    rng = np.random.default_rng([seed, FAULTS.index(fault)])
    scene = fault.scene(rng, draw_scene(rng, changes=1))
    moment = float(rng.uniform(1.0, 3.0))
    world = fault.world(rng)
    place(world, scene.qpos)
    arm, tick = GuardedArm(world, scene.solids, filtered=filtered), fault.tick(rng, moment)
    left, epoch, failed = list(scene.patches), 1, 0
    for k in range(round(SECONDS / PERIOD)):
        while left and left[0].stamp <= world.time:
            arm.offered(left.pop(0))
        failed = failed + 1 if arm.ladder.status.has_failed else 0
        if failed == RESTART:
            epoch, failed = epoch + 1, 0
        fresh = piece(scene.poses, PATH_DT, arm.offset, arm.now, epoch) if k % 10 == 0 and k else None
        tick(arm, fresh)
    return arm.log, moment


def one(fault: Fault, filtered: bool, seed: int) -> Outcome:
    log, moment = play(fault, seed, filtered)
    times = np.array(log.times)
    pushed = (times >= moment) & (times < moment + PUSHED) if fault.pushes else np.zeros(len(times), dtype=bool)
    touched = np.array([on_table or min(row.values(), default=1.0) < 0
                        for on_table, row in zip(log.touched, log.distances, strict=True)])  # fmt: skip
    calm = [k for k in range(len(times)) if not pushed[k]]
    judged = judge(_only(log, calm))
    held = np.array(
        [rung in (FallbackLevel.BRAKING, FallbackLevel.STOPPED, FallbackLevel.REPLAYING) for rung in log.rungs]
    )
    after = PERIOD * np.flatnonzero(held) - moment
    late = moment + UNREFERENCED if fault.ends_references else np.inf
    return Outcome(
        contact=bool((touched & ~pushed).any()),
        contact_by_push=bool((touched & pushed).any()),
        violation=judged.violation,
        recovery=float(after.max(initial=0.0)),
        uncontrolled=_uncontrolled(log, times, pushed, late),
        held=bool(held[-1]),
    )


def _only(log: Log, kept: list[int]) -> Log:
    """The looks numbered in `kept`."""
    part = Log(rungs=log.rungs, controller_ms=log.controller_ms)
    for name in ("times", "distances", "clearances", "speeds", "limits", "commanded", "qvel", "touched"):
        values = getattr(log, name)
        setattr(part, name, [values[k] for k in kept])
    return part


def _uncontrolled(log: Log, times: np.ndarray, pushed: np.ndarray, late: float) -> str:
    qvel = np.array(log.qvel)
    fast = np.abs(qvel / PANDA.limits.qvel_max).max(axis=1)
    gained = np.abs(qvel[2:] - qvel[:-2]) / (times[2:] - times[:-2])[:, None]
    hard = (gained / PANDA.limits.qacc_max).max(axis=1)
    if fast[~pushed].max() > 1.0:
        return f"velocity {fast[~pushed].max():.2f} of the limit"
    if hard[~(pushed[2:] | pushed[:-2])].max() > 1.0:
        return f"acceleration {hard[~(pushed[2:] | pushed[:-2])].max():.2f} of the limit"
    if np.abs(qvel[times > late]).max(initial=0.0) > STILL:
        return "it moves without a reference"
    return ""


def summary(outcomes: Sequence[Outcome], seeds: Sequence[int]) -> dict[str, Any]:
    late = [outcome.recovery for outcome in outcomes]
    broken = [outcome for outcome in outcomes if outcome.violation > TOLERANCE]
    return {
        "scenes": len(outcomes),
        "contacts": sum(outcome.contact for outcome in outcomes),
        "contacts by the push": sum(outcome.contact_by_push for outcome in outcomes),
        "violations": len(broken),
        "deepest mm": 1e3 * max(outcome.violation for outcome in outcomes),
        "recovery s": {"median": float(np.median(late)), "max": max(late)},
        "uncontrolled": sum(bool(outcome.uncontrolled) for outcome in outcomes),
        "held at the end": sum(outcome.held for outcome in outcomes),
        "looked at": {
            str(seed): f"{outcome.uncontrolled} contact {outcome.contact} {1e3 * outcome.violation:.1f} mm"
            for seed, outcome in zip(seeds, outcomes, strict=True)
            if outcome.uncontrolled or outcome.contact or outcome.violation > TOLERANCE
        },
    }


def run(scenes: int, seed: int, processes: int, filtered: bool, only: str | None) -> dict[str, Any]:
    """For each fault its `summary`."""
    seeds = [1000 * seed + k for k in range(scenes)]
    chosen = [fault for fault in FAULTS if only in (None, fault.name)]
    report = {}
    with ProcessPoolExecutor(processes) as pool:
        for fault in chosen:
            outcomes = list(pool.map(partial(_named, fault.name, filtered), seeds))
            report[fault.name] = summary(outcomes, seeds)
    return report


def _named(name: str, filtered: bool, seed: int) -> Outcome:
    """A fault by its name: its functions do not travel between processes."""
    return one(next(fault for fault in FAULTS if fault.name == name), filtered, seed)


def main(argv: Sequence[str] | None = None) -> int:
    """Prints a table or JSON; returns 0."""
    parser = report_parser(__doc__)
    parser.add_argument("--scenes", type=int, default=20, help="of each fault")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--only", choices=[fault.name for fault in FAULTS])
    parser.add_argument("--unfiltered", action="store_true", help="the controller and its ladder alone")
    options = parser.parse_args(argv)
    report = run(options.scenes, options.seed, options.processes, not options.unfiltered, options.only)
    return print_report(report, options.json)


if __name__ == "__main__":
    sys.exit(main())

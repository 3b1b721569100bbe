"""Random scenes whose way leads straight through a zone, while zones' clearances and the speed limit change.

Judged by MuJoCo's distances between the robot's real solids and the zones, every 5 ms, against what is in force at that
moment: a violation is more than 1 mm below a clearance, whether it grows (by its ramp, wherever the robot is) or not.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from clearance_scenes import SECONDS, ClearanceScene, draw_scene
from guarded_arm import FILTER_PERIOD, PERIOD, GuardedArm, Log, piece
from reports import print_report, report_parser, spread

from llm_planner.control.fallback_supervisor import FallbackLevel
from llm_planner.robots.arm_model import arm_model
from llm_planner.simulation.world import World
from llm_planner.simulation.worlds import open_world
from llm_planner.skills.motion import PATH_DT

PANDA = arm_model("panda")

TOLERANCE = 0.001  # [m]
SPEED_TOLERANCE = 1.1


@dataclass(frozen=True)
class Outcome:
    """Of one scene: lengths in m, times in s."""

    touched: bool  # a zone's solid, or the table
    least: float  # distance from a solid
    violation: float  # below the clearance in force
    commanded: float  # `violation` of the commanded posture
    violated_for: float  # more than 1 mm deep [s]
    speeding: float  # hand speed / limit, later than a quarter of a second after it fell
    velocity: float  # largest share of a joint's limit
    acceleration: float
    outside: float  # farthest beyond a joint's range [rad]
    off: float  # farthest from the command [rad]
    held: float  # share of the ticks that neither tracked nor relaxed
    violations_at: float  # when the violation was deepest
    controller_ms: tuple[float, ...]
    proof_ms: tuple[float, ...]
    filter_ms: tuple[float, ...]
    stepping: float  # share of the filter's ticks at which a plan did not pass as it was
    infeasible: int


def place(world: World, qpos: np.ndarray) -> None:
    """The arm at rest at `qpos` (nq,)."""
    world.pose_arm(qpos, world.arm.gripper.widest)


def play(scene: ClearanceScene, filtered: bool = True, robot: str = PANDA.name) -> Log:
    """The whole scene; the path goes on whatever the robot does."""
    world = open_world(objects=(), robot=robot)
    place(world, scene.qpos)
    arm = GuardedArm(world, scene.solids, filtered=filtered)
    left = list(scene.patches)
    for k in range(round(SECONDS / PERIOD)):
        now = world.time
        while left and left[0].stamp <= now:
            arm.offered(left.pop(0))
        fresh = piece(scene.poses, PATH_DT, 0.0, now) if k % 10 == 0 else None
        if k == 0:
            arm.step(None)
            assert fresh is not None
        arm.step(fresh) if k else arm.ladder.follow(fresh)
    watch = world.limit_watch
    arm.log.shares = float(watch.qvel_ratio.max()), float(watch.qacc_ratio.max())
    return arm.log


def judge(log: Log) -> Outcome:
    times = np.array(log.times)
    least, short = np.inf, np.zeros(len(times))
    for name in log.distances[-1]:
        distance = np.array([row.get(name, np.inf) for row in log.distances])
        clearance = np.array([row.get(name, 0.0) for row in log.clearances])
        least = min(least, float(distance.min()))
        short = np.maximum(short, clearance - distance)
    return Outcome(
        touched=least < 0 or any(log.touched),
        least=least,
        violation=float(short.max()),
        commanded=-min([0.0, *log.commanded]),
        violated_for=FILTER_PERIOD * float((short > TOLERANCE).sum()),
        speeding=_speeding(log, times),
        velocity=log.shares[0],
        acceleration=log.shares[1],
        outside=log.outside,
        off=log.off,
        held=float(np.mean([rung not in (FallbackLevel.TRACKING, FallbackLevel.RELAXED) for rung in log.rungs[2:]])),
        violations_at=float(times[short.argmax()]),
        controller_ms=tuple(log.controller_ms),
        proof_ms=tuple(log.proof_ms),
        filter_ms=tuple(log.filter_ms),
        stepping=log.stepping / max(1, log.looks),
        infeasible=log.infeasible,
    )


def _speeding(log: Log, times: np.ndarray) -> float:
    limits = np.array(log.limits)
    with np.errstate(invalid="ignore"):
        falls = np.where(np.isfinite(limits) & (np.diff(limits, prepend=np.inf) < 0), times, -np.inf)
    settled = times - np.maximum.accumulate(falls) > 0.25
    return float((np.array(log.speeds) / limits)[settled].max(initial=0.0))


def one(filtered: bool, robot: str, seed: int) -> Outcome:
    return judge(play(draw_scene(np.random.default_rng(seed), arm=arm_model(robot)), filtered, robot))


def run(scenes: int, seed: int, processes: int, filtered: bool, robot: str = PANDA.name) -> dict[str, Any]:
    """What came of all scenes; of violations their seeds, deepest first."""
    seeds = [1000 * seed + k for k in range(scenes)]
    if processes > 1:
        with ProcessPoolExecutor(processes) as pool:
            outcomes = list(pool.map(partial(one, filtered, robot), seeds, chunksize=4))
    else:
        outcomes = [one(filtered, robot, each) for each in seeds]
    broken = sorted(zip(outcomes, seeds, strict=True), key=lambda pair: -pair[0].violation)
    times = np.concatenate([outcome.controller_ms for outcome in outcomes])
    proofs = np.concatenate([outcome.proof_ms for outcome in outcomes])
    steps = np.concatenate([outcome.filter_ms for outcome in outcomes])
    report: dict[str, Any] = {
        "robot": robot,
        "scenes": scenes,
        "touched": sum(outcome.touched for outcome in outcomes),
        "violations": sum(outcome.violation > TOLERANCE for outcome in outcomes),
        "violations, commanded": sum(outcome.commanded > TOLERANCE for outcome in outcomes),
        "deepest violation mm": 1e3 * max(outcome.violation for outcome in outcomes),
        "least distance mm": 1e3 * min(outcome.least for outcome in outcomes),
        "violated for s": max(outcome.violated_for for outcome in outcomes),
        "speed over limit": spread([outcome.speeding for outcome in outcomes]),
        "speeding": sum(outcome.speeding > SPEED_TOLERANCE for outcome in outcomes),
        "largest share of velocity limits": max(outcome.velocity for outcome in outcomes),
        "largest share of acceleration limits": max(outcome.acceleration for outcome in outcomes),
        "farthest beyond a joint's range rad": max(outcome.outside for outcome in outcomes),
        "farthest from the command rad": max(outcome.off for outcome in outcomes),
        "share held": float(np.mean([outcome.held for outcome in outcomes])),
        "tick ms": spread(times),
        "proof of a plan ms": spread(proofs),
        "filter step ms": spread(steps),
        "share filtered": float(np.mean([outcome.stepping for outcome in outcomes])),
        "filter infeasible": sum(outcome.infeasible for outcome in outcomes),
    }
    report["broken"] = [
        {
            "seed": each,
            "mm": 1e3 * outcome.violation,
            "commanded mm": 1e3 * outcome.commanded,
            "at s": outcome.violations_at,
        }
        for outcome, each in broken[:10]
        if outcome.violation > TOLERANCE
    ]
    return report


def main(argv: Sequence[str] | None = None) -> int:
    """Prints what was found or JSON; returns 0."""
    parser = report_parser(__doc__)
    parser.add_argument("--robot", default=PANDA.name, help="name or folder of the arm")
    parser.add_argument("--scenes", type=int, default=500)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--unfiltered", action="store_true", help="the controller alone")
    options = parser.parse_args(argv)
    report = run(options.scenes, options.seed, options.processes, not options.unfiltered, options.robot)
    return print_report(report, options.json)


if __name__ == "__main__":
    sys.exit(main())

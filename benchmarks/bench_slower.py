"""The limit of the hand's speed falls from 0.5 to 0.15 m/s in full motion: how fast is the hand, as simulated, then?

The hand follows paths of skills at about 0.5 m/s; the patch comes at a random moment at which it moves at 0.4 m/s or
more. Asked: under 0.165 m/s within 0.25 s, and it stays there.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from typing import Any

import numpy as np
from guarded_arm import PERIOD, GuardedArm, Log, piece
from reports import print_report, report_parser, spread

from llm_planner.control.motion_constraints import Patch
from llm_planner.robots.arm_model import arm_model
from llm_planner.scene.places import WORKSPACE
from llm_planner.scene.scene import Pose
from llm_planner.simulation.worlds import open_world
from llm_planner.skills.hand_geometry import HandPose, comfortable_yaw, rest_pose
from llm_planner.skills.motion import PATH_DT, Leg, MotionLimits, plan_path

PANDA = arm_model("panda")

FAST, SLOW, MOVING = 0.5, 0.15, 0.4  # [m/s]
UNDER = 1.1 * SLOW
ALLOWED, WATCHED = 0.25, 3.0  # [s] after the patch
LASTING = 1000.0  # [s]
ANOTHER = 1_000_000  # to a seed


def poses(rng: np.random.Generator) -> tuple[Pose, ...]:
    """Between random places over the table, at speeds about FAST."""
    grip, path, limits = rest_pose(PANDA.shape), list[Pose](), MotionLimits(speed=0.6, acceleration=2.5)
    while len(path) * PATH_DT < 12.0:
        x, y = rng.uniform(WORKSPACE.x_min + 0.03, WORKSPACE.x_max), rng.uniform(WORKSPACE.y_min, WORKSPACE.y_max)
        goal = HandPose(x, y, rng.uniform(0.1, 0.35), comfortable_yaw(x, y, rng.uniform(-np.pi, np.pi)))
        path.extend(plan_path(grip, [Leg(goal)], limits))
        grip = goal
    return tuple(path)


def play(seed: int, filtered: bool = True) -> tuple[Log, float]:
    """One motion, and when the patch came [s]; another one where the hand was never fast enough for it."""
    rng = np.random.default_rng(seed)
    path, after = poses(rng), rng.uniform(0.5, 4.0)
    world = open_world(objects=())
    arm = GuardedArm(world, (), filtered=filtered)
    arm.offered(Patch("operator", 0.0, LASTING, speed=FAST))
    told = np.inf
    while world.time < min(told + WATCHED, 15.0) - 1e-9:
        now = world.time
        if told == np.inf and now >= after and arm.hand_speed() >= MOVING:
            arm.offered(Patch("operator", now, LASTING, speed=SLOW))
            told = now
        arm.step(piece(path, PATH_DT, 0.0, now) if round(now / PERIOD) % 10 == 0 and now > 0 else None)
    return (arm.log, told) if told < np.inf else play(seed + ANOTHER, filtered)


def judge(filtered: bool, seed: int) -> dict[str, float]:
    """When the hand was under the bound for good [s after the patch], and its speeds [m/s]."""
    log, told = play(seed, filtered)
    times, speeds = np.array(log.times) - told, np.array(log.speeds)
    fast = times[(times > 0) & (speeds > UNDER)]
    return {
        "before": float(speeds[times <= 0][-1]),
        "under after": float(fast.max(initial=0.0)),
        "later": float(speeds[times > ALLOWED].max()),
        "moving": float(np.mean(speeds[times > 0.5])),
    }


def run(motions: int, seed: int, processes: int, filtered: bool) -> dict[str, Any]:
    seeds = [1000 * seed + k for k in range(motions)]
    with ProcessPoolExecutor(processes) as pool:
        rows = list(pool.map(partial(judge, filtered), seeds))
    report: dict[str, Any] = {"motions": motions}
    for name in ("before", "under after", "later", "moving"):
        report[name] = spread([row[name] for row in rows])
    report["kept"] = sum(row["later"] <= UNDER for row in rows)
    report["broken"] = [each for row, each in zip(rows, seeds, strict=True) if row["later"] > UNDER]
    return report


def main(argv: Sequence[str] | None = None) -> int:
    """Prints what was found or JSON; returns 0."""
    parser = report_parser(__doc__)
    parser.add_argument("--motions", type=int, default=100)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--unfiltered", action="store_true", help="the controller alone")
    options = parser.parse_args(argv)
    report = run(options.motions, options.seed, options.processes, not options.unfiltered)
    return print_report(report, options.json)


if __name__ == "__main__":
    sys.exit(main())

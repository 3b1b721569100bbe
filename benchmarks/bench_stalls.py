"""Stalls of 40 to 300 ms of each process between a commander and the joints: are clearances kept all the same?

The commander turns the arm to and fro through a ball that has to be kept away from. In each run one of the processes,
or each for itself, stalls again and again, at rest or in the middle of its work. Clearances are those beyond the
promised one: of all that was commanded, to its rest, and of the arm as it moved, every 5 ms, of the spheres that cover
it; a contact is one of these spheres with the ball. Time is simulated, so that a seed always comes to the same.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from reports import print_report, report_parser
from stalled_arm import BODY, Stall, StalledArm

from llm_planner.control.motion_constraints import MotionConstraints
from llm_planner.control.safety_filter.distances import zone_clearance
from llm_planner.robots.arm_model import arm_model
from llm_planner.scene.scene import Pose
from llm_planner.scene.zones import Shape, Zone
from llm_planner.simulation.worlds import open_world

PANDA = arm_model("panda")

PARTIES = ("commander", "filter", "driver", "publisher")
KINDS = ("none", *PARTIES, "all")
SPEEDS = (0.3, 1.74)  # [rad/s] of the first joint
SHORTEST, LONGEST = 0.04, 0.3  # [s] of a stall
APART = (0.1, 0.8)  # [s] between two
RADIUS, CLEARANCE = 0.05, 0.03  # [m] of the ball
FREE_AT_START = 0.05  # [m] beyond its clearance
HAND = BODY.place(np.array([PANDA.home])).points[:, 0, 0]


@dataclass(frozen=True)
class Outcome:
    """Of one run; lengths in m."""

    kind: str
    seed: int
    speed: float
    commanded: float
    measured: float
    nearest: float  # on most approaches the arm should come near to what is allowed
    contact: bool
    refused: int
    sent: int
    travelled: float


def draw_stalls(rng: np.random.Generator, kind: str, seconds: float) -> list[Stall]:
    """Of one of the processes, or of each for itself."""
    stalls = []
    for party in {"none": (), "all": PARTIES}.get(kind, (kind,)):
        time = 0.5 + rng.uniform(*APART)
        while time < seconds:
            lasting = rng.uniform(SHORTEST, LONGEST)
            stalls.append(Stall(party, time, time + lasting, bool(rng.random() < 0.5)))
            time += lasting + rng.uniform(*APART)
    return stalls


def draw_ball(rng: np.random.Generator) -> Zone:
    """In the way of the hand, and not near the arm at first."""
    while True:
        angle, reach = rng.uniform(0.5, 1.0), float(np.hypot(HAND[0], HAND[1])) + rng.uniform(-0.05, 0.05)
        place = (reach * np.cos(angle), reach * np.sin(angle), float(HAND[2] + rng.uniform(-0.02, 0.1)))
        ball = Zone("the ball", Shape.SPHERE, (RADIUS,), Pose(place), CLEARANCE)
        if zone_clearance(BODY, ball, np.array(PANDA.home)) > FREE_AT_START:
            return ball


def one(seconds: float, seed: int) -> Outcome:
    """The run of a seed."""
    rng = np.random.default_rng([seed, 7])
    kind, speed = KINDS[seed % len(KINDS)], float(rng.uniform(*SPEEDS))
    ball = draw_ball(rng)
    ends = -0.3, float(np.arctan2(ball.pose.position[1], ball.pose.position[0])) + 0.2
    arm = StalledArm(
        open_world(objects=()), MotionConstraints(zones=(ball,)), speed, ends,
        draw_stalls(rng, kind, seconds),
    )  # fmt: skip
    log = arm.run(seconds)
    return Outcome(
        kind, seed, speed, log.commanded, log.measured, min(log.nearest), log.measured + CLEARANCE < 0.0,
        log.refused, log.sent, log.travelled,
    )  # fmt: skip


def run(seeds: int, seed: int, seconds: float, processes: int) -> dict[str, Any]:
    """For every kind of stall the worst, and of all."""
    numbers = [1000 * seed + k for k in range(seeds)]
    if processes > 1:
        with ProcessPoolExecutor(processes) as pool:
            outcomes = list(pool.map(partial(one, seconds), numbers, chunksize=4))
    else:
        outcomes = [one(seconds, each) for each in numbers]
    return {
        "stalls": {kind: _summary(rows) for kind in KINDS if (rows := [o for o in outcomes if o.kind == kind])},
        "all": _summary(outcomes),
        "worst": [
            {"seed": o.seed, "stalled": o.kind, "rad/s": round(o.speed, 2), "commanded mm": round(1e3 * o.commanded, 2),
             "measured mm": round(1e3 * o.measured, 2)}
            for o in sorted(outcomes, key=lambda o: min(o.commanded, o.measured))[:5]
        ],
    }  # fmt: skip


def _summary(outcomes: Sequence[Outcome]) -> dict[str, Any]:
    return {
        "runs": len(outcomes),
        "commanded mm": round(1e3 * min(o.commanded for o in outcomes), 3),
        "measured mm": round(1e3 * min(o.measured for o in outcomes), 3),
        "median measured mm": round(1e3 * float(np.median([o.measured for o in outcomes])), 3),
        "broken": sum(min(o.commanded, o.measured) < 0.0 for o in outcomes),
        "contacts": sum(o.contact for o in outcomes),
        "commands refused": sum(o.refused for o in outcomes),
        "commands sent": sum(o.sent for o in outcomes),
        "turned rad": round(float(np.mean([o.travelled for o in outcomes])), 2),
    }


def main(argv: Sequence[str] | None = None) -> int:
    """Prints a table or JSON; returns 0."""
    parser = report_parser(__doc__)
    parser.add_argument("--seeds", type=int, default=200)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--seconds", type=float, default=4.0, help="of each run")
    parser.add_argument("--processes", type=int, default=2)
    options = parser.parse_args(argv)
    report = run(options.seeds, options.seed, options.seconds, options.processes)
    return print_report(report, options.json)


if __name__ == "__main__":
    sys.exit(main())

"""Language to rewards with a zone in the way: where the hand, or the base, went when nothing was forbidden.

Each task is first carried out without a zone; then again in the same layout, with a ball set where the robot was in the
middle of its motion. Distances are read off the simulator ten times a second: 0 is the edge that must not be passed.
"""

from __future__ import annotations

import math
import sys
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from reports import print_report, report_parser

sys.path.insert(0, str(Path(__file__).parent))

from rewards_tasks import TASKS, Task, rooms_world, table_world

from llm_planner.control.motion_constraints import FREE, MotionConstraints
from llm_planner.language.factory import open_model
from llm_planner.planning.planning import plan_command
from llm_planner.robots.motion import Observation
from llm_planner.scene.scene import Pose, Scene
from llm_planner.scene.zones import Shape, Subject, Zone
from llm_planner.simulation.rooms.world import RoomsWorld
from llm_planner.simulation.world import World
from llm_planner.skills.arm_paths import distances
from llm_planner.skills.episode import Episode
from llm_planner.skills.library import load_skills

CHOSEN = ("turn the mug", "knock over", "slide against", "push together", "hold level above", "back up to",
          "stand between")  # fmt: skip
BALL = 0.01  # [m]
REWARDED = {"achieve", "manoeuvre"}


@dataclass(frozen=True)
class Run:
    """`closest` [m] to what the zone keeps, negative inside; `seconds` of the simulation."""

    seed: int
    success: bool
    closest: float
    speed: float
    seconds: float
    message: str


class Carried:
    """One task in one layout, its reward skill under `keep`."""

    def __init__(self, task: Task, seed: int, keep: MotionConstraints) -> None:
        self.world: World | RoomsWorld = (
            table_world(task, seed) if "parcel" not in task.things else rooms_world(task, seed)[0]
        )
        self.shown: list[Scene] = [self.world.scene()]
        self.hands: list[Any] = []
        library = load_skills()
        skills = library.for_scene(self.shown[0])
        planned = plan_command(task.command, self.shown[0], skills.signatures, open_model("embedded"))
        episode, self.message = Episode(self.world), ""
        for step in planned.plan.steps:
            rewarded = step.skill in REWARDED
            result = episode.run(
                library.find(step.skill), step.arguments, self._look if rewarded else self._pass,
                keep.zones if rewarded else (), (lambda now, speed: keep) if rewarded else lambda now, speed: FREE,
            )  # fmt: skip
            self.message = result.message
            if result.message:
                break
        self.shown.append(self.world.scene())
        self.success = task.done(self.shown)

    def _pass(self, observation: Observation) -> bool:
        self.shown.append(observation.scene)
        return False

    def _look(self, observation: Observation) -> bool:
        self.shown.append(observation.scene)
        self.hands.append((observation.time, *observation.T_base_gripper.position))
        return observation.time > 300.0

    def told(self, seed: int, zones: tuple[Zone, ...]) -> Run:
        hands = np.array(self.hands)
        speeds = np.linalg.norm(np.diff(hands[:, 1:], axis=0), axis=1) / np.maximum(np.diff(hands[:, 0]), 1e-6)
        closest = min((float(distances(zone, hands[:, 1:]).min()) - zone.clearance for zone in zones), default=math.inf)
        return Run(seed, self.success, closest, float(speeds.max(initial=0.0)), self.world.time, self.message)


def zone_on(way: np.ndarray, clearance: float) -> Zone:
    """Round the middle of the lowest tenth of a hand's way, or of a base's, but not where it begins."""
    away = way[np.linalg.norm(way - way[0], axis=1) > BALL + clearance + 0.02]
    way = away if len(away) else way
    lowest = way[way[:, 2] <= np.quantile(way[:, 2], 0.1) + 1e-6]
    point = lowest[len(lowest) // 2]
    return Zone("the ball", Shape.SPHERE, (BALL,), Pose(tuple(point.tolist())), clearance, Subject.GRIPPER)


def measure(task: Task, seed: int, clearance: float, speed: float) -> Run | None:
    free = Carried(task, seed, FREE)
    if not free.hands or not free.success:
        return None
    wide = clearance if "parcel" not in task.things else 10 * clearance
    zone = zone_on(np.array(free.hands)[:, 1:], wide)
    zones = (zone,) if clearance else ()
    return Carried(task, seed, MotionConstraints(speed=speed, zones=zones)).told(seed, zones)


def main(argv: list[str] | None = None) -> int:
    parser = report_parser(__doc__)
    parser.add_argument("--runs", type=int, default=3, help="of each task, each with a layout of its own")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--clearance", type=float, default=0.03, help="round the ball [m], ten times that for a base")
    parser.add_argument("--speed", type=float, default=9.0, help="limit in force [m/s]")
    parser.add_argument("--only", choices=CHOSEN)
    options = parser.parse_args(argv)
    runs: dict[str, list[Run]] = {}
    for task in TASKS:
        if task.name in ((options.only,) if options.only else CHOSEN):
            seeds = range(options.seed, options.seed + options.runs)
            found = [measure(task, seed, options.clearance, options.speed) for seed in seeds]
            runs[task.name] = [run for run in found if run]
            if not options.json:
                for run in runs[task.name]:
                    print(f"{task.name:18} {run.seed} {'done' if run.success else 'not '} {1e3 * run.closest:6.1f} mm "
                          f"{run.speed:.3f} m/s {run.seconds:5.1f} s  {run.message[:150]}", flush=True)  # fmt: skip
    every = [run for found in runs.values() for run in found]
    report = {
        "runs": len(every), "solved": sum(run.success for run in every) / max(1, len(every)),
        "closest [m]": min((run.closest for run in every), default=math.inf),
    }  # fmt: skip
    return print_report(
        {**report, "tasks": {name: list(map(asdict, found)) for name, found in runs.items()}}, options.json
    )


if __name__ == "__main__":
    sys.exit(main())

"""A mobile robot follows people who walk through drawn buildings, and backs into its dock: by what the simulator shows.

In every building the robot docks from the hall, then goes to a person, who walks through three rooms drawn at random
while the robot follows. To have followed is to end within 25 cm of the distance and never to come nearer than 35 cm to
the box of the person; to have docked, to stand within 2 cm and 3 degrees.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from reports import print_report, report_parser

from llm_planner.robots.motion import Observation
from llm_planner.scene.furniture import docked, docking_pose
from llm_planner.scene.geometry import distance_to_box, yaw_of
from llm_planner.scene.predicates import FOLLOWED
from llm_planner.scene.scene import Scene
from llm_planner.simulation.worlds import open_world
from llm_planner.skills.contract import SkillErrorCode
from llm_planner.skills.episode import Episode
from llm_planner.skills.floor_paths import walking_route
from llm_planner.skills.library import SkillLibrary, load_skills

DISTANCE, SECONDS = (0.8, 2.0), 30.0  # [m] drawn in between, [s]
WALKING = (0.3, 0.9)  # [m/s] drawn in between
LEAST = 0.35  # [m] from the robot's middle to the box of whom it follows
ROOMS = 3


@dataclass(frozen=True)
class Outcome:
    """How one building went; lengths in mm and m, angles in degrees. `told` is what a skill that failed said."""

    seed: int
    docked: bool
    off_mm: float
    turned: float
    followed: bool
    distance: float
    speed: float
    ended: float
    nearest: float
    farthest: float
    told: str


def run_building(seed: int, library: SkillLibrary) -> Outcome:
    """Docks, goes to somebody, and follows them."""
    world, rng = open_world("rooms", seed), np.random.default_rng([seed, 13])
    episode = Episode(world)
    dock = episode.run(library.find("dock"), {"station": "dock"})
    off, turned = _off_dock(world.scene())
    stands = docked(world.scene(), "dock") and dock.code is SkillErrorCode.SUCCEEDED
    person = str(rng.choice([item.name for item in world.scene().objects if item.kind == "person"]))
    reached = episode.run(library.find("go_to"), {"destination": person})
    distance, speed = float(rng.uniform(*DISTANCE)), float(rng.uniform(*WALKING))
    world.walk(
        person,
        walking_route(world.scene(), person, [str(name) for name in rng.permutation(world.building.names)[:ROOMS]]),
        speed,
    )
    gaps: list[float] = []

    def note(seen: Observation) -> bool:
        gaps.append(_gap(seen.scene, person))
        return False

    follow = episode.run(library.find("follow"), {"object": person, "seconds": SECONDS, "distance": distance}, note)
    ended = _gap(world.scene(), person)
    kept = abs(gaps[-1] - distance) <= FOLLOWED and min(gaps) >= LEAST if gaps else False
    told = " ".join(filter(None, (dock.message, reached.message, follow.message)))
    followed = kept and follow.code is SkillErrorCode.SUCCEEDED
    far = max(gaps[_settled(gaps) :], default=math.inf)
    return Outcome(
        seed,
        stands,
        1000 * off,
        math.degrees(turned),
        followed,
        distance,
        speed,
        ended,
        min(gaps, default=0.0),
        far,
        told,
    )


def _settled(gaps: Sequence[float]) -> int:
    """After so many looks it has come to its distance from where it went to: 5 s."""
    return min(50, len(gaps) - 1) if gaps else 0


def _gap(scene: Scene, name: str) -> float:
    assert scene.robot is not None
    x, y, _ = scene.robot.position
    return distance_to_box((x, y), scene.find(name))


def _off_dock(scene: Scene) -> tuple[float, float]:
    """[m], [rad]"""
    assert scene.robot is not None
    place = docking_pose(scene.find("dock"))
    return math.dist(scene.robot.position, place.position), abs(
        math.remainder(yaw_of(scene.robot) - yaw_of(place), math.tau)
    )


def summary(outcomes: Sequence[Outcome]) -> dict[str, Any]:
    """The shares that went well, and the worst of each measure."""
    return {
        "buildings": len(outcomes),
        "docked": sum(one.docked for one in outcomes) / len(outcomes),
        "followed": sum(one.followed for one in outcomes) / len(outcomes),
        "worst off the dock [mm]": max(one.off_mm for one in outcomes),
        "worst turned in the dock [deg]": max(one.turned for one in outcomes),
        "nearest to a person [m]": min(one.nearest for one in outcomes),
        "farthest beyond the distance [m]": max(one.farthest - one.distance for one in outcomes),
        "outcomes": [asdict(one) for one in outcomes],
    }


def main(argv: Sequence[str] | None = None) -> int:
    """Prints the shares and the worst measures, or JSON; returns 0."""
    parser = report_parser(__doc__)
    parser.add_argument("--scenes", type=int, default=30, help="buildings")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args(argv)
    library = load_skills(learned=False)
    outcomes = [run_building(options.seed + k, library) for k in range(options.scenes)]
    report = summary(outcomes)
    return print_report(report, options.json)


if __name__ == "__main__":
    sys.exit(main())

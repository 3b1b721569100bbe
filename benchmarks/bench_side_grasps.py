"""Things that cannot be taken from above: picked from the side and put somewhere else, in seeded scenes in physics.

The simulator's scene decides: the thing stands upright at the wanted place, is let go, and the shelf has not been
touched.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from reports import print_report, report_parser

from llm_planner.robots.arm_model import arm_model, arm_shape
from llm_planner.scene.predicates import on_table, toppled
from llm_planner.scene.scene import Scene, SceneObject
from llm_planner.simulation.objects import ObjectSpec
from llm_planner.simulation.tabletop import Placement, fitted, standing
from llm_planner.simulation.world import World
from llm_planner.skills.contract import SkillErrorCode
from llm_planner.skills.episode import Episode
from llm_planner.skills.library import SkillLibrary, load_skills

TASKS = {
    "lamp": ("lamp", False),  # wider from above than the fingers open
    "candlestick": ("candlestick", False),  # taller than the hand is lifted
    "bottle under a shelf": ("bottle", True),
    "mug under a shelf": ("mug", True),
}
PLACED = 0.04  # [m] from the wanted place
EDGE = 0.08  # [m] of the workspace in which nothing is placed
SHELF = 0.16  # [m] that a shelf needs in addition
APART = 0.22  # [m] between the thing, where it goes, and the block beside


@dataclass(frozen=True)
class Outcome:
    """How one scene went; `duration` in simulated s."""

    robot: str
    task: str
    seed: int
    success: bool
    refused: bool  # before anything moved
    duration: float
    message: str


def draw(task: str, robot: str, rng: np.random.Generator) -> tuple[Scene, tuple[float, float]]:
    """Draw a scene with the thing, a block, and perhaps a shelf over the thing; and where the thing is to go."""
    kind, covered = TASKS[task]
    shape = arm_shape(robot)
    area = shape.workspace
    while True:
        points = rng.uniform((area.x_min + EDGE, area.y_min + EDGE), (area.x_max - EDGE, area.y_max - EDGE), (3, 2))
        far = [math.dist(a, b) for a, b in ((points[0], points[1]), (points[0], points[2]), (points[1], points[2]))]
        if min(far) > APART + SHELF * covered and all(shape.reaches(x, y) for x, y in points.tolist()):
            break
    (x, y), (goal_x, goal_y), (block_x, block_y) = points.tolist()
    specs = fitted((ObjectSpec(kind, kind, ""), ObjectSpec("red block", "block", "red")), shape)
    thing = standing(specs[0], Placement(x, y, float(rng.uniform(-0.5, 0.5))))
    items = [thing, standing(specs[1], Placement(block_x, block_y, 0.0))]
    if covered:
        items.append(_shelf(thing, float(rng.uniform(-0.3, 0.3))))
    return Scene(0.0, tuple(items), arm=arm_model(robot).name), (goal_x, goal_y)


def _shelf(thing: SceneObject, turn: float) -> SceneObject:
    """Return a shelf over the thing, which opens towards the arm, but for `turn` [rad]."""
    x, y, _ = thing.position
    return standing(ObjectSpec("shelf", "shelf", ""), Placement(x, y, math.atan2(y, x) + turn))


def run_scene(task: str, robot: str, seed: int, library: SkillLibrary) -> Outcome:
    """Lay out the scene of `seed`, move the thing, and judge the result."""
    rng = np.random.default_rng([seed, list(TASKS).index(task)])
    scene, goal = draw(task, robot, rng)
    name = scene.objects[0].name
    world = World(seed, layout=scene, arm=arm_model(robot))
    episode, message, refused = Episode(world), "", False
    for skill, arguments in (("pick", {"object": name}), ("place_at", {"place": (*goal, 0.0)})):
        result = episode.run(library.find(skill), arguments)
        if result.code is not SkillErrorCode.SUCCEEDED:
            message, refused = f"{skill}: {result.code.name}: {result.message}", skill == "pick" and world.time < 1.0
            break
    duration = world.time
    episode.run(library.find("go_home"), {})
    after = world.scene()
    lies = math.dist(after.find(name).position[:2], goal) <= PLACED and on_table(after, name)
    done = lies and not toppled(after, name) and not after.held
    return Outcome(robot, task, seed, done, refused, duration, message or ("" if done else "it does not stand there"))


def main(argv: Sequence[str] | None = None) -> int:
    """Print success by robot and task; return 0."""
    parser = report_parser(__doc__)
    parser.add_argument("--scenes", type=int, default=10, help="of each task")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--robot", nargs="+", default=["panda", "ur5e"], help="names or folders of arms")
    parser.add_argument("--only", nargs="+", choices=TASKS, default=tuple(TASKS))
    options = parser.parse_args(argv)
    library, report = load_skills(), dict[str, object]()
    for robot in options.robot:
        for task in options.only:
            group = [run_scene(task, robot, options.seed + k, library) for k in range(options.scenes)]
            report[f"{robot}, {task}"] = {
                "scenes": len(group),
                "moved": sum(one.success for one in group),
                "refused": sum(one.refused for one in group),
                "simulated s": sum(one.duration for one in group) / len(group),
                "messages": {f"seed {one.seed}": one.message for one in group if one.message},
            }
    return print_report(report, options.json)


if __name__ == "__main__":
    sys.exit(main())

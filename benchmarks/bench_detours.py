"""A thing is carried under a rule to stay away from a vase, over seeded layouts in physics, with the embedded model.

Each sentence is planned and carried out in the first layouts, whatever they are, and in the first in which the vase is
in the way: a hand that swings straight from the block to the bowl passes where the rule forbids it to be. A layout
counts as impossible where the block, or the bowl, lies where the rule forbids the hand to be: no path can help there.
Distances are read off the simulator's scenes, 50 a second.

    python benchmarks/bench_detours.py [--layouts 30] [--in-the-way 30] [--seed 0] [--json]
"""

from __future__ import annotations

import argparse
import json
import math
import statistics
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import count, islice

import numpy as np
from rooms_judge import Recorder

from llm_planner.language.factory import open_model
from llm_planner.language.model import LanguageModel
from llm_planner.planning.in_process import Workcell, run_command
from llm_planner.planning.planned import Planned
from llm_planner.planning.planning import plan_command
from llm_planner.plans.plan import Outcome
from llm_planner.robots.arm_model import arm_model
from llm_planner.scene.predicates import in_
from llm_planner.scene.propositions import Moment, holds, parse_proposition
from llm_planner.scene.scene import Pose, Scene, SceneObject
from llm_planner.simulation.objects import KINDS, ObjectSpec, parse_objects
from llm_planner.simulation.tabletop import Placement, draw_layout
from llm_planner.simulation.worlds import open_world
from llm_planner.skills.hand_geometry import rest_pose
from llm_planner.skills.library import SkillLibrary, load_skills

PANDA = arm_model("panda")

THINGS = "red block, blue block, green bowl, yellow bowl, vase"
BLOCK, BOWL = "red block", "green bowl"
TASK = f"put the {BLOCK} in the {BOWL}"
RULES = {  # what is said: what must never be seen
    "stay away from the vase": "near(robot, vase)",
    "never reach over the vase": "over(robot, vase)",
    "keep 20 cm from the vase": "distance(robot, vase) < 0.2",
}
LOOK = 0.02  # [s] between the scenes that are judged
PASSING = 0.18  # [m] above the table: how high a hand swings over all that stands there


@dataclass(frozen=True)
class Run:
    """How one sentence went in one layout, in so many `steps`; `seconds` of CPU to plan, `duration` in simulated s."""

    possible: bool
    planned: bool
    steps: int
    done: bool
    kept: bool
    seconds: float
    duration: float
    message: str


def forbidden(scene: Scene, rule: str) -> bool:
    """Whether the scene shows what the rule excludes."""
    return holds(parse_proposition(rule), Moment(scene))


def possible(scene: Scene, rule: str) -> bool:
    """Whether the hand may be where it has to be."""
    places = [scene.find(name).position for name in (BLOCK, BOWL)]
    hands = [scene, *(replace(scene, robot=Pose(place)) for place in places)]
    return not any(forbidden(hand, rule) for hand in hands)


def in_the_way(scene: Scene, rule: str) -> bool:
    """Whether a hand that swings about its base from the block to the bowl passes where it must not be."""
    (ax, ay, _), (bx, by, _) = (scene.find(name).position for name in (BLOCK, BOWL))
    radii = np.linspace(math.hypot(ax, ay), math.hypot(bx, by), 50).tolist()
    turns = np.linspace(math.atan2(ay, ax), math.atan2(by, bx), 50).tolist()
    swing = [(r * math.cos(turn), r * math.sin(turn), PASSING) for r, turn in zip(radii, turns, strict=True)]
    return any(forbidden(replace(scene, robot=Pose(point)), rule) for point in swing)


def drawn(seed: int) -> Scene:
    """The layout of a seed as it is drawn, before it is built."""
    items = parse_objects(THINGS)
    places = draw_layout(items, np.random.default_rng(seed), PANDA.shape)
    return Scene(0.0, tuple(map(_standing, items, places)), robot=rest_pose(PANDA.shape).pose())


def _standing(item: ObjectSpec, place: Placement) -> SceneObject:
    size, turn = KINDS[item.kind].size, place.yaw / 2
    about_z = (0.0, 0.0, math.sin(turn), math.cos(turn))
    return SceneObject(item.name, item.kind, item.color, (place.x, place.y, size[2] / 2), about_z, size)


def hard_seeds(rule: str, first: int) -> Iterator[int]:
    """Of possible layouts in which the vase is in the way, from `first` on."""
    return (seed for seed in count(first) if possible(drawn(seed), rule) and in_the_way(drawn(seed), rule))


def timed(plan: Callable[[], Planned], spent: list[float]) -> Planned:
    """The plan; the CPU time that it took is appended, whatever comes of it."""
    began = time.thread_time()
    try:
        return plan()
    finally:
        spent.append(time.thread_time() - began)


def run_layout(seed: int, words: str, rule: str, model: LanguageModel, library: SkillLibrary) -> Run:
    """One sentence in the layout of `seed`."""
    world = Recorder(open_world(seed=seed, objects=parse_objects(THINGS)), LOOK)
    before, command, spent = world.scenes[0], f"{TASK} and {words}", list[float]()

    def make_plan(scene: Scene) -> Planned:
        skills = library.for_scene(scene).signatures
        return timed(lambda: plan_command(command, scene, skills, model), spent)

    report = run_command(command, Workcell(world, library), make_plan)
    done = report.outcome is Outcome.DONE and in_(world.scenes[-1], BLOCK, BOWL)
    kept = not any(forbidden(scene, rule) for scene in world.scenes)
    steps = len(report.plan.steps) if report.plan else 0
    return Run(possible(before, rule), steps > 0, steps, done, kept, spent[0], report.duration, report.message)


def summary(runs: Sequence[Run]) -> dict[str, float]:
    """Shares are of the layouts that are possible."""
    fair = [run for run in runs if run.possible]
    fairly = max(1, len(fair))
    return {
        "layouts": len(runs),
        "impossible": len(runs) - len(fair),
        "planned": round(sum(run.planned for run in fair) / fairly, 3),
        "planned in two steps": round(sum(run.steps == 2 for run in fair) / fairly, 3),
        "done, rule kept": round(sum(run.done and run.kept for run in fair) / fairly, 3),
        "rule broken": sum(not run.kept for run in runs),
        "planning, median [s CPU]": round(statistics.median(run.seconds for run in runs), 3),
        "planning, longest [s CPU]": round(max(run.seconds for run in runs), 3),
        "simulated seconds": round(statistics.mean([run.duration for run in fair if run.done] or [0.0]), 2),
    }


def measured(
    seeds: Iterable[int], words: str, model: LanguageModel, library: SkillLibrary, told: bool
) -> dict[str, float]:
    """The figures of one sentence; with `told` each failure is printed."""
    runs = []
    for seed in seeds:
        runs.append(run_layout(seed, words, RULES[words], model, library))
        if told and runs[-1].possible and not (runs[-1].done and runs[-1].kept):
            print(f"  {seed}, {words}: {runs[-1].message}", file=sys.stderr, flush=True)
    return summary(runs)


def main(argv: Sequence[str] | None = None) -> int:
    """Prints a table by rule, or JSON; returns 0."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--layouts", type=int, default=30, help="whatever they are")
    parser.add_argument("--in-the-way", type=int, default=30, help="in which the vase is in the way")
    parser.add_argument("--seed", type=int, default=0, help="of the first layout")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args(argv)
    model, library, told = open_model("embedded"), load_skills(), not options.json
    report: dict[str, dict[str, dict[str, float]]] = {"any": {}, "in the way": {}}
    for words, rule in RULES.items():
        whatever = range(options.seed, options.seed + options.layouts)
        report["any"][words] = measured(whatever, words, model, library, told)
        hard = islice(hard_seeds(rule, options.seed), options.in_the_way)
        report["in the way"][words] = measured(hard, words, model, library, told)
    if options.json:
        print(json.dumps(report, indent=2))
        return 0
    for layouts, rules in report.items():
        for words, figures in rules.items():
            print(f"{words} ({layouts})", *(f"  {name:26} {value:8g}" for name, value in figures.items()), sep="\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())

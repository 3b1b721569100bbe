"""Scripted pick and place over seeded scenes in physics; success is what the simulator's scene shows.

Each scene has one task, drawn from its seed.
"""

from __future__ import annotations

import sys
import time
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass

import numpy as np
from reports import print_report, report_parser

from llm_planner.programs.values import Argument
from llm_planner.scene import predicates
from llm_planner.scene.free_space import clearance
from llm_planner.scene.places import DIRECTIONS, REGIONS, WORKSPACE
from llm_planner.scene.scene import Scene
from llm_planner.simulation.objects import COLORS, ObjectSpec, named
from llm_planner.simulation.world import World
from llm_planner.simulation.worlds import open_world
from llm_planner.skills.contract import SkillErrorCode
from llm_planner.skills.episode import Episode
from llm_planner.skills.library import SkillLibrary, load_skills

REGION_NAMES = tuple(REGIONS)
Call = tuple[str, Mapping[str, Argument]]


@dataclass(frozen=True)
class Task:
    """Skill calls to make, and whether the scenes before and after show that it was done."""

    kind: str
    calls: tuple[Call, ...]
    done: Callable[[Scene, Scene], bool]


@dataclass(frozen=True)
class Outcome:
    """How one scene went; `duration` in simulated s."""

    seed: int
    task: str
    success: bool
    duration: float
    message: str


def things(rng: np.random.Generator, blocks: int, bowls: int, others: Sequence[str] = ()) -> tuple[ObjectSpec, ...]:
    """That many blocks and bowls of different colours, and the others."""
    colors = list(COLORS)
    pairs = [(str(color), "block") for color in rng.choice(colors, size=blocks, replace=False)]
    pairs += [(str(color), "bowl") for color in rng.choice(colors, size=bowls, replace=False)]
    return named([*pairs, *(("", kind) for kind in others)])


def _single(kind: str, item: str, place: Call, done: Callable[[Scene, Scene], bool]) -> Task:
    return Task(kind, (("pick", {"object": item}), place), done)


def draw_task(kind: str, scene: Scene, rng: np.random.Generator) -> Task:
    """A task of that kind with the things in the scene."""
    blocks = [str(name) for name in rng.permutation([item.name for item in scene.objects if item.kind == "block"])]
    bowls = [str(name) for name in rng.permutation([item.name for item in scene.objects if item.kind == "bowl"])]
    if kind in ("block on block", "crowded"):
        return _single(
            kind, blocks[0], ("place_on", {"object": blocks[1]}), lambda _, s: predicates.on(s, blocks[0], blocks[1])
        )
    if kind == "block in bowl":
        return _single(
            kind, blocks[0], ("place_in", {"object": bowls[0]}), lambda _, s: predicates.in_(s, blocks[0], bowls[0])
        )
    if kind in ("block at region", "bowl at region"):
        item = blocks[0] if kind.startswith("block") else bowls[0]
        region = str(rng.choice(REGION_NAMES))
        return _single(kind, item, ("place_at", {"place": region}), lambda _, s: predicates.at(s, item, region))
    if kind == "block beside block":
        side = _free_side(scene, blocks[0], blocks[1], rng)
        words: Mapping[str, Argument] = {"object": blocks[1], "direction": side, "distance": 0.04}
        return _single(
            kind,
            blocks[0],
            ("place_beside", words),
            lambda _, s: predicates.beside(s, blocks[0], blocks[1], side, 0.04),
        )
    if kind in CARRIED:
        calls = ("place_beside", {"object": blocks[0], "direction": "any", "distance": 0.05})
        return _single(kind, kind, calls, lambda before, after: _carried(before, after, kind, blocks[0]))
    if kind == "push":
        return _push(blocks[0], scene, rng)
    if kind == "stack of five":
        calls = [
            call
            for upper, lower in zip(blocks[1:5], blocks[:4], strict=True)
            for call in (("pick", {"object": upper}), ("place_on", {"object": lower}))
        ]
        pairs = list(zip(blocks[1:5], blocks[:4], strict=True))
        return Task(kind, tuple(calls), lambda _, s: all(predicates.on(s, a, b) for a, b in pairs))
    assert kind == "four into a bowl"
    calls = [call for name in blocks[:4] for call in (("pick", {"object": name}), ("place_in", {"object": bowls[0]}))]
    return Task(kind, tuple(calls), lambda _, s: all(predicates.in_(s, name, bowls[0]) for name in blocks[:4]))


def _carried(before: Scene, after: Scene, name: str, block: str) -> bool:
    """Whether the thing stands beside the block, as high and as upright as before, and is let go."""
    was, now = before.find(name), after.find(name)
    level = abs(now.position[2] - was.position[2]) < 0.003 and not predicates.toppled(after, name)
    return level and not after.held and predicates.beside(after, name, block, "any", 0.05)


def _free_side(scene: Scene, name: str, other: str, rng: np.random.Generator) -> str:
    """A side of `other` where `name` has room 4 cm away from it, or just any where there is none."""
    x, y, _ = scene.find(other).position
    sides = [str(side) for side in rng.permutation(list(DIRECTIONS))]
    spots = {side: (x + 0.085 * DIRECTIONS[side][0], y + 0.085 * DIRECTIONS[side][1]) for side in sides}
    free = [
        side
        for side in sides
        if WORKSPACE.contains(*spots[side]) and clearance(scene, spots[side], {name, other}) > 0.05
    ]
    return (free or sides)[0]


def _push(name: str, scene: Scene, rng: np.random.Generator) -> Task:
    """Towards the middle of the table, where there is a way and a place to push from."""
    x, y, _ = scene.find(name).position
    direction = ("right" if y > 0 else "left") if abs(y) > abs(x - 0.46) else ("bottom" if x > 0.46 else "top")
    call: Call = ("push", {"object": name, "direction": direction, "distance": 0.06})
    return Task("push", (call,), lambda b, s: predicates.moved(b.find(name).position, s, name, direction, 0.06))


# kind: blocks, bowls, other things
SCENES: dict[str, tuple[int, int, tuple[str, ...]]] = {
    "block on block": (4, 2, ("mug",)),
    "block in bowl": (4, 3, ("vase",)),
    "block at region": (4, 2, ("plate",)),
    "block beside block": (3, 2, ()),
    "bowl at region": (2, 2, ("vase",)),
    "crowded": (7, 3, ("mug",)),
    "sponge": (1, 1, ("sponge",)),
    "mug": (1, 1, ("mug",)),
    "vase": (1, 1, ("vase",)),
    "plate": (1, 1, ("plate",)),
    "push": (2, 1, ()),
    "stack of five": (5, 2, ()),
    "four into a bowl": (4, 2, ("mug",)),
}
SINGLE = tuple(SCENES)[:6]  # one pick and one place each: what the figure is about


CARRIED = ("sponge", "mug", "vase", "plate")  # put beside a block


def run_scene(seed: int, kind: str, library: SkillLibrary, robot: str = "") -> tuple[Outcome, World]:
    """Lays out the scene of `seed`, does its task and judges the result."""
    rng = np.random.default_rng([seed, 7])
    blocks, bowls, others = SCENES[kind]
    world = open_world(seed=seed, objects=things(rng, blocks, bowls, others), robot=robot)
    episode = Episode(world)
    before = world.scene()
    task = draw_task(kind, before, rng)
    message = ""
    for name, arguments in task.calls:
        result = episode.run(library.find(name), arguments)
        if result.code is not SkillErrorCode.SUCCEEDED:
            message = f"{name}{tuple(arguments.values())}: {result.code.name}: {result.message}"
            break
    duration = world.time
    episode.run(library.find("go_home"), {})
    success = task.done(before, world.scene())
    message = message or ("" if success else "the scene does not show it")
    return Outcome(seed, kind, success, duration, message), world


def main(argv: Sequence[str] | None = None) -> int:
    """Prints a table of success by kind of task, or JSON; returns 0."""
    parser = report_parser(__doc__)
    parser.add_argument("--episodes", type=int, default=200, help="scenes with one pick and one place each")
    parser.add_argument("--long", type=int, default=10, help="scenes of each of the long tasks and of pushing")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--robot", default="", help="name or folder of the arm")
    parser.add_argument("--only", nargs="+", choices=SCENES, default=tuple(SCENES), help="tasks, all by default")
    options = parser.parse_args(argv)
    library = load_skills()
    kinds = [(options.seed + k, SINGLE[k % len(SINGLE)]) for k in range(options.episodes)]
    kinds += [(options.seed + k, kind) for kind in SCENES if kind not in SINGLE for k in range(options.long)]
    kinds = [(seed, kind) for seed, kind in kinds if kind in options.only]
    outcomes: list[Outcome] = []
    velocity = acceleration = 0.0
    began = time.process_time()
    for seed, kind in kinds:
        outcome, world = run_scene(seed, kind, library, options.robot)
        outcomes.append(outcome)
        velocity = max(velocity, float(world.limit_watch.qvel_ratio.max()))
        acceleration = max(acceleration, float(world.limit_watch.qacc_ratio.max()))
        if world.limit_watch.exceeded and not options.json:
            print(f"  seed {seed} {kind}: a joint limit was exceeded: {world.limit_watch}", file=sys.stderr, flush=True)
        if outcome.message and not options.json:
            print(f"  seed {seed} {kind}: {outcome.message}", file=sys.stderr, flush=True)
    report = {
        "pick_and_place": _rate([o for o in outcomes if o.task in SINGLE]),
        "by_task": {kind: _rate(group) for kind, group in _grouped(outcomes).items()},
        "largest_velocity_share": round(velocity, 3),
        "largest_acceleration_share": round(acceleration, 3),
        "cpu_seconds": round(time.process_time() - began, 1),
        "failures": [asdict(o) for o in outcomes if not o.success],
    }
    return print_report(report, options.json)


def _grouped(outcomes: Sequence[Outcome]) -> dict[str, list[Outcome]]:
    groups: dict[str, list[Outcome]] = defaultdict(list)
    for outcome in outcomes:
        groups[outcome.task].append(outcome)
    return groups


def _rate(outcomes: Sequence[Outcome]) -> dict[str, float]:
    count = max(len(outcomes), 1)
    return {
        "scenes": len(outcomes),
        "success": round(sum(o.success for o in outcomes) / count, 4),
        "mean_simulated_seconds": round(sum(o.duration for o in outcomes) / count, 2),
    }


if __name__ == "__main__":
    sys.exit(main())

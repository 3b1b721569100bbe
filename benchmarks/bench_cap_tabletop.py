"""The eight seen tabletop instructions of Code as Policies (arXiv:2209.07753, appendix K), with a model, in physics.

Each trial draws a scene and an instruction from its seed, plans and runs it in-process, and is judged by comparing what
the simulator shows before and after: by geometry written here, not by the planner's own predicates.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from reports import print_report, report_parser

from llm_planner.language.embedded.model import EmbeddedModel
from llm_planner.language.embedded.reader import load_reader
from llm_planner.language.factory import open_model
from llm_planner.language.model import LanguageModel
from llm_planner.planning.in_process import Workcell, run_command
from llm_planner.planning.planning import plan_command
from llm_planner.robots.arm_model import arm_shape
from llm_planner.scene.places import Rectangle, scale_of
from llm_planner.scene.scene import Scene, SceneObject
from llm_planner.simulation.objects import ObjectSpec, named
from llm_planner.simulation.worlds import open_world
from llm_planner.skills.library import SkillLibrary, load_skills

COLORS = ("blue", "red", "green", "orange", "yellow")
CORNER_SIDES = ("left side", "top left corner", "top side", "top right corner")
DIRECTIONS = {"top": (1.0, 0.0), "left": (0.0, 1.0)}
PUBLISHED = {"long-horizon": 97.2, "spatial-geometric": 89.3}  # per cent, Code as Policies, seen attributes

Check = Callable[[Scene, Scene], bool]


@dataclass(frozen=True)
class Trial:
    """An instruction for one scene and whether a scene shows that it was followed."""

    instruction: str
    done: Check


def blocks(scene: Scene) -> list[SceneObject]:
    return [item for item in scene.objects if item.kind == "block"]


def bowls(scene: Scene) -> list[SceneObject]:
    return [item for item in scene.objects if item.kind == "bowl"]


def distance(a: SceneObject, b: SceneObject) -> float:
    return math.dist(a.position[:2], b.position[:2])


def is_in(scene: Scene, block: str, bowl: str) -> bool:
    """Over the bowl and not on the table beside it; three layers of blocks may lie in one."""
    item, container = scene.find(block), scene.find(bowl)
    low = item.position[2] < 3.5 * item.size[2]
    return distance(item, container) < container.size[0] / 2 and low and scene.held != block


def is_on(scene: Scene, upper: str, lower: str) -> bool:
    a, b = scene.find(upper), scene.find(lower)
    above = a.position[2] - b.position[2] - (a.size[2] + b.size[2]) / 2
    return distance(a, b) < 0.75 * b.size[0] and abs(above) < 0.25 * a.size[2] and scene.held != upper


def is_at(scene: Scene, block: str, place: str) -> bool:
    """In the outer two fifths of the table in x, the outer third in y, and let go.

    Three quarters of a block (3 cm before a large arm) over the line are allowed.
    """
    item, area = scene.find(block), scene.workspace
    (x, y, _), over = item.position, 0.75 * item.size[2]
    far = x > area.x_max - 0.4 * (area.x_max - area.x_min) - over
    left, right = y > area.y_max / 3 - over, y < area.y_min / 3 + over
    inside = {"left side": left, "top left corner": far and left, "top side": far, "top right corner": far and right}
    return inside[place] and scene.held != block


def only(before: Scene, after: Scene, moved: set[str]) -> bool:
    """Nothing else was moved by more than 3 cm."""
    return all(
        math.dist(o.position[:2], after.find(o.name).position[:2]) < 0.03 for o in before.objects if o.name not in moved
    )


def pick_and_place(scene: Scene, rng: np.random.Generator) -> Trial:
    block = blocks(scene)[0].name
    target = str(rng.choice([item.name for item in scene.objects if item.name != block]))
    check = is_in if target.endswith("bowl") else is_on
    return Trial(
        f"Pick up the {block} and place it on the {target}",
        lambda b, a: check(a, block, target) and only(b, a, {block}),
    )


def stack_all(scene: Scene, rng: np.random.Generator) -> Trial:
    def tower(before: Scene, after: Scene) -> bool:
        rising = sorted(blocks(after), key=lambda item: item.position[2])
        return all(is_on(after, upper.name, lower.name) for lower, upper in itertools.pairwise(rising))

    return Trial("Stack all the blocks", tower)


def all_to_place(scene: Scene, rng: np.random.Generator) -> Trial:
    place = str(rng.choice(CORNER_SIDES))
    return Trial(
        f"Put all the blocks on the {place}", lambda b, a: all(is_at(a, item.name, place) for item in blocks(a))
    )


def all_in_bowl(scene: Scene, rng: np.random.Generator) -> Trial:
    bowl = str(rng.choice([item.name for item in bowls(scene)]))
    return Trial(f"Put the blocks in the {bowl}", lambda b, a: all(is_in(a, item.name, bowl) for item in blocks(a)))


def matching_colors(scene: Scene, rng: np.random.Generator) -> Trial:
    pairs = {item.name: f"{item.color} bowl" for item in blocks(scene) if f"{item.color} bowl" in scene.names}
    return Trial(
        "Put all the blocks in the bowls with matching colors",
        lambda b, a: bool(pairs) and all(is_in(a, *pair) for pair in pairs.items()) and only(b, a, set(pairs)),
    )


def _one_of(scene: Scene, instruction: str, candidates: list[str], place: str) -> Trial | None:
    """One of the candidates gets there and nothing else moves; no trial without any, or where one is there already."""
    if not candidates or any(is_at(scene, name, place) for name in candidates):
        return None
    check: Check = lambda b, a: any(is_at(a, name, place) and only(b, a, {name}) for name in candidates)  # noqa: E731
    return Trial(f"{instruction} and place it on the {place}", check)


def beside_bowl(scene: Scene, rng: np.random.Generator) -> Trial | None:
    direction, place = str(rng.choice(list(DIRECTIONS))), str(rng.choice(CORNER_SIDES))
    bowl = bowls(scene)[int(rng.integers(len(bowls(scene))))]
    ux, uy = DIRECTIONS[direction]
    there = []
    for item in blocks(scene):
        dx, dy = item.position[0] - bowl.position[0], item.position[1] - bowl.position[1]
        along, across = dx * ux + dy * uy, abs(dx * uy - dy * ux)
        if along > across:
            there.append(item.name)
    return _one_of(scene, f"Pick up the block to the {direction} of the {bowl.name}", there, place)


def closest_to_bowl(scene: Scene, rng: np.random.Generator) -> Trial | None:
    place = str(rng.choice(CORNER_SIDES))
    bowl = bowls(scene)[int(rng.integers(len(bowls(scene))))]
    nearest = min(blocks(scene), key=lambda item: distance(item, bowl)).name
    return _one_of(scene, f"Pick up the block closest to the {bowl.name}", [nearest], place)


def nth_from_side(scene: Scene, rng: np.random.Generator) -> Trial | None:
    nth, direction = int(rng.integers(2)), str(rng.choice(list(DIRECTIONS)))
    place = str(rng.choice(CORNER_SIDES))
    ux, uy = DIRECTIONS[direction]
    ranked = sorted(blocks(scene), key=lambda item: -(item.position[0] * ux + item.position[1] * uy))
    word = ("first", "second")[nth]
    return _one_of(scene, f"Pick up the {word} block from the {direction}", [ranked[nth].name], place)


TASKS: tuple[tuple[str, str, Callable[[Scene, np.random.Generator], Trial | None]], ...] = (
    ("pick up the block, place it on", "long-horizon", pick_and_place),
    ("stack all the blocks", "long-horizon", stack_all),
    ("all the blocks on a side", "long-horizon", all_to_place),
    ("the blocks in the bowl", "long-horizon", all_in_bowl),
    ("blocks in bowls of matching colours", "long-horizon", matching_colors),
    ("the block to a side of the bowl", "spatial-geometric", beside_bowl),
    ("the block closest to the bowl", "spatial-geometric", closest_to_bowl),
    ("the nth block from a side", "spatial-geometric", nth_from_side),
)


def draw_objects(rng: np.random.Generator, workspace: Rectangle) -> tuple[ObjectSpec, ...]:
    """Three or four blocks and as many bowls, of the five seen colours; three before a short arm."""
    most = 4 if scale_of(workspace) == 1.0 else 3
    chosen = [
        (str(color), kind)
        for kind in ("block", "bowl")
        for color in rng.choice(COLORS, min(most, int(rng.integers(3, 5))), replace=False)
    ]
    return named(chosen)


@dataclass(frozen=True)
class Result:
    """One trial; `limits` are the largest joint velocity and acceleration seen, as shares of their limits."""

    task: str
    seed: int
    instruction: str
    success: bool
    outcome: str
    message: str
    program: str
    limits: tuple[float, float]


def run_trial(task: int, seed: int, model: LanguageModel, library: SkillLibrary, robot: str = "") -> Result:
    """One instruction in one scene; scenes that do not allow the instruction are drawn again."""
    name, _, draw = TASKS[task]
    rng = np.random.default_rng([seed, task])
    workspace = arm_shape(robot or "arm").workspace
    while True:
        world = open_world("tabletop", int(rng.integers(2**31)), draw_objects(rng, workspace), robot=robot)
        trial = draw(world.scene(), rng)
        if trial is not None:
            break
    before = world.scene()
    report = run_command(
        trial.instruction,
        Workcell(world, library),
        lambda scene: plan_command(trial.instruction, scene, library.signatures, model),
    )
    success = trial.done(before, world.scene())
    program = report.plan.program if report.plan else ""
    limits = (float(world.limit_watch.qvel_ratio.max()), float(world.limit_watch.qacc_ratio.max()))
    return Result(name, seed, trial.instruction, success, report.outcome.value, report.message, program, limits)


def main(arguments: list[str] | None = None) -> dict:
    """Run and print; returns the figures."""
    parser = report_parser(__doc__)
    parser.add_argument("--trials", type=int, default=20, help="scenes for each instruction")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--model", default="embedded")
    parser.add_argument(
        "--weights", type=Path, help="a folder of embedded weights to measure in place of the shipped ones"
    )
    parser.add_argument("--skills", type=Path, help="a library of skills in place of the one that ships")
    parser.add_argument("--scripted", action="store_true", help="scripts move, no learned policies")
    parser.add_argument("--robot", default="", help="name or folder of the arm")
    parser.add_argument("--task", type=int, help="only this instruction, 0 to 7")
    parser.add_argument("--show", action="store_true", help="print every failure")
    args = parser.parse_args(arguments)
    model = EmbeddedModel(load_reader(args.weights)) if args.weights else open_model(args.model)
    library = load_skills(args.skills, learned=not args.scripted)
    shares: dict[str, float] = {}
    results: list[Result] = []
    for task, (name, _, _) in enumerate(TASKS):
        if args.task is not None and task != args.task:
            continue
        trials = [run_trial(task, args.seed + k, model, library, args.robot) for k in range(args.trials)]
        results += trials
        shares[name] = sum(trial.success for trial in trials) / len(trials)
        if not args.json:
            print(f"{name:38} {shares[name]:6.1%} of {len(trials)}", flush=True)
        for trial in trials if args.show else []:
            if not trial.success:
                print(
                    f"   seed {trial.seed}: {trial.instruction}\n      {trial.outcome}: {trial.message}\n      "
                    + trial.program.strip().replace("\n", "\n      "),
                    flush=True,
                )
    figures = {
        "success": shares,
        "mean": float(np.mean(list(shares.values()))),
        "lowest": min(shares.values()),
        "honest": sum((r.outcome == "done") == r.success for r in results) / len(results),
        "max qvel / limit": max(r.limits[0] for r in results),
        "max qacc / limit": max(r.limits[1] for r in results),
        "published per cent": PUBLISHED,
    }
    print_report(figures, args.json)
    return figures


if __name__ == "__main__":
    main()

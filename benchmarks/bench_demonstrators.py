"""Scripted skills as demonstrators: each over seeded scenes, undisturbed, and broken off, disturbed and begun anew.

A disturbance comes at a random moment: the hand is shoved by 3 to 10 cm, what the skill is about is moved by up to 4 cm
(a drawer by up to 3) and turned by up to 30 degrees, or knocked out of the hand. The script then starts afresh from
what it finds. Success is what the simulator's scene shows. Left out, and told, is where a hand that had just put
something down was shoved and took it along: who places begins with something held.
"""

from __future__ import annotations

import math
import sys
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace

import numpy as np
from bench_pick_place import things
from reports import print_report, report_parser

from llm_planner.programs.values import Argument
from llm_planner.robots.gripper import DEFAULT_HAND
from llm_planner.robots.motion import Observation
from llm_planner.scene.atoms import Moment, holds
from llm_planner.scene.free_space import clearance
from llm_planner.scene.places import DIRECTIONS, REGIONS, WORKSPACE
from llm_planner.scene.predicates import DRAWER, is_portable
from llm_planner.scene.scene import Scene, SceneObject
from llm_planner.simulation.world import World
from llm_planner.simulation.worlds import open_world
from llm_planner.skills.arm import Arm, ArmSettings, Script
from llm_planner.skills.contract import SkillError, SkillErrorCode
from llm_planner.skills.episode import Episode
from llm_planner.skills.footprints import footprint, separation
from llm_planner.skills.hand_geometry import HandPose, grip_of, gripper_of, hand_slices, into_reach, room
from llm_planner.skills.library import SkillLibrary, load_skills
from llm_planner.skills.manifest import Manifest
from llm_planner.skills.motion import Leg
from llm_planner.skills.scripted import ScriptedSkill
from llm_planner.skills.sliding import stroke_to

SHOVE = (0.03, 0.10)  # [m] of the hand
MOVED, TURNED = 0.04, math.radians(30)  # of a thing, at most [m], [rad]
SLID = 0.03  # [m] that a drawer is moved, at most
TAKEN_ALONG = "taken along"
TRIES = 60  # of places to move a thing to
WHEN = (0.05, 0.95)  # share of the undisturbed execution at which it is disturbed
ROOMY = 0.1  # [m] from the middle of a thing where it shall lie to the next

Arguments = dict[str, Argument]


@dataclass(frozen=True)
class Trial:
    """What a skill is tried on: the blocks, bowls and other things of its scenes, and arguments for a scene.

    The first thing of the kind `carries` is picked up before; "" where the hand is empty. `about` is what a disturbance
    moves. Drawers are `slid` out before [m].
    """

    things: tuple[int, int, tuple[str, ...]]
    draw: Callable[[Scene, np.random.Generator], Arguments]
    carries: str = ""
    about: str = "object"
    slid: float = 0.0


@dataclass(frozen=True)
class Outcome:
    """How one scene went: `disturbance` "" or its kind; `code` is how the (last) script ended."""

    skill: str
    seed: int
    disturbance: str
    success: bool
    code: str
    message: str


def _of(scene: Scene, *kinds: str) -> list[str]:
    return [item.name for item in scene.objects if item.kind in kinds]


def _one(rng: np.random.Generator, names: Sequence[str]) -> str:
    return str(rng.choice(list(names)))


def _anything(scene: Scene, rng: np.random.Generator) -> Arguments:
    return {"object": _one(rng, scene.names)}


def _on_block(scene: Scene, rng: np.random.Generator) -> Arguments:
    return {"object": _one(rng, _of(scene, "block")[1:])}


def _bowl(scene: Scene, rng: np.random.Generator) -> Arguments:
    return {"object": _one(rng, _of(scene, "bowl"))}


def _beside(scene: Scene, rng: np.random.Generator) -> Arguments:
    first, other, *_ = _of(scene, "block")
    return {"object": other, "direction": _free_side(scene, first, other, 0.085, rng), "distance": 0.04}


def _region(scene: Scene, rng: np.random.Generator) -> Arguments:
    return {"place": _one(rng, list(REGIONS))}


def _offset(scene: Scene, rng: np.random.Generator) -> Arguments:
    name = _of(scene, "block")[0]
    return {"direction": _free_side(scene, name, name, 0.1, rng), "distance": 0.1}


def _push(scene: Scene, rng: np.random.Generator) -> Arguments:
    """A thing and a direction in which there is a way for it, if there are any."""
    for name in rng.permutation(_of(scene, "block", "bowl")).tolist():
        for direction in rng.permutation(list(DIRECTIONS)).tolist():
            distance = float(rng.uniform(0.05, 0.12))
            (x, y, _), (ux, uy) = scene.find(name).position, DIRECTIONS[direction]
            goal = x + ux * distance, y + uy * distance
            if WORKSPACE.contains(*goal) and clearance(scene, goal, {name}) > ROOMY and _fits(scene, name, goal):
                return {"object": name, "direction": direction, "distance": distance}
    return {"object": name, "direction": direction, "distance": distance}


def _fits(scene: Scene, name: str, goal: tuple[float, float]) -> bool:
    try:
        stroke_to(scene.find(name), goal, gripper_of(scene)).check(scene, ())
    except SkillError:
        return False
    return True


def _stack(scene: Scene, rng: np.random.Generator) -> Arguments:
    upper, lower = rng.permutation(_of(scene, "block")).tolist()[:2]
    return {"object": upper, "onto": lower}


def _sweep(scene: Scene, rng: np.random.Generator) -> Arguments:
    return {"object": _one(rng, _of(scene, "block")), "place": _one(rng, list(REGIONS))}


def _tall(scene: Scene, rng: np.random.Generator) -> Arguments:
    return {"object": _one(rng, _of(scene, "mug", "vase"))}


def _free_side(scene: Scene, name: str, other: str, away: float, rng: np.random.Generator) -> str:
    """A side of `other` where `name` has room so far away [m], or just any where there is none."""
    x, y, _ = scene.find(other).position
    sides = [str(side) for side in rng.permutation(list(DIRECTIONS))]
    spots = {side: (x + away * DIRECTIONS[side][0], y + away * DIRECTIONS[side][1]) for side in sides}
    inside = [side for side in sides if WORKSPACE.contains(*spots[side])]
    return next((side for side in inside if clearance(scene, spots[side], {name, other}) > 0.05), (inside or sides)[0])


def _kind(kind: str) -> Callable[[Scene, np.random.Generator], Arguments]:
    return lambda scene, rng: {"object": _one(rng, _of(scene, kind))}


TRIALS: dict[str, Trial] = {
    "reach": Trial((3, 2, ("vase",)), _anything),
    "pick": Trial((3, 2, ("mug", "vase")), _anything),
    "place_on": Trial((4, 2, ("mug",)), _on_block, carries="block"),
    "place_in": Trial((3, 3, ("vase",)), _bowl, carries="block"),
    "place_beside": Trial((3, 2, ()), _beside, carries="block"),
    "place_at": Trial((4, 2, ("plate",)), _region, carries="block"),
    "place_offset": Trial((3, 2, ()), _offset, carries="block"),
    "push": Trial((2, 1, ()), _push),
    "stack": Trial((3, 1, ("mug",)), _stack),
    "sweep": Trial((2, 0, ()), _sweep),
    "tip": Trial((2, 0, ("mug", "vase")), _tall),
    "open_drawer": Trial((2, 1, ("drawer",)), _kind("drawer")),
    "close_drawer": Trial((2, 1, ("drawer",)), _kind("drawer"), slid=0.08),
    "press": Trial((2, 1, ("button", "mug")), _kind("button")),
    "wipe": Trial((2, 0, ("stain", "sponge")), _kind("stain"), carries="sponge"),
}


def run_scene(name: str, seed: int, library: SkillLibrary) -> tuple[Outcome, Outcome]:
    """The scene of `seed`, undisturbed and disturbed."""
    trial, rng = TRIALS[name], np.random.default_rng([seed, 11])
    world = open_world(seed=seed, objects=things(np.random.default_rng([seed, 7]), *trial.things))
    arguments = trial.draw(world.scene(), rng)
    plain, seconds = _run(name, seed, world, arguments, library, rng, math.inf)
    world.reset(seed, world.objects)
    moment = seconds * float(rng.uniform(*WHEN))
    disturbed, _ = _run(name, seed, world, arguments, library, rng, moment)
    return plain, disturbed


def _run(
    name: str,
    seed: int,
    world: World,
    arguments: Arguments,
    library: SkillLibrary,
    rng: np.random.Generator,
    moment: float,
) -> tuple[Outcome, float]:
    """Disturbed `moment` [s] after it began, where that is not later than its end; and how long it took [s]."""
    episode, trial = Episode(world), TRIALS[name]
    before = episode.observe()
    for drawer in _of(before.scene, "drawer"):
        world.slide_part(drawer, trial.slid)
    if trial.carries:
        episode.run(library.find("pick"), {"object": _of(before.scene, trial.carries)[0]})
    checked, start = library.find(name), episode.observe()
    skill, began = _script(checked.manifest, start), world.time
    result = episode.run(skill, arguments, lambda seen: seen.time >= began + moment)
    seconds, kind = world.time - began, ""
    if result.code is SkillErrorCode.CANCELED:
        kind = _disturb(episode, trial, arguments, rng)
        if trial.carries and not world.scene().held and not _done(checked.manifest, arguments, start, world.scene()):
            kind = TAKEN_ALONG
        result = episode.run(skill, arguments)
    success = _done(checked.manifest, arguments, start, world.scene())
    message = result.message or ("" if success else "the scene does not show it")
    return Outcome(name, seed, kind, success, result.code.name, message), seconds


def _done(manifest: Manifest, arguments: Arguments, start: Observation, scene: Scene) -> bool:
    """Whether the scene shows every effect of a skill that was started then."""
    after = Moment(scene, arguments, start.scene.held, start.origins)
    return all(holds(effect, after) for effect in manifest.effects)


def _script(manifest: Manifest, began: Observation) -> ScriptedSkill:
    """The script, however often it is started: one skill that `began` there."""
    script = manifest.functions().move
    return ScriptedSkill(manifest.name, script, manifest.timeout, lambda seen, _: Arm(seen, ArmSettings(), began))


def _disturb(episode: Episode, trial: Trial, arguments: Arguments, rng: np.random.Generator) -> str:
    """Shoves the hand, moves the thing, or knocks out what is held and may be taken again; which of them."""
    world, about = episode.world, str(arguments.get(trial.about, ""))
    assert isinstance(world, World)
    scene = world.scene()
    kinds = ["hand"]
    if about and _is_movable(scene.find(about)) and scene.held != about and (scene.held or not trial.carries):
        kinds.append("thing")
    if about and scene.held == about:
        kinds.append("knocked out")
    kind = str(rng.choice(kinds))
    if kind == "hand":
        shove = rng.normal(size=3)
        shove *= rng.uniform(*SHOVE) / np.linalg.norm(shove)
        move = ScriptedSkill("shove", _shoved, 3.0, lambda seen, began: Arm(seen, ArmSettings()))
        episode.run(move, {"by": (float(shove[0]), float(shove[1]), abs(float(shove[2])))})
    else:
        _move(world, scene.find(about), rng)
        episode.settle()
    return kind


def _is_movable(item: SceneObject) -> bool:
    return is_portable(item) or item.kind == DRAWER


def _shoved(arm: Arm, arguments: Mapping[str, Argument]) -> Script:
    grip, by = arm.grip, arguments["by"]
    assert isinstance(by, tuple)
    there = replace(grip, x=grip.x + by[0], y=grip.y + by[1], z=grip.z + by[2])
    yield from arm.move("shove", [Leg(into_reach(there, arm.shape))], True)


def _move(world: World, item: SceneObject, rng: np.random.Generator) -> None:
    """The thing, and what stands on it, to a free spot of the table near to where it is."""
    scene, hand = world.scene(), grip_of(world.gripper_pose())
    if item.kind == DRAWER:
        world.slide_part(item.name, item.state + float(rng.uniform(-SLID, SLID)))
        return
    for _ in range(TRIES):
        dx, dy = rng.uniform(-MOVED, MOVED, size=2)
        turn = float(rng.uniform(-TURNED, TURNED))
        if math.hypot(dx, dy) < MOVED and _is_free(scene, item, (dx, dy), turn, hand, world.gripper_width()):
            _put(world, item, (dx, dy), turn)
            return


def _is_free(
    scene: Scene, item: SceneObject, shift: tuple[float, float], turn: float, hand: HandPose, width: float
) -> bool:
    x, y, _ = item.position
    shape = footprint(item)
    there = shape.at((shape.center[0] + shift[0], shape.center[1] + shift[1]), shape.yaw + turn)
    others = [other for other in scene.objects if other.name != item.name]
    if min((separation(there, footprint(other)) for other in others), default=math.inf) < 0.01:
        return False
    moved = replace(item, position=(x + shift[0], y + shift[1], item.size[2] / 2))
    return (
        WORKSPACE.contains(*moved.position[:2])
        and room(hand_slices(hand, width, DEFAULT_HAND), Scene(0.0, (moved,)))[0] > 0.005
    )


def _put(world: World, item: SceneObject, shift: tuple[float, float], turn: float) -> None:
    joint = world.data.joint(item.name)
    w, z = math.cos(turn / 2), math.sin(turn / 2)
    qw, qx, qy, qz = joint.qpos[3:7]
    height = min(float(joint.qpos[2]), item.size[2] / 2 + 0.001)
    joint.qpos[:3] = joint.qpos[0] + shift[0], joint.qpos[1] + shift[1], height
    joint.qpos[3:7] = w * qw - z * qz, w * qx - z * qy, w * qy + z * qx, w * qz + z * qw
    joint.qvel[:] = 0.0


def main(argv: Sequence[str] | None = None) -> int:
    """Print success per skill with and without a disturbance; return 0."""
    parser = report_parser(__doc__)
    parser.add_argument("--scenes", type=int, default=100, help="of each skill")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--skills", nargs="+", choices=TRIALS, default=list(TRIALS))
    options = parser.parse_args(argv)
    library, rows = load_skills(learned=False), []
    for name in options.skills:
        pairs = [run_scene(name, options.seed + k, library) for k in range(options.scenes)]
        rows.append(_row(name, pairs))
        print(f"{name:14} {rows[-1]['plain']:7.1%} {rows[-1]['disturbed']:7.1%}", file=sys.stderr, flush=True)
    return print_report({"skills": rows}, options.json)


def _row(name: str, pairs: Sequence[tuple[Outcome, Outcome]]) -> dict[str, object]:
    judged = [disturbed for _, disturbed in pairs if disturbed.disturbance != TAKEN_ALONG]
    kinds = Counter(disturbed.disturbance for disturbed in judged)
    done = Counter(disturbed.disturbance for disturbed in judged if disturbed.success)
    return {
        "skill": name,
        "scenes": len(pairs),
        "plain": sum(plain.success for plain, _ in pairs) / len(pairs),
        "disturbed": sum(disturbed.success for disturbed in judged) / max(1, len(judged)),
        "left out": len(pairs) - len(judged),
        "kinds": {kind: f"{done[kind]}/{count}" for kind, count in sorted(kinds.items())},
        "failures": [asdict(outcome) for pair in pairs for outcome in pair if not outcome.success],
    }


if __name__ == "__main__":
    sys.exit(main())

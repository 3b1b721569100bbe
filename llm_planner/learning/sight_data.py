"""Training pictures of sight: rendered random cases with the grasps that the demonstrator would choose.

Nothing is simulated: objects and robot are placed, and the picking script is asked for its grasps. An `Album` holds the
pictures and labels as arrays.
"""

from __future__ import annotations

import io
import math
import zipfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from llm_planner.errors import InputError
from llm_planner.learning.cases import KINDS, Case, draw_case
from llm_planner.learning.demonstrations import arm_solver
from llm_planner.learning.pool import Pool
from llm_planner.learning.training_task import SEEDS, TrainingTask
from llm_planner.robots.arm_model import default_arm
from llm_planner.scene.geometry import bottom, top
from llm_planner.scene.predicates import clear, is_container
from llm_planner.scene.scene import Scene, SceneObject
from llm_planner.simulation.objects import COLORS, ObjectSpec
from llm_planner.simulation.renderers import SceneRenderer
from llm_planner.simulation.tabletop import draw_layout, standing
from llm_planner.skills.contract import SkillError
from llm_planner.skills.grasps import choose_grasp
from llm_planner.skills.hand_geometry import FLOOR, HandPose, into_reach
from llm_planner.skills.learned.velocity_field import Array
from llm_planner.skills.learned.weights_file import write_atomically
from llm_planner.skills.sight_network import COLUMNS, LOOKOUT, ROWS, Image, SightSpec, laid_out

CASES, LAYOUTS = 8, 5  # cases per renderer, layouts per case
SIZE = (640, 480)  # [px] width and height of a camera picture
PLAIN = 0.1  # share of objects without a named colour
LOOKING = 0.6  # share of pictures with the hand near its lookout pose, else anywhere
ASTRAY, TURNED = 0.05, 0.6  # [m], [rad] bounds of random offsets


@dataclass(frozen=True)
class Shown:
    """Grasp label of `kind` and `color`: (x, y, closing direction, z, width, opening) [m, rad]."""

    kind: str
    color: str
    grasp: tuple[float, float, float, float, float, float]


@dataclass(frozen=True)
class Drawn:
    """Picture rectified to the table, and the graspable objects in it."""

    picture: Image
    things: tuple[Shown, ...]
    words: tuple[tuple[str, str], ...]  # kind and colour of every object


def draw_pictures(world: str, seeds: Sequence[int]) -> Iterator[Drawn]:
    """Render `LAYOUTS` pictures of each case drawn from `seeds`; raise SimulationError without OpenGL."""
    cases = {seed: _plain(draw_case(world, seed), np.random.default_rng((seed, 4))) for seed in seeds}
    things = [_renamed(seed, item) for seed, case in cases.items() for item in case.objects]
    with SceneRenderer(things, *SIZE) as renderer:
        for seed, case in cases.items():
            rng = np.random.default_rng((seed, 5))
            for _ in range(LAYOUTS):
                scene = lay_out(case, rng)
                qpos, width = _posture(rng), float(rng.uniform(0.0, default_arm().gripper.widest))
                called = replace(scene, objects=tuple(_renamed(seed, item) for item in scene.objects))
                picture = laid_out(renderer.render(qpos, width, called))
                words = tuple((item.kind, item.color) for item in scene.objects)
                yield Drawn(picture, tuple(_graspable(scene)), words)


def lay_out(case: Case, rng: np.random.Generator) -> Scene:
    """Place the objects of the case at rest and build its towers."""
    places = draw_layout(case.objects, rng, default_arm().shape)
    turned = [replace(place, yaw=place.yaw + float(rng.uniform(-TURNED, TURNED))) for place in places]
    things = {item.name: standing(item, place) for item, place in zip(case.objects, turned, strict=True)}
    for tower in case.towers:
        for below, above in pairwise(tower):
            under = things[below]
            surface = bottom(under) + FLOOR if is_container(under) else top(under)
            place = (*under.position[:2], surface + things[above].size[2] / 2)
            things[above] = replace(things[above], position=place)
    return Scene(0.0, tuple(things.values()))


def _graspable(scene: Scene) -> Iterator[Shown]:
    for item in scene.objects:
        if not clear(scene, item.name):
            continue
        try:
            grasp = choose_grasp(scene, item)
        except SkillError:
            continue
        grip = grasp.grip
        yield Shown(item.kind, item.color, (grip.x, grip.y, grip.yaw, grip.z, grasp.width, grasp.opening))


def _plain(case: Case, rng: np.random.Generator) -> Case:
    """Remove the colour of some objects, at most one per kind."""
    seen: set[str] = set()
    objects = []
    for item in case.objects:
        plain = rng.random() < PLAIN and item.kind not in seen
        seen.update([item.kind] if plain else [])
        objects.append(replace(item, color="") if plain else item)
    return replace(case, objects=tuple(objects))


Item = TypeVar("Item", ObjectSpec, SceneObject)


def _renamed(seed: int, item: Item) -> Item:
    return replace(item, name=f"{seed} {item.name}")


def _posture(rng: np.random.Generator) -> NDArray[np.float64]:
    """Draw joint angles (7,) [rad] with the hand near its lookout or anywhere; home if they are unreachable."""
    arm = default_arm()
    if rng.random() < LOOKING:
        dx, dy, dz = rng.uniform(-ASTRAY, ASTRAY, 3).tolist()
        grip = HandPose(LOOKOUT.x + dx, LOOKOUT.y + dy, LOOKOUT.z + dz, LOOKOUT.yaw + float(rng.uniform(-1.0, 1.0)))
    else:
        radius, azimuth = rng.uniform(0.32, 0.72), rng.uniform(-0.9, 0.9)
        x, y = radius * math.cos(azimuth), radius * math.sin(azimuth)
        there = HandPose(x, y, float(rng.uniform(0.1, 0.48)), azimuth + float(rng.uniform(-1.2, 1.2)))
        grip = into_reach(there, arm.shape)
    posture = np.array(arm.home)
    posture[0] = math.atan2(grip.y, grip.x)
    solution = arm_solver(arm.name).solve(grip.pose(), posture)
    return solution.qpos if solution.converged else np.array(arm.home)


_PARTS = ("pictures", "there", "shown", "grasps")


@dataclass(frozen=True)
class Album:
    """Pictures and labels as arrays.

    Attributes:
        pictures: Pictures (n, ROWS, COLUMNS, 3).
        there: All objects (w, 3): picture row, kind index and colour index.
        shown: Graspable objects (m, 3), likewise.
        grasps: Their grasps (m, 6): x, y, closing direction, z, width, opening [m, rad].
    """

    pictures: NDArray[np.uint8]
    there: NDArray[np.int64]
    shown: NDArray[np.int64]
    grasps: Array

    def __len__(self) -> int:
        return len(self.pictures)


def collected_album(drawn: Iterable[Drawn], spec: SightSpec) -> Album:
    """Collect drawn pictures; raise InputError for kinds or colours that the spec does not have."""
    pictures, there, shown, grasps = [], [], [], []
    for row, one in enumerate(drawn):
        pictures.append(one.picture)
        there += [(row, *spec.words(kind, color)) for kind, color in one.words]
        shown += [(row, *spec.words(thing.kind, thing.color)) for thing in one.things]
        grasps += [thing.grasp for thing in one.things]
    return Album(
        np.array(pictures, np.uint8).reshape(-1, ROWS, COLUMNS, 3),
        np.array(there, np.int64).reshape(-1, 3),
        np.array(shown, np.int64).reshape(-1, 3),
        np.array(grasps, np.float32).reshape(-1, 6),
    )


def joined_albums(albums: Sequence[Album]) -> Album:
    """Concatenate albums; raise InputError if nothing in them is graspable."""
    if not sum(len(album.shown) for album in albums):
        raise InputError("there are no pictures to learn from, or nothing in them can be taken")
    starts = np.cumsum([0, *map(len, albums)])
    there, shown = (
        np.concatenate(
            [np.add(getattr(album, part), (start, 0, 0)) for album, start in zip(albums, starts[:-1], strict=True)]
        )
        for part in ("there", "shown")
    )
    pictures, grasps = (np.concatenate([getattr(album, part) for album in albums]) for part in ("pictures", "grasps"))
    return Album(pictures, there, shown, grasps)


def write_album(path: Path, album: Album) -> None:
    """Write an album atomically."""
    content = io.BytesIO()
    np.savez_compressed(content, **{part: getattr(album, part) for part in _PARTS})
    write_atomically(path, content.getvalue())


def read_album(path: Path) -> Album:
    """Read an album; raise InputError if the file is unreadable."""
    try:
        with np.load(path, allow_pickle=False) as file:
            return Album(*(file[part] for part in _PARTS))
    except (OSError, ValueError, KeyError, zipfile.BadZipFile) as error:
        raise InputError(f"{path}: no pictures that can be read ({error}); delete it, they are drawn again") from error


SIGHT_SPEC = SightSpec(KINDS, ("", *COLORS))


@dataclass(frozen=True)
class _Job:
    world: str
    seeds: Sequence[int]
    path: Path


def pictures(task: TrainingTask, seed: int, pool: Pool, report: Callable[[int], None]) -> Album:
    """Render the pictures of a training task, skipping those on disk.

    `report` receives the number of cases just finished. Raises JobError if a worker has no OpenGL, and InputError if a
    file of pictures is unreadable.
    """
    jobs, paths = [], []
    for first in range(seed * SEEDS, seed * SEEDS + task.contract.episodes, CASES):
        seeds = range(first, min(first + CASES, seed * SEEDS + task.contract.episodes))
        paths.append(task.pictures / f"{first:09d}_{len(seeds)}.npz")
        if paths[-1].exists():
            report(len(seeds))
        else:
            jobs.append(_Job(task.contract.world, seeds, paths[-1]))
    for position, _ in pool.results(_draw, jobs):
        report(len(jobs[position].seeds))
    return joined_albums([read_album(path) for path in paths])


def _draw(job: _Job) -> None:
    write_album(job.path, collected_album(draw_pictures(job.world, job.seeds), SIGHT_SPEC))

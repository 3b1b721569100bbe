"""Where things stand at the start: drawn from a seed, apart from each other, corners and sides preferably left free."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from llm_planner.errors import InputError
from llm_planner.simulation.objects import COLORS, ObjectSpec, named
from llm_planner.world.places import WORKSPACE
from llm_planner.world.predicates import STAIN
from llm_planner.world.scene import SceneObject

CLEARANCES = (0.05, 0.04, 0.03, 0.02, 0.012)  # [m] of free table between footprints, tried in turn
DRAWS = 60  # places tried for one object before its clearance is relaxed
LAYOUTS = 40  # layouts begun afresh with one clearance
EDGE = np.array([0.05, 0.10])  # [m] of the workspace's rim in x and y that is left free while there is room
DRAWER_NEAREST = 0.43  # [m] from the robot's axis to the middle of a drawer that is out: nearer, no hand gets to it
_LOW = np.array([WORKSPACE.x_min, WORKSPACE.y_min])
_HIGH = np.array([WORKSPACE.x_max, WORKSPACE.y_max])


@dataclass(frozen=True)
class Placement:
    """Where one object stands: (x, y) [m] in the base frame and yaw [rad]. A drawer's are those of its box when out."""

    x: float
    y: float
    yaw: float


def default_objects(rng: np.random.Generator) -> tuple[ObjectSpec, ...]:
    """Four blocks and three bowls of different colours each, and sometimes a mug, a vase or a plate."""
    blocks = rng.choice(list(COLORS), size=4, replace=False)
    bowls = rng.choice(list(COLORS), size=3, replace=False)
    things = [(str(color), "block") for color in blocks] + [(str(color), "bowl") for color in bowls]
    if rng.random() < 0.5:
        things.append(("", str(rng.choice(["mug", "vase", "plate"]))))
    return named(things)


def draw_layout(objects: Sequence[ObjectSpec], rng: np.random.Generator) -> tuple[Placement, ...]:
    """One placement for each object, footprints inside the workspace and apart; raises InputError when too many."""
    radii = np.array([item.shape.radius for item in objects])
    opens = np.array([item.shape.opens for item in objects], dtype=bool)
    for clearance in CLEARANCES:
        for attempt in range(LAYOUTS):
            edge = EDGE * max(0.0, 1.0 - 2 * attempt / LAYOUTS)
            points = _draw(radii, opens, clearance, edge, rng)
            if points is not None:
                return tuple(
                    Placement(float(x), float(y), _yaw(item, float(x), float(y), rng))
                    for item, (x, y) in zip(objects, points, strict=True)
                )
    raise InputError(f"{len(objects)} objects do not fit on the table; ask for fewer (about 30 blocks fit, or 8 bowls)")


def standing(item: ObjectSpec, place: Placement) -> SceneObject:
    """The thing upright on the table as nobody has touched it: drawers closed, lamps off, stains whole."""
    kind, (c, s) = item.shape, (math.cos(place.yaw), math.sin(place.yaw))
    out = kind.middle_at(kind.sliding.travel)[0] if kind.sliding and kind.opens else 0.0
    position = place.x - c * out, place.y - s * out, kind.size[2] / 2
    turned = 0.0, 0.0, math.sin(place.yaw / 2), math.cos(place.yaw / 2)
    return SceneObject(item.name, item.kind, item.color, position, turned, kind.size, float(item.kind == STAIN))


def _yaw(item: ObjectSpec, x: float, y: float, rng: np.random.Generator) -> float:
    """Things that only lie a little turned look tidy and are as hard to grasp; a mug's handle may point anywhere, and
    a drawer faces the robot."""
    spread = np.pi if item.kind == "mug" else np.pi / 6
    facing = math.atan2(y, x) if item.shape.opens else 0.0
    return facing + float(rng.uniform(-spread, spread))


def _draw(
    radii: np.ndarray, opens: np.ndarray, clearance: float, edge: np.ndarray, rng: np.random.Generator
) -> np.ndarray | None:
    """Centres (n, 2), the widest object first; None when one of them finds no place.

    What `opens` (n,) only has its middle in the workspace: the hand reaches its handle there.
    """
    points = np.zeros((len(radii), 2))
    done: list[int] = []
    for index in np.argsort(-radii, kind="stable"):
        margin = np.zeros(2) if opens[index] else edge + radii[index]
        candidates = rng.uniform(_LOW + margin, _HIGH - margin, size=(DRAWS, 2))
        gaps = np.linalg.norm(candidates[:, None] - points[done], axis=-1) - radii[done] - radii[index]
        far = np.linalg.norm(candidates, axis=-1) >= (DRAWER_NEAREST if opens[index] else 0.0)
        free = np.flatnonzero((gaps >= clearance).all(axis=1) & far)
        if not len(free):
            return None
        points[index] = candidates[free[0]]
        done.append(int(index))
    return points

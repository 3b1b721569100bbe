"""Small buildings, a table, and the skills of the robots in them."""

from collections.abc import Sequence

import numpy as np
import pytest

from llm_planner.scene.places import Rectangle
from llm_planner.scene.scene import IDENTITY, Building, Door, Pose, Room, Scene, SceneObject
from llm_planner.skills.library import load_skills

NAMES = ("kitchen", "lab", "office", "hall", "archive", "canteen")
SIDE = 4.0  # [m] of every room


def thing(name: str, x: float, y: float, size=(0.3, 0.3, 0.3)) -> SceneObject:
    color, _, kind = name.rpartition(" ")
    return SceneObject(name, kind, color, (x, y, size[2] / 2), IDENTITY, size)


def draw_scene(rng: np.random.Generator, things: Sequence[str] = ()) -> Scene:
    """Six rooms in two rows of three, doors at random that connect them all, and things in some of the rooms."""
    order = [str(name) for name in rng.permutation(NAMES)]
    rooms = [
        Room(name, Rectangle(SIDE * (k % 3), SIDE * (k % 3 + 1), SIDE * (k // 3), SIDE * (k // 3 + 1)))
        for k, name in enumerate(order)
    ]
    walls = [(0, 1), (1, 2), (3, 4), (4, 5), (0, 3), (1, 4), (2, 5)]
    group = list(range(6))
    doors = []
    for a, b in rng.permutation(walls):
        if group[a] != group[b] or rng.random() < 0.5:
            doors.append(_door(rooms[a], rooms[b], float(rng.uniform(0.8, SIDE - 0.8))))
            group = [group[a] if g == group[b] else g for g in group]
    middles = [room.area.center for room in rooms]
    items = []
    for name in things:
        x, y = middles[int(rng.integers(6))]
        items.append(thing(name, x + float(rng.uniform(-1.2, 1.2)), y + float(rng.uniform(-1.2, 1.2))))
    start = middles[int(rng.integers(6))]
    return Scene(0.0, tuple(items), robot=Pose((*start, 0.0)), building=Building(tuple(rooms), tuple(doors)))


def _door(a: Room, b: Room, along: float) -> Door:
    if a.area.y_min == b.area.y_min:
        return Door((a.name, b.name), (b.area.x_min, a.area.y_min + along))
    return Door((a.name, b.name), (a.area.x_min + along, b.area.y_min))


@pytest.fixture(scope="session")
def draw():
    """Buildings drawn from a generator, with things in them."""
    return draw_scene


@pytest.fixture(scope="session")
def driving():
    """The skills of a mobile robot."""
    return load_skills().for_scene(draw_scene(np.random.default_rng(0))).signatures


@pytest.fixture(scope="session")
def handling():
    """The skills of an arm."""
    return load_skills().for_scene(Scene(0.0, ())).signatures


@pytest.fixture
def building_scene():
    """kitchen | lab | office, with doors between them, and a hall below: a parcel in the kitchen, Anna in the hall."""
    rooms = (
        Room("kitchen", Rectangle(0.0, 4.0, 4.0, 8.0)),
        Room("lab", Rectangle(4.0, 8.0, 4.0, 8.0)),
        Room("office", Rectangle(8.0, 12.0, 4.0, 8.0)),
        Room("hall", Rectangle(0.0, 12.0, 0.0, 4.0)),
    )
    doors = (
        Door(("kitchen", "lab"), (4.0, 6.0)),
        Door(("lab", "office"), (8.0, 6.0)),
        Door(("kitchen", "hall"), (2.0, 4.0)),
        Door(("office", "hall"), (10.0, 4.0)),
    )
    items = (thing("parcel", 1.0, 7.0), thing("Anna", 6.0, 1.0, (0.5, 0.5, 1.7)))
    return Scene(0.0, items, robot=Pose((2.0, 6.0, 0.0)), building=Building(rooms, doors))


@pytest.fixture
def table_with_vase():
    """A table with blocks and bowls in three colours, the red block last, and a vase at (x, y)."""
    return table


BOWL = (0.128, 0.128, 0.045)
BLOCK = (0.04, 0.04, 0.04)
VASE = (0.07, 0.07, 0.14)


def table(vase: tuple[float, float]) -> Scene:
    """Blocks and bowls in three colours, the red block last, and a vase."""
    return Scene(
        0.0,
        (
            thing("blue block", 0.35, -0.25, BLOCK),
            thing("green block", 0.45, 0.0, BLOCK),
            thing("red block", 0.55, 0.25, BLOCK),
            thing("red bowl", 0.45, -0.12, BOWL),
            thing("green bowl", 0.55, -0.3, BOWL),
            thing("blue bowl", 0.35, 0.15, BOWL),
            thing("vase", *vase, VASE),
        ),
        robot=Pose((0.307, 0.0, 0.487)),
    )

"""Scenes to read commands in: a table, and a building with things and people."""

from __future__ import annotations

import pytest

from llm_planner.scene.places import Rectangle
from llm_planner.scene.scene import IDENTITY, Building, Room, Scene, SceneObject

ROOMS = ("kitchen", "lab", "office", "server room", "library", "hall")


def things(listing: str) -> tuple[SceneObject, ...]:
    objects = []
    for name in listing.split(", "):
        *color, kind = name.split()
        objects.append(SceneObject(name, kind, " ".join(color), (0.5, 0.0, 0.02), IDENTITY, (0.04, 0.04, 0.04)))
    return tuple(objects)


@pytest.fixture
def table() -> Scene:
    return Scene(0.0, things("red block, blue block, green block, red bowl, blue bowl, green bowl, vase"))


@pytest.fixture
def rooms() -> Scene:
    people = tuple(SceneObject(n, "person", "", (0.0, 0.0, 0.9), IDENTITY, (0.5, 0.5, 1.8)) for n in ("Anna", "Ben"))
    building = Building(tuple(Room(n, Rectangle(i, i + 1, 0, 1)) for i, n in enumerate(ROOMS)), ())
    return Scene(0.0, things("red parcel, blue parcel, mug") + people, building=building)

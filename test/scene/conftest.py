"""Scenes built by hand for the tests of `llm_planner.scene`."""

import math

import pytest

from llm_planner.scene.scene import IDENTITY, Scene, SceneObject

SIZES = {
    "block": (0.04, 0.04, 0.04),
    "bowl": (0.128, 0.128, 0.045),
    "plate": (0.15, 0.15, 0.016),
    "vase": (0.05, 0.05, 0.12),
}


@pytest.fixture
def thing():
    """Makes an object; it stands on the table unless `bottom` [m] says otherwise."""

    def make(name, x, y, bottom=0.0, yaw=0.0, size=None):
        color, _, kind = name.rpartition(" ")
        size = size or SIZES[kind]
        orientation = (0.0, 0.0, math.sin(yaw / 2), math.cos(yaw / 2)) if yaw else IDENTITY
        return SceneObject(name, kind, color, (x, y, bottom + size[2] / 2), orientation, size)

    return make


@pytest.fixture
def scene():
    """Makes a scene of these things."""

    def make(*things, held=""):
        return Scene(0.0, things, held)

    return make

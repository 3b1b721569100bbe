"""How furniture is drawn: wood and metal, a lamp that is dark or bright, and as much of a stain as is left."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from llm_planner.simulation.looks import COLLISION_GROUP, VISUAL_GROUP, object_color
from llm_planner.simulation.objects import ObjectSpec
from llm_planner.simulation.stains import APART, stain_points
from llm_planner.simulation.tabletop import sliding_name
from llm_planner.world.predicates import BUTTON, DRAWER, STAIN
from llm_planner.world.scene import Vector3

if TYPE_CHECKING:
    import mujoco

METAL, TRAY, HOUSING = (0.35, 0.36, 0.38), 0.88, (0.22, 0.23, 0.25)
LAMP_OFF, LAMP_ON = (0.30, 0.32, 0.28, 1.0), (0.25, 1.0, 0.35, 1.0)
SEED = 0  # of the places and sizes of a stain's drops


def dress_furniture(spec: mujoco.MjSpec, objects: Sequence[ObjectSpec]) -> None:
    """Colours the shapes of furniture, or replaces them by what is seen of it."""
    dress = {DRAWER: _paint_drawer, BUTTON: _dress_button, STAIN: _dress_stain}
    for item in objects:
        if item.kind in dress:
            dress[item.kind](spec, item, object_color(item))


def show_state(model: mujoco.MjModel, name: str, kind: str, state: float) -> None:
    """The lamp dark or bright, the stain as far as it is left."""
    if kind == BUTTON:
        lamp = model.geom(f"{name} lamp")
        lamp.rgba = LAMP_ON if state >= 1.0 else LAMP_OFF
    elif kind == STAIN:
        drops = [index for index in range(model.ngeom) if model.geom(index).name.startswith(f"{name} drop ")]
        left = np.arange(len(drops)) < round(state * len(drops))
        model.geom_rgba[drops, 3] = np.where(left, 1.0, 0.0)


def _paint_drawer(spec: mujoco.MjSpec, item: ObjectSpec, color: Vector3) -> None:
    *tray, stem, bar = spec.body(sliding_name(item)).geoms
    for geom in tray:
        geom.rgba = [*(TRAY * np.array(color)), 1.0]
    for geom in (stem, bar):
        geom.rgba = [*METAL, 1.0]


def _dress_button(spec: mujoco.MjSpec, item: ObjectSpec, color: Vector3) -> None:
    """A dark housing, a round cap and a lamp beside it."""
    import mujoco

    base, cap, kind = spec.body(item.name), spec.body(sliding_name(item)), item.shape
    for geom in base.geoms:
        geom.rgba = [*HOUSING, 1.0]
    assert kind.sliding is not None  # a button has a cap
    part = kind.sliding.parts[0]
    for geom in cap.geoms:
        geom.group = COLLISION_GROUP
    look = {"contype": 0, "conaffinity": 0, "density": 0.0, "group": VISUAL_GROUP}
    cap.add_geom(
        type=mujoco.mjtGeom.mjGEOM_CYLINDER, pos=part.center, size=[1.04 * part.half[0], part.half[2], 0.0],
        rgba=[*color, 1.0], **look,
    )  # fmt: skip
    corner, upper = kind.parts[0].half, kind.parts[0].center[2] + kind.parts[0].half[2]
    base.add_geom(
        name=f"{item.name} lamp", type=mujoco.mjtGeom.mjGEOM_SPHERE, size=[0.16 * corner[0], 0.0, 0.0],
        pos=[-0.72 * corner[0], 0.72 * corner[1], upper], rgba=LAMP_OFF, **look,
    )  # fmt: skip


def _dress_stain(spec: mujoco.MjSpec, item: ObjectSpec, color: Vector3) -> None:
    """Drops of uneven sizes, one at each of its points."""
    import mujoco

    body, rng = spec.body(item.name), np.random.default_rng(SEED)
    for geom in body.geoms:
        geom.group = COLLISION_GROUP
    for index, (x, y) in enumerate(stain_points(item.shape.size).tolist()):
        dx, dy = rng.uniform(-0.2, 0.2, size=2) * APART
        body.add_geom(
            name=f"{item.name} drop {index}", type=mujoco.mjtGeom.mjGEOM_CYLINDER, pos=[x + dx, y + dy, 0.0],
            size=[rng.uniform(0.7, 1.1) * APART, 0.0004, 0.0], rgba=[*(rng.uniform(0.85, 1.15) * np.array(color)), 1.0],
            contype=0, conaffinity=0, density=0.0, group=VISUAL_GROUP,
        )  # fmt: skip

"""Visual shapes: smooth meshes of round objects, those of the arm if they are installed, and the look of furniture.

They do not collide; the physics has its own convex shapes.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from llm_planner.errors import InputError
from llm_planner.robots.arm_model import Looks, resolve
from llm_planner.robots.collada import ColoredMesh, load_collada
from llm_planner.scene.predicates import BUTTON, DRAWER, STAIN
from llm_planner.scene.scene import Vector3
from llm_planner.simulation.objects import KINDS, ObjectSpec, object_color
from llm_planner.simulation.tabletop import APART, sliding_name, stain_points

if TYPE_CHECKING:
    import mujoco


def simplified(mesh: ColoredMesh, cell: float) -> ColoredMesh:
    """Merge all vertices in a grid cell [m] into their mean (Rossignac and Borrel, 1993)."""
    keys = np.round(mesh.vertices / cell).astype(np.int64)
    _, cluster = np.unique(keys, axis=0, return_inverse=True)
    cluster = cluster.ravel()
    counts = np.bincount(cluster)
    sums = [np.bincount(cluster, weights=mesh.vertices[:, axis]) for axis in range(3)]
    vertices = np.stack(sums, axis=1) / counts[:, None]
    faces = cluster[mesh.faces]
    alive = (faces[:, 0] != faces[:, 1]) & (faces[:, 1] != faces[:, 2]) & (faces[:, 2] != faces[:, 0])
    faces = faces[alive]
    _, first = np.unique(np.sort(faces, axis=1), axis=0, return_index=True)
    return ColoredMesh(vertices, faces[first].astype(np.int32), mesh.color)


DETAIL = 0.004  # [m] grid cell in which vertices of the robot's meshes are merged
VISUAL_GROUP = 2  # of the geoms shown instead of the collision shapes
COLLISION_GROUP = 3
Profile = Sequence[tuple[float, float]]  # (radius, height) [m], from the inner floor over the rim to the foot

# Profiles with the foot at height 0; they enclose the collision boxes to about a millimetre.
_PROFILES: dict[str, Profile] = {
    "bowl": (
        (0.0, 0.005),
        (0.046, 0.005),
        (0.052, 0.007),
        (0.055, 0.015),
        (0.0605, 0.043),
        (0.062, 0.0455),
        (0.0645, 0.045),
        (0.065, 0.043),
        (0.0585, 0.010),
        (0.055, 0.003),
        (0.048, 0.0),
        (0.0, 0.0),
    ),
    "plate": (
        (0.0, 0.006),
        (0.052, 0.006),
        (0.060, 0.0075),
        (0.071, 0.0155),
        (0.073, 0.017),
        (0.075, 0.016),
        (0.074, 0.013),
        (0.060, 0.001),
        (0.055, 0.0),
        (0.0, 0.0),
    ),
    "mug": (
        (0.0, 0.006),
        (0.026, 0.006),
        (0.0285, 0.009),
        (0.0295, 0.078),
        (0.031, 0.080),
        (0.0335, 0.080),
        (0.0345, 0.078),
        (0.0345, 0.006),
        (0.032, 0.001),
        (0.029, 0.0),
        (0.0, 0.0),
    ),
    "vase": (
        (0.0, 0.07),
        (0.010, 0.075),
        (0.015, 0.119),
        (0.0175, 0.120),
        (0.0195, 0.118),
        (0.0185, 0.108),
        (0.0175, 0.098),
        (0.0185, 0.085),
        (0.024, 0.072),
        (0.0290, 0.055),
        (0.0305, 0.040),
        (0.0285, 0.020),
        (0.024, 0.006),
        (0.0245, 0.0),
        (0.0, 0.0),
    ),
}


def dress_objects(spec: mujoco.MjSpec, objects: Sequence[ObjectSpec]) -> None:
    """Add smooth meshes for all round objects; blocks show their collision shape."""
    for item in objects:
        meshes = object_meshes(item.kind)
        for index, (vertices, faces) in enumerate(meshes):
            _add_mesh(spec, item.name, f"{item.name} look {index}", item.scale * vertices, faces, object_color(item))
        if meshes:
            for geom in spec.body(item.name).geoms:
                if not geom.meshname:
                    geom.group = COLLISION_GROUP


def dress_arm(spec: mujoco.MjSpec, looks: Looks | None) -> bool:
    """Add the arm's own meshes. Returns False, with nothing added, if it has none or they are not installed."""
    folder = None if looks is None else mesh_folder(looks)
    if looks is None or folder is None:
        return False
    for body, look in looks.meshes.items():
        for index, mesh in enumerate(link_meshes(folder / look.file)):
            _add_mesh(spec, body, f"{body} look {index}", mesh.vertices * np.array(look.scale), mesh.faces, mesh.color)
    return True


def mesh_folder(looks: Looks) -> Path | None:
    """Return the folder of the arm's meshes; None if it is not there, as without the package that it is in."""
    try:
        folder = resolve(looks.folder, Path())
    except InputError:
        return None
    return folder if folder.is_dir() else None


def object_meshes(kind: str) -> list[tuple[NDArray[np.float64], NDArray[np.int32]]]:
    """Return vertices (n, 3) [m, object frame] and faces (m, 3) of a kind's smooth parts; empty for a block."""
    if kind not in _PROFILES:
        return []
    size = KINDS[kind].size
    vertices, faces = lathe(_PROFILES[kind])
    if kind != "mug":
        return [(vertices - np.array([0.0, 0.0, size[2] / 2]), faces)]
    axis = np.array([KINDS["mug"].grasps[0].point[0], 0.0, -size[2] / 2])  # the handle shifts the box's centre
    handle, handle_faces = _handle()
    return [(vertices + axis, faces), (handle + axis, handle_faces)]


def lathe(profile: Profile, segments: int = 40) -> tuple[NDArray[np.float64], NDArray[np.int32]]:
    """Return the surface of revolution of a profile about z, as vertices and outward faces."""
    angles = 2 * np.pi * np.arange(segments) / segments
    radius, height = np.array(profile).T
    ring = np.stack([np.cos(angles), np.sin(angles)], axis=1)
    vertices = np.concatenate(
        [np.column_stack([r * ring, np.full(segments, h)]) for r, h in zip(radius, height, strict=True)]
    )
    return vertices, _grid_faces(len(profile), segments)


def _handle(segments: int = 24, sides: int = 10) -> tuple[NDArray[np.float64], NDArray[np.int32]]:
    """Build a bent tube that starts and ends at the mug's wall, with z = 0 at the foot."""
    bend = np.linspace(-math.pi / 2, math.pi / 2, segments)
    around = 2 * np.pi * np.arange(sides) / sides
    x = 0.030 + (0.022 + 0.0045 * np.cos(around)) * np.cos(bend)[:, None]
    z = 0.042 + (0.023 + 0.0045 * np.cos(around)) * np.sin(bend)[:, None]
    y = np.broadcast_to(0.0055 * np.sin(around), x.shape)
    return np.stack([x, y, z], axis=-1).reshape(-1, 3), _grid_faces(segments, sides)[:, ::-1]


def _grid_faces(rows: int, columns: int) -> NDArray[np.int32]:
    """Return two triangles per cell of a vertex grid with columns closed to a ring; front: (down, then along)."""
    row, column = np.meshgrid(np.arange(rows - 1), np.arange(columns), indexing="ij")
    a, b = row * columns + column, row * columns + (column + 1) % columns
    c, d = a + columns, b + columns
    return np.stack([a, c, b, b, c, d], axis=-1).reshape(-1, 3).astype(np.int32)


@lru_cache(maxsize=16)  # every renderer needs them
def link_meshes(path: Path) -> list[ColoredMesh]:
    """Return the meshes of a robot's link, one per colour, as simple as a picture of the robot allows."""
    meshes = [simplified(mesh, DETAIL) for mesh in load_collada(path)]
    return [mesh for mesh in meshes if len(mesh.faces) > 20]


def _add_mesh(
    spec: mujoco.MjSpec, body: str, name: str, vertices: NDArray[np.float64], faces: NDArray[np.int32], color: Vector3
) -> None:
    import mujoco

    spec.add_mesh(
        name=name,
        uservert=vertices.ravel(),
        userface=faces.ravel(),
        inertia=mujoco.mjtMeshInertia.mjMESH_INERTIA_SHELL,
    )
    spec.body(body).add_geom(
        type=mujoco.mjtGeom.mjGEOM_MESH,
        meshname=name,
        rgba=[*color, 1.0],
        contype=0,
        conaffinity=0,
        density=0.0,
        group=VISUAL_GROUP,
    )


METAL, TRAY, HOUSING = (0.35, 0.36, 0.38), 0.88, (0.22, 0.23, 0.25)
LAMP_OFF, LAMP_ON = (0.30, 0.32, 0.28, 1.0), (0.25, 1.0, 0.35, 1.0)
SEED = 0  # of the positions and sizes of a stain's drops


def dress_furniture(spec: mujoco.MjSpec, objects: Sequence[ObjectSpec]) -> None:
    """Color the shapes of furniture, or replace them by visual ones."""
    dress = {DRAWER: _paint_drawer, BUTTON: _dress_button, STAIN: _dress_stain}
    for item in objects:
        if item.kind in dress:
            dress[item.kind](spec, item, object_color(item))


def show_state(model: mujoco.MjModel, name: str, kind: str, state: float) -> None:
    """Show the lamp of a button on or off, or the remaining part of a stain."""
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
    """Show a dark housing, a round cap and a lamp."""
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
    """Show drops of uneven sizes, one per point."""
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

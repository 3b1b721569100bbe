"""What is drawn: smooth shapes for the objects and, where `example-robot-data` is installed, the Panda's own meshes.

Nothing here collides; the physics has its own convex shapes.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from llm_planner.simulation.collada import ColoredMesh, load_collada, simplified
from llm_planner.simulation.objects import ALL_COLORS, KINDS, ObjectSpec
from llm_planner.world.scene import Vector3

if TYPE_CHECKING:
    import mujoco

DETAIL = 0.004  # [m] smaller features of the robot's meshes are merged
VISUAL_GROUP = 2  # of the geoms that replace the collision shapes in pictures
COLLISION_GROUP = 3
_MESHES = "cmeel.prefix/share/example-robot-data/robots/panda_description/meshes/visual"
_LINKS = (*(f"link{i}" for i in range(8)), "hand")
Profile = Sequence[tuple[float, float]]  # (radius, height) [m] from the inner floor over the rim to the foot

PLAIN_COLORS: dict[str, Vector3] = {  # of things asked for without a colour
    "block": (0.85, 0.68, 0.44),
    "bowl": (0.93, 0.92, 0.89),
    "mug": (0.95, 0.94, 0.91),
    "vase": (0.22, 0.47, 0.51),
    "plate": (0.96, 0.96, 0.95),
    "sponge": (0.98, 0.85, 0.35),
    "drawer": (0.80, 0.78, 0.74),
    "button": (0.80, 0.15, 0.13),
    "stain": (0.42, 0.24, 0.12),
}

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


def object_color(item: ObjectSpec) -> Vector3:
    """The colour it is drawn in, red, green, blue in [0, 1]."""
    return ALL_COLORS[item.color] if item.color else PLAIN_COLORS[item.kind]


def dress_objects(spec: mujoco.MjSpec, objects: Sequence[ObjectSpec]) -> None:
    """Adds the smooth shapes of all round objects; a block is drawn as it collides."""
    for item in objects:
        meshes = object_meshes(item.kind)
        for index, (vertices, faces) in enumerate(meshes):
            _add_mesh(spec, item.name, f"{item.name} look {index}", item.scale * vertices, faces, object_color(item))
        if meshes:
            for geom in spec.body(item.name).geoms:
                if not geom.meshname:
                    geom.group = COLLISION_GROUP


def dress_panda(spec: mujoco.MjSpec) -> bool:
    """Adds the arm's own meshes; False, and nothing added, where `example-robot-data` is not installed."""
    folder = panda_mesh_folder()
    if not folder.is_dir():
        return False
    for link in _LINKS:
        for index, mesh in enumerate(_link_meshes(folder, link)):
            _add_mesh(spec, f"panda_{link}", f"{link} look {index}", mesh.vertices, mesh.faces, mesh.color)
    for index, mesh in enumerate(_link_meshes(folder, "finger")):
        mirrored = mesh.vertices * np.array([-1.0, -1.0, 1.0])
        _add_mesh(spec, "panda_leftfinger", f"left finger look {index}", mesh.vertices, mesh.faces, mesh.color)
        _add_mesh(spec, "panda_rightfinger", f"right finger look {index}", mirrored, mesh.faces, mesh.color)
    return True


def panda_mesh_folder() -> Path:
    """Where the Panda's meshes lie if the optional package `example-robot-data` is installed."""
    try:
        return Path(str(metadata.distribution("example-robot-data").locate_file(_MESHES)))
    except metadata.PackageNotFoundError:
        return Path(_MESHES)


def object_meshes(kind: str) -> list[tuple[NDArray[np.float64], NDArray[np.int32]]]:
    """Vertices (n, 3) [m, object frame] and faces (m, 3) of a kind's smooth parts; none for a block."""
    if kind not in _PROFILES:
        return []
    size = KINDS[kind].size
    vertices, faces = lathe(_PROFILES[kind])
    if kind != "mug":
        return [(vertices - np.array([0.0, 0.0, size[2] / 2]), faces)]
    axis = np.array([KINDS["mug"].grasps[0].point[0], 0.0, -size[2] / 2])  # the handle moves the box's centre
    handle, handle_faces = _handle()
    return [(vertices + axis, faces), (handle + axis, handle_faces)]


def lathe(profile: Profile, segments: int = 40) -> tuple[NDArray[np.float64], NDArray[np.int32]]:
    """The surface of revolution about z of a profile, as vertices and outward faces."""
    angles = 2 * np.pi * np.arange(segments) / segments
    radius, height = np.array(profile).T
    ring = np.stack([np.cos(angles), np.sin(angles)], axis=1)
    vertices = np.concatenate(
        [np.column_stack([r * ring, np.full(segments, h)]) for r, h in zip(radius, height, strict=True)]
    )
    return vertices, _grid_faces(len(profile), segments)


def _handle(segments: int = 24, sides: int = 10) -> tuple[NDArray[np.float64], NDArray[np.int32]]:
    """A bent tube from the mug's wall and back to it, z = 0 at the foot."""
    bend = np.linspace(-math.pi / 2, math.pi / 2, segments)
    around = 2 * np.pi * np.arange(sides) / sides
    x = 0.030 + (0.022 + 0.0045 * np.cos(around)) * np.cos(bend)[:, None]
    z = 0.042 + (0.023 + 0.0045 * np.cos(around)) * np.sin(bend)[:, None]
    y = np.broadcast_to(0.0055 * np.sin(around), x.shape)
    return np.stack([x, y, z], axis=-1).reshape(-1, 3), _grid_faces(segments, sides)[:, ::-1]


def _grid_faces(rows: int, columns: int) -> NDArray[np.int32]:
    """Two triangles for each cell of a grid of vertices whose columns close to a ring; front: (down, then along)."""
    row, column = np.meshgrid(np.arange(rows - 1), np.arange(columns), indexing="ij")
    a, b = row * columns + column, row * columns + (column + 1) % columns
    c, d = a + columns, b + columns
    return np.stack([a, c, b, b, c, d], axis=-1).reshape(-1, 3).astype(np.int32)


@lru_cache(maxsize=16)  # they take seconds to read, and every renderer wants them
def _link_meshes(folder: Path, link: str) -> list[ColoredMesh]:
    meshes = [simplified(mesh, DETAIL) for mesh in load_collada(folder / f"{link}.dae")]
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

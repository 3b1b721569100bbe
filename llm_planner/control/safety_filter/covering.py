"""Covers of triangulated solids by few capsules of small volume.

Each triangle lies in one capsule, so that the capsules cover the surface; what lies inside it is reached through it.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from llm_planner.errors import InputError
from llm_planner.robots.motion import Array

Triangles = Array  # (n, 3 corners, 3) [m]
Capsule = tuple[Array, Array, float]  # ends of the axis (3,) and radius [m]
Faces = NDArray[np.intp]  # (n, 3) rows of corners
Part = tuple[Faces, Capsule]  # triangles and the capsule around them
SPARES = 0.93  # share of the volume that may remain for one more capsule
LONGEST = 0.03  # [m] edge of a triangle; longer ones are divided, so that a border need not go around them
CIRCLE_STEPS = 40
SAMPLES = 3000  # points that estimate the volume of several capsules
_GROWTH = 1.0 + 1e-9  # of radii, against rounding


def cover(triangles: Triangles, most: int) -> Sequence[Capsule]:
    """Cover triangles with at most `most` capsules that together have a small volume.

    The largest capsule is split again and again; of these covers the one is taken whose capsules pay.
    """
    corners, divided = _indexed(_divided(triangles))

    def part(faces: Faces) -> Part:
        return faces, _fitted(corners[np.unique(faces)])

    parts = [part(divided)]
    (start, end, radius), rng = parts[0][1], np.random.default_rng(0)
    samples = rng.uniform(np.minimum(start, end) - radius, np.maximum(start, end) + radius, (SAMPLES, 3))

    def volume(some: Sequence[Part]) -> float:
        return float(np.any([_inside(samples, capsule) for _, capsule in some], axis=0).mean())

    covers = [list(parts)]
    while len(parts) < most:
        largest = max(range(len(parts)), key=lambda index: _volume(parts[index][1]))
        rest = parts[:largest] + parts[largest + 1 :]
        splits = [[*rest, *map(part, halves)] for halves in _splits(corners, parts[largest][0])]
        if not splits:
            break
        parts = min(splits, key=volume)
        covers.append(parts)
    return [capsule for _, capsule in min(covers, key=lambda some: volume(some) / SPARES ** len(some))]


def _inside(points: Array, capsule: Capsule) -> NDArray[np.bool_]:
    start, end, radius = capsule
    axis = end - start
    share = np.clip((points - start) @ axis / max(float(axis @ axis), 1e-12), 0.0, 1.0)
    away = points - start - share[:, None] * axis
    inside: NDArray[np.bool_] = np.einsum("nk,nk->n", away, away) < radius**2
    return inside


def _divided(triangles: Triangles) -> Triangles:
    """Halve the longest edges until none is longer than `LONGEST`."""
    done = []
    while len(triangles):
        edges = np.linalg.norm(triangles - np.roll(triangles, -1, axis=1), axis=2)
        is_long = edges.max(axis=1) > LONGEST
        done.append(triangles[~is_long])
        triangles, first = triangles[is_long], edges[is_long].argmax(axis=1)
        a, b, c = (triangles[np.arange(len(first)), (first + shift) % 3] for shift in range(3))
        middle = (a + b) / 2
        triangles = np.concatenate([np.stack((a, middle, c), axis=1), np.stack((middle, b, c), axis=1)])
    return np.concatenate(done)


def _indexed(triangles: Triangles) -> tuple[Array, Faces]:
    """Return the corners of triangles, each once, and the triangles as rows of corners."""
    points = triangles.reshape(-1, 3)
    order = np.lexsort(points.T)
    is_new = np.any(np.diff(points[order], axis=0, prepend=np.nan) != 0.0, axis=1)
    rows = np.empty(len(points), np.intp)
    rows[order] = np.cumsum(is_new) - 1
    return points[order[is_new]], rows.reshape(-1, 3)


def _volume(capsule: Capsule) -> float:
    start, end, radius = capsule
    return math.pi * radius**2 * (4 / 3 * radius + float(np.linalg.norm(end - start)))


def _splits(corners: Array, faces: Faces) -> Iterator[tuple[Faces, Faces]]:
    """Yield the halves of triangles on both sides of the middle of each principal axis."""
    triangles = corners[faces]
    middles = triangles.mean(axis=1)
    for axis in _axes(triangles.reshape(-1, 3)):
        along = middles @ axis
        before = along <= (along.min() + along.max()) / 2
        if not before.all():
            yield faces[before], faces[~before]


def _axes(points: Array) -> Array:
    """Return the principal axes of points, the longest first, (3, 3)."""
    centred = points - points.mean(axis=0)
    axes: Array = np.linalg.svd(centred.T @ centred)[0].T
    return axes


def _fitted(points: Array) -> Capsule:
    """Return the smallest of the capsules along the principal axes and the coordinate axes that holds all points."""
    points = _corners(points)
    return min((_along(points, axis) for axis in (*_axes(points), *np.eye(3))), key=_volume)


def _corners(points: Array) -> Array:
    """Return the corners of the convex hull of points, or all points if they lie in a plane."""
    from scipy.spatial import ConvexHull, QhullError

    try:
        corners: Array = points[ConvexHull(points).vertices]
    except (QhullError, ValueError):
        return points
    return corners


def _along(points: Array, axis: Array) -> Capsule:
    across = np.linalg.svd(axis[None])[2][1:]  # two directions across the axis
    flat, along = points @ across.T, points @ axis
    centre, radius = _circle(_corners(flat))
    beside = np.linalg.norm(flat - centre, axis=1)
    caps = np.sqrt(np.maximum(radius**2 - beside**2, 0.0))  # how far a hemisphere reaches beyond the end, there
    low, high = float((along + caps).min()), float((along - caps).max())
    if low > high:
        low = high = (low + high) / 2
        radius = float(np.sqrt(beside**2 + (along - low) ** 2).max())
    middle = centre @ across
    return middle + low * axis, middle + high * axis, radius * _GROWTH + 1e-9


def _circle(points: Array) -> tuple[Array, float]:
    """Return centre and radius of a nearly smallest circle around points (Badoiu and Clarkson, 2003)."""
    centre = (points.min(axis=0) + points.max(axis=0)) / 2
    best, least = centre, float(np.linalg.norm(points - centre, axis=1).max())
    for step in range(1, CIRCLE_STEPS):
        away = np.linalg.norm(points - centre, axis=1)
        if away.max() < least:
            best, least = centre, float(away.max())
        centre = centre + (points[int(away.argmax())] - centre) / (step + 1)
    return best, least


def box(size: Array) -> Triangles:
    """Return the surface of a box of edges `size` (3,) [m] around the origin."""
    triangles = []
    for axis in range(3):
        u, v = (axis + 1) % 3, (axis + 2) % 3
        for side in (-0.5, 0.5):
            corners = np.zeros((4, 3))
            corners[:, axis] = side * size[axis]
            corners[:, u] = size[u] * np.array((-0.5, 0.5, 0.5, -0.5))
            corners[:, v] = size[v] * np.array((-0.5, -0.5, 0.5, 0.5))
            triangles += [corners[[0, 1, 2]], corners[[0, 2, 3]]]
    return np.array(triangles)


def cylinder(radius: float, length: float, sides: int = 24) -> Triangles:
    """Return a surface around a cylinder along z [m]: a prism whose sides touch it."""
    angles = np.linspace(0.0, 2 * math.pi, sides, endpoint=False)
    ring = radius / math.cos(math.pi / sides) * np.column_stack((np.cos(angles), np.sin(angles)))
    low, high = (np.column_stack((ring, np.full(sides, z))) for z in (-length / 2, length / 2))
    triangles = []
    for k in range(sides):
        after = (k + 1) % sides
        triangles += [[low[k], low[after], high[k]], [high[k], low[after], high[after]]]
        triangles += [[low[k], low[after], [0, 0, -length / 2]], [high[k], high[after], [0, 0, length / 2]]]
    return np.array(triangles)


def read_mesh(path: Path) -> Triangles:
    """Read an STL, OBJ or COLLADA file; raises InputError if it is missing, malformed or of another kind."""
    kind = path.suffix.lower()
    try:
        if kind == ".stl":
            triangles = _stl(path)
        elif kind in (".obj", ".dae"):
            triangles = _by_trimesh(path)
        else:
            raise InputError(f"the mesh {path} is not an STL, OBJ or COLLADA file; convert it")
    except OSError as error:
        raise InputError(f"the mesh {path} cannot be read: {error.strerror}") from error
    if not len(triangles) or not np.isfinite(triangles).all():
        raise InputError(f"the mesh {path} has no triangles, or coordinates that are not finite")
    return triangles


def _by_trimesh(path: Path) -> Triangles:
    """Read a mesh with the library trimesh; the controller's reader is another one."""
    import trimesh

    options: dict[str, Any] = {"process": False}
    if path.suffix.lower() == ".dae":
        options["ignore_broken"] = False  # or parts would be missing silently
    try:
        mesh: Any = trimesh.load(path, force="mesh", **options)
    except OSError:
        raise
    except Exception as error:  # each format has errors of its own
        raise InputError(f"the mesh {path} cannot be read: {error}") from error
    if mesh.units:
        mesh.convert_units("meters")
    return np.asarray(mesh.triangles, dtype=np.float64)


def _stl(path: Path) -> Triangles:
    """Read a binary or text STL file; raises InputError if it is malformed."""
    data = path.read_bytes()
    count = struct.unpack("<I", data[80:84])[0] if len(data) >= 84 else -1
    if len(data) == 84 + 50 * count:
        row = np.dtype([("normal", "<f4", 3), ("corners", "<f4", (3, 3)), ("rest", "<u2")])
        rows = np.frombuffer(data, row, count, offset=84)
        triangles = rows["corners"].astype(np.float64)
    else:
        lines = data.decode("ascii", errors="replace").split("\n")
        words = [line.split() for line in lines if line.strip().startswith("vertex")]
        try:
            triangles = np.array([[float(number) for number in row[1:4]] for row in words]).reshape(-1, 3, 3)
        except ValueError as error:
            raise InputError(f"the mesh {path} is not an STL file") from error
    return triangles

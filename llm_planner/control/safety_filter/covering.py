"""Capsules that cover surfaces of triangles.

Each triangle has all corners in one capsule. A capsule is convex, so it contains the whole triangle.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from llm_planner.errors import InputError
from llm_planner.robots.motion import Array

Triangles = Array  # (n, 3 corners, 3) [m]
Capsule = tuple[Array, Array, float]  # ends of the axis (3,) and radius [m]
SPARES = 0.75  # share of the volume that must remain for a capsule to be split in two
_GROWTH = 1.0 + 1e-9  # of radii, against rounding


def cover(triangles: Triangles, most: int) -> Sequence[Capsule]:
    """Cover triangles with at most `most` capsules of small volume.

    The capsule that gains most is split at the middle of its longest extent, as long as that saves volume.
    """
    parts = [(triangles, _fitted(triangles))]
    while len(parts) < most:
        best: tuple[float, int, list[tuple[Triangles, Capsule]]] | None = None
        for index, (some, capsule) in enumerate(parts):
            halves = _split(some)
            fitted = [(half, _fitted(half)) for half in halves]
            saved = _volume(capsule) - sum(_volume(one) for _, one in fitted)
            if len(halves) == 2 and saved > (1 - SPARES) * _volume(capsule) and (best is None or saved > best[0]):
                best = saved, index, fitted
        if best is None:
            break
        _, index, fitted = best
        parts[index : index + 1] = fitted
    return [capsule for _, capsule in parts]


def _volume(capsule: Capsule) -> float:
    start, end, radius = capsule
    return math.pi * radius**2 * (4 / 3 * radius + float(np.linalg.norm(end - start)))


def _split(triangles: Triangles) -> list[Triangles]:
    middles = triangles.mean(axis=1)
    axis = _axes(triangles.reshape(-1, 3))[0]
    along = middles @ axis
    border = (along.min() + along.max()) / 2
    return [half for half in (triangles[along <= border], triangles[along > border]) if len(half)]


def _axes(points: Array) -> Array:
    """Return the principal axes of points, the longest first, (3, 3)."""
    centred = points - points.mean(axis=0)
    axes: Array = np.linalg.svd(centred.T @ centred)[0].T
    return axes


def _fitted(triangles: Triangles) -> Capsule:
    """Return the smallest of the capsules along the principal axes and the coordinate axes that holds all corners."""
    points = _corners(triangles.reshape(-1, 3))
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
    centre, radius = _circle(flat)
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
    for step in range(1, 200):
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


def read_stl(path: Path) -> Triangles:
    """Read a binary or text STL file; raises InputError if it is missing or malformed."""
    try:
        data = path.read_bytes()
    except OSError as error:
        raise InputError(f"the mesh {path} cannot be read: {error.strerror}") from error
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
    if not len(triangles) or not np.isfinite(triangles).all():
        raise InputError(f"the mesh {path} has no triangles, or coordinates that are not finite")
    return triangles

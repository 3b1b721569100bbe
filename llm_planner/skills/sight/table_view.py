"""A picture of the overview camera laid out on the table: every cell the same half centimetre, wherever it is.

What is flat on the table keeps its size and shape there, so that a convolution sees a thing alike everywhere; what is
tall leans away from the camera.
"""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from llm_planner.errors import InputError
from llm_planner.skills.gripper_shape import Grip

Image = NDArray[np.uint8]  # (height, width, 3), red green blue
Indices = NDArray[np.intp]

# The overview camera of the world `tabletop`; a test holds it against the simulation.
POSITION = (-0.399, -0.657, 1.282)  # [m], base frame
RIGHT, UP = (0.682, -0.731, 0.0), (0.544, 0.507, 0.669)  # of the picture, in the base frame
FOVY = math.radians(45)

LOOKOUT = Grip(0.42, -0.13, 0.42, -0.3)  # where the arm hides next to nothing of the table from the camera

CELL = 0.005  # [m]
X_MIN, Y_MIN = 0.18, -0.48  # [m] of the first cell's edge
ROWS, COLUMNS = 128, 208  # along x and along y: room for what leans out of the workspace
_FINER = 2  # points a side of which a cell is the mean


def laid_out(picture: Image) -> Image:
    """The table from straight above (ROWS, COLUMNS, 3), rows along x, columns along y; black where it is out of view.

    Raises InputError for what is no picture in colour.
    """
    if picture.ndim != 3 or picture.shape[2] != 3 or picture.dtype != np.uint8:
        raise InputError(
            f"a picture is (height, width, 3) bytes, red green blue, not {picture.shape} of {picture.dtype}"
        )
    height, width, _ = picture.shape
    pixels = np.zeros((height * width + 1, 3), np.uint16)  # the last is black: what is out of view
    pixels[:-1] = picture.reshape(-1, 3)
    points = _gathered(height, width)
    total = pixels.take(points[0], axis=0)
    for index in points[1:]:
        total += pixels.take(index, axis=0)
    table: Image = (total // len(points)).astype(np.uint8)
    return table.reshape(ROWS, COLUMNS, 3)


@lru_cache(maxsize=4)
def _gathered(height: int, width: int) -> Indices:
    """The pixels in which a few points of each cell are seen (points, ROWS * COLUMNS), height * width for none."""
    step = CELL / _FINER
    xs = X_MIN + (np.arange(ROWS * _FINER) + 0.5) * step
    ys = Y_MIN + (np.arange(COLUMNS * _FINER) + 0.5) * step
    points = np.stack([*np.meshgrid(xs, ys, indexing="ij"), np.zeros((len(xs), len(ys)))], axis=-1)
    columns, rows = pixels_of(points.reshape(-1, 3), height, width)
    column, row = np.floor(columns).astype(np.intp), np.floor(rows).astype(np.intp)
    seen = (column >= 0) & (column < width) & (row >= 0) & (row < height)
    pixels = np.where(seen, row * width + column, height * width)
    blocks = pixels.reshape(ROWS, _FINER, COLUMNS, _FINER).transpose(1, 3, 0, 2)
    return np.ascontiguousarray(blocks.reshape(_FINER**2, -1))


def pixels_of(points: NDArray[np.float64], height: int, width: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Columns and rows, from the upper left corner, at which a picture shows `points` (n, 3) [m, base frame]."""
    right, up = (np.array(axis) / math.hypot(*axis) for axis in (RIGHT, UP))
    away = points - np.array(POSITION)
    depth = away @ -np.cross(right, up)
    focal = height / 2 / math.tan(FOVY / 2)
    return width / 2 + focal * (away @ right) / depth, height / 2 - focal * (away @ up) / depth

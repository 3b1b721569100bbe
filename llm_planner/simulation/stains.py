"""The points of a stain on the table, and which of them are passed by what touches the table."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from llm_planner.world.scene import Vector3

if TYPE_CHECKING:
    import mujoco

Array = NDArray[np.float64]
Mask = NDArray[np.bool_]

APART = 0.008  # [m] between the points
TOUCH = 0.003  # [m] that comes as near as this takes a point away


def stain_points(size: Vector3) -> Array:
    """The points (n, 2) [m] of a stain that fills a box of that size, in its frame, from one end to the other."""
    half = np.array(size[:2]) / 2
    x, y = (np.arange(-h + APART / 2, h, APART) for h in half)
    grid = np.stack(np.meshgrid(x, y, indexing="ij"), axis=-1).reshape(-1, 2)
    points: Array = grid[(np.square(grid / half).sum(axis=1)) <= 1.0]
    return points


def left_at(size: Vector3, share: float) -> Mask:
    """Which points (n,) are taken to be left of which only the `share` is known: those at one end."""
    count = len(stain_points(size))
    mask: Mask = np.arange(count) < round(share * count)
    return mask


def touched(points: Array, model: mujoco.MjModel, data: mujoco.MjData, geoms: NDArray[np.intp]) -> Mask:
    """Which of `points` (n, 3) [m] one of the boxes `geoms` comes as near to as `TOUCH`."""
    mask = np.zeros(len(points), dtype=bool)
    centers, reach = data.geom_xpos[geoms], model.geom_rbound[geoms] + TOUCH
    middle = points.mean(axis=0)
    spread = np.linalg.norm(points - middle, axis=1).max()
    near = (centers[:, 2] < reach) & (np.linalg.norm(centers - middle, axis=1) < reach + spread)
    for geom in geoms[near]:
        local = (points - data.geom_xpos[geom]) @ data.geom_xmat[geom].reshape(3, 3)
        mask |= (np.abs(local) <= model.geom_size[geom] + TOUCH).all(axis=1)
    return mask

"""Extent of a tucked arm on its mobile base, seen from above."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from llm_planner.errors import InputError
from llm_planner.robots.arm_model import arm_model
from llm_planner.robots.motion import Array
from llm_planner.robots.robots import BASE_RADIUS

if TYPE_CHECKING:
    import mujoco


OVERHANG = 0.05  # [m] beyond the base: less does not reach over a table that the base keeps off
GRID = 21  # points along each edge of a solid's bounding box


@dataclass(frozen=True)
class Footprint:
    """Disc around the centre of the base that contains base and arm.

    Attributes:
        radius: Of the disc [m].
        bottom: Height above the arm's base of the lowest part that reaches `OVERHANG` beyond the base [m].
    """

    radius: float
    bottom: float


@lru_cache(maxsize=8)
def tucked_footprint(name: str) -> Footprint:
    """Return the footprint of the robot called `name` with its arm at home; raises InputError if it cannot drive."""
    import mujoco

    arm = arm_model(name)
    if arm.mount is None:
        raise InputError(f"the robot {name!r} stands fixed; it has no footprint to drive with")
    model = arm.collision_spec().compile()
    data = mujoco.MjData(model)
    data.qpos[:] = arm.home
    mujoco.mj_kinematics(model, data)
    points = np.concatenate([_outline(model, data, geom) for geom in range(model.ngeom)])
    away = np.hypot(points[:, 0] + arm.mount.position[0], points[:, 1])
    lowest = points[away > BASE_RADIUS + OVERHANG, 2].min(initial=np.inf)
    return Footprint(max(BASE_RADIUS, float(away.max())), float(lowest))


def _outline(model: mujoco.MjModel, data: mujoco.MjData, geom: int) -> Array:
    """Return points (n, 3) [m] on the surface of a solid: vertices of a mesh, otherwise a grid on its bounding box.

    The grid is drawn in to the circumference of a round solid.
    """
    import mujoco

    kind = model.geom_type[geom]
    if kind == mujoco.mjtGeom.mjGEOM_MESH:
        mesh = model.geom_dataid[geom]
        first = model.mesh_vertadr[mesh]
        local = model.mesh_vert[first : first + model.mesh_vertnum[mesh]]
    else:
        steps = np.linspace(-1.0, 1.0, GRID)
        local = np.stack(np.meshgrid(steps, steps, steps), axis=-1).reshape(-1, 3)
        if kind != mujoco.mjtGeom.mjGEOM_BOX:
            local = local[np.hypot(local[:, 0], local[:, 1]) <= 1.0]
        local = model.geom_aabb[geom, :3] + local * model.geom_aabb[geom, 3:]
    points: Array = data.geom_xpos[geom] + local @ data.geom_xmat[geom].reshape(3, 3).T
    return points

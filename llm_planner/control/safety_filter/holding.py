"""What the hand holds as spheres of the filter's own, on the last link of the arm."""

from __future__ import annotations

import numpy as np

from llm_planner.control.carried import Carried
from llm_planner.control.reference import Array
from llm_planner.control.safety_filter.bodies import Rod
from llm_planner.control.safety_filter.distances import rotation
from llm_planner.control.zones import half_sides

CELL = 0.015  # [m] half the edge of the cells that a solid is cut into; a sphere sticks out by three quarters of it
MOST_CELLS = 6  # along each edge; what is larger is covered by larger spheres


def rods_of(carried: Carried, link: int, hand: Array) -> tuple[Rod, ...]:
    """Spheres that cover it, rods of no length on the link; `hand` (4, 4) is the gripper point's frame in it.

    Only cells at the surface are covered: what lies deeper touches nothing that these do not.
    """
    half = np.array(half_sides(carried.shape, carried.size))
    counts = np.clip(np.ceil(half / CELL - 1e-9), 1, MOST_CELLS).astype(int)
    cell, index = half / counts, np.array(list(np.ndindex(*counts.tolist())))
    index = index[((index == 0) | (index == counts - 1)).any(axis=1)]
    inside = (cell * (2 * index + 1) - half) @ rotation(carried.pose.orientation).T
    places = (inside + np.array(carried.pose.position)) @ hand[:3, :3].T + hand[:3, 3]
    radius = float(np.linalg.norm(cell))
    return tuple(Rod(link, (x, y, z), (x, y, z), radius) for x, y, z in places.tolist())

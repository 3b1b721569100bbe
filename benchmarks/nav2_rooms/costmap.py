"""Costmap and planner of a stand-in for nav2: walls and things, inflated, and the cells that a keep-out mask closes."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import lru_cache
from math import ceil, dist, floor, hypot, inf

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_matrix
from scipy.sparse.csgraph import dijkstra

from llm_planner.robots.mobile_base import BASE_RADIUS
from llm_planner.scene.places import Point2
from llm_planner.scene.scene import Building, Scene
from llm_planner.simulation.rooms.building_plan import DOOR_WIDTH

CELL = 0.05  # [m]
INFLATED = BASE_RADIUS + 0.06  # [m] around walls, in which the centre of the base may not be
CLOSED = 65  # value of a mask from which a cell is closed

Cells = NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class Mask:
    """Cells of a keep-out filter, rows along y, from the corner `origin` [m] on; closed ones are True."""

    origin: Point2
    resolution: float
    closed: Cells

    def covers(self, x: NDArray[np.float64], y: NDArray[np.float64]) -> Cells:
        """Return which of the points [m] are in closed cells."""
        column = np.floor((x - self.origin[0]) / self.resolution).astype(int)
        row = np.floor((y - self.origin[1]) / self.resolution).astype(int)
        rows, columns = self.closed.shape
        inside = (column >= 0) & (column < columns) & (row >= 0) & (row < rows)
        return inside & self.closed[np.clip(row, 0, rows - 1), np.clip(column, 0, columns - 1)]


@dataclass
class Costmap:
    """Where the centre of the base may be; it plans around everything else, or says that there is no way."""

    scene: Scene
    mask: Mask | None = None
    _blocked: Cells = field(init=False)

    def __post_init__(self) -> None:
        assert self.scene.building is not None
        (self._x0, self._y0), x, y, inside = _floor(self.scene.building)
        blocked = ~inside
        for item in self.scene.objects:
            if item.name != self.scene.held:
                reach = hypot(*item.size[:2]) / 2 + BASE_RADIUS
                blocked |= np.hypot(x - item.position[0], y - item.position[1]) < reach
        if self.mask is not None:
            blocked |= self.mask.covers(x, y)
        self._blocked = blocked

    def is_free(self, point: Point2) -> bool:
        row, column = self._cell(point)
        return not self._blocked[row, column]

    def sees(self, a: Point2, b: Point2) -> bool:
        """Return whether the straight line from `a` to `b` is free, its start aside."""
        steps = max(1, ceil(dist(a, b) / (CELL / 2)))
        return all(self.is_free(_between(a, b, k / steps)) for k in range(1, steps + 1))

    def path(self, start: Point2, goal: Point2) -> tuple[Point2, ...]:
        """Return the corners after `start` to `goal` [m]; empty if there is no way. The start may be blocked."""
        if self.sees(start, goal):
            return (goal,)
        if not self.is_free(goal):
            return ()
        cells = self._shortest(self._cell(start), self._cell(goal))
        points = [start, *(self._middle(cell) for cell in cells[1:-1]), goal]
        corners, here = [], 0
        while cells and here < len(points) - 1:  # the farthest that is in sight
            ahead = next(
                (k for k in range(len(points) - 1, here + 1, -1) if self.sees(points[here], points[k])), here + 1
            )
            corners.append(points[ahead])
            here = ahead
        return tuple(corners)

    def _shortest(self, start: tuple[int, int], goal: tuple[int, int]) -> list[tuple[int, int]]:
        """Return the cells of a shortest path over eight neighbours; empty if there is none."""
        rows, columns = self._blocked.shape
        free = ~self._blocked
        free[start] = True
        number = np.arange(rows * columns).reshape(rows, columns)
        froms, tos, lengths = [], [], []
        for dr, dc in ((0, 1), (1, 0), (1, 1), (1, -1)):
            a = np.s_[: rows - dr, max(0, -dc) : columns - max(0, dc)]
            b = np.s_[dr:, max(0, dc) : columns + min(0, dc)]
            both = free[a] & free[b]
            froms.append(number[a][both])
            tos.append(number[b][both])
            lengths.append(np.full(int(both.sum()), hypot(dr, dc)))
        graph = coo_matrix(
            (np.concatenate(lengths), (np.concatenate(froms), np.concatenate(tos))), shape=(rows * columns,) * 2
        )
        first, last = number[start], number[goal]
        away, before = dijkstra(graph.tocsr(), directed=False, indices=first, return_predecessors=True)
        if away[last] == inf:
            return []
        found = [int(last)]
        while found[-1] != first:
            found.append(int(before[found[-1]]))
        return [divmod(one, columns) for one in reversed(found)]

    def _cell(self, point: Point2) -> tuple[int, int]:
        rows, columns = self._blocked.shape
        row, column = floor((point[1] - self._y0) / CELL), floor((point[0] - self._x0) / CELL)
        return min(max(row, 0), rows - 1), min(max(column, 0), columns - 1)

    def _middle(self, cell: tuple[int, int]) -> Point2:
        return self._x0 + CELL * (cell[1] + 0.5), self._y0 + CELL * (cell[0] + 0.5)


@lru_cache(maxsize=2)
def _floor(building: Building) -> tuple[Point2, NDArray[np.float64], NDArray[np.float64], Cells]:
    """Return the first corner of the grid [m], the middles of its cells, and those where no wall is near."""
    areas = [room.area for room in building.rooms]
    x0, y0 = min(a.x_min for a in areas) - CELL, min(a.y_min for a in areas) - CELL
    columns = ceil((max(a.x_max for a in areas) - x0) / CELL) + 1
    rows = ceil((max(a.y_max for a in areas) - y0) / CELL) + 1
    x, y = np.meshgrid(x0 + CELL * (np.arange(columns) + 0.5), y0 + CELL * (np.arange(rows) + 0.5))
    inside = np.zeros((rows, columns), dtype=np.bool_)
    for area in areas:
        across = np.minimum(x - area.x_min, area.x_max - x)
        inside |= np.minimum(across, np.minimum(y - area.y_min, area.y_max - y)) > INFLATED
    for door in building.doors:
        a, b = (building.find(name).area for name in door.rooms)
        (dx, dy), half = door.position, DOOR_WIDTH / 2 - INFLATED
        along_x = min(a.x_max, b.x_max) - max(a.x_min, b.x_min) > min(a.y_max, b.y_max) - max(a.y_min, b.y_min)
        beside, through = (x - dx, y - dy) if along_x else (y - dy, x - dx)
        inside |= (np.abs(beside) <= half) & (np.abs(through) <= INFLATED + CELL)
    return (x0, y0), x, y, inside


def _between(a: Point2, b: Point2, share: float) -> Point2:
    return a[0] + share * (b[0] - a[0]), a[1] + share * (b[1] - a[1])

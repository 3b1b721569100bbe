"""What a robot fills, as spheres that its joints move, in closed form: an arm, a mobile base, a flying point.

Point 0 of every body is the one that speeds and `Subject.GRIPPER` speak of: between the fingertips, or the middle of a
base; its radius is 0. The other points are the centres of spheres that together cover all that moves.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from llm_planner.control.reference import Array

Indices = NDArray[np.intp]


class Placed(Protocol):
    """A body in n postures."""

    @property
    def points(self) -> Array:
        """The centres (3, n, S) [m]."""

    def slopes(self, posture: Indices, point: Indices, normals: Array) -> Array:
        """How fast each joint moves `point` (m,) in `posture` (m,) along `normals` (m, 3): (m, nq) [m/rad, m/m]."""


class Body(Protocol):
    """A robot as the filter sees it. `radii` (S,) [m].

    `reach` (nq,) and `bend` (nq, nq) bound how far points move: |dp / dq_i| and |d2 p / dq_i dq_j| [m/rad, m/m, m].
    """

    @property
    def radii(self) -> Array: ...
    @property
    def reach(self) -> Array: ...
    @property
    def bend(self) -> Array: ...
    def place(self, qpos: Array) -> Placed:
        """The body at joint positions (n, nq)."""


@dataclass(frozen=True)
class Rod:
    """A capsule that moves with a link: its axis from `start` to `end` in the frame of the link, and its radius [m]."""

    link: int
    start: tuple[float, float, float]
    end: tuple[float, float, float]
    radius: float

    def spheres(self, excess: float) -> list[tuple[float, float, float, float]]:
        """x, y, z, radius of spheres that cover it and stick out by `excess` [m] at most."""
        a, b = np.array(self.start), np.array(self.end)
        spacing = 2.0 * math.sqrt((self.radius + excess) ** 2 - self.radius**2)
        count = max(1, math.ceil(float(np.linalg.norm(b - a)) / spacing))
        radius = math.hypot(self.radius, float(np.linalg.norm(b - a)) / (2 * count))
        return [(*(a + share * (b - a)).tolist(), radius) for share in np.linspace(0.0, 1.0, count + 1)]


GROUP = 6  # points that are placed in one product


class SerialArm:
    """A chain of revolute joints in the parameters of Denavit and Hartenberg, in Craig's convention.

    `links` (nq, 3): a [m], d [m], alpha [rad] of each joint; `tip` is point 0 in the frame of the last link.
    """

    def __init__(
        self,
        links: Sequence[tuple[float, float, float]],
        rods: Sequence[Rod],
        tip: tuple[float, float, float],
        excess: float = 0.008,
    ) -> None:
        self._fixed, self._cosine, self._sine = _link_matrices(links)
        last = len(links) - 1
        balls = [(last, (*tip, 0.0))] + [(rod.link, ball) for rod in rods for ball in rod.spheres(excess)]
        groups = _grouped(balls)
        self._group_link = np.array([link for link, _ in groups])
        table = np.array([group for _, group in groups])  # (G, GROUP, 4)
        self._local = np.concatenate([table[..., :3], np.ones((len(groups), GROUP, 1))], axis=2).transpose(0, 2, 1)
        self.radii: Array = table[..., 3].ravel()
        self._moved_by = np.repeat(self._group_link, GROUP)[:, None] >= np.arange(len(links))  # (S, nq)
        self.reach = _reach(links, table)
        self.bend: Array = np.minimum.outer(self.reach, self.reach)

    def place(self, qpos: Array) -> PlacedArm:
        """The arm at joint positions (n, nq) [rad]."""
        frames = (
            self._fixed + np.cos(qpos)[:, :, None, None] * self._cosine + np.sin(qpos)[:, :, None, None] * self._sine
        )
        for joint in range(1, frames.shape[1]):
            np.matmul(frames[:, joint - 1], frames[:, joint].copy(), out=frames[:, joint])
        placed = frames[:, self._group_link, :3] @ self._local  # (n, G, 3, GROUP)
        return PlacedArm(placed.transpose(2, 0, 1, 3).reshape(3, len(qpos), -1), frames, self._moved_by)


@dataclass(frozen=True)
class PlacedArm:
    """`points` (3, n, S) [m]; `frames` (n, nq, 4, 4) of the links."""

    points: Array
    frames: Array
    moved_by: NDArray[np.bool_]

    def slopes(self, posture: Indices, point: Indices, normals: Array) -> Array:
        axes, origins = self.frames[posture, :, :3, 2], self.frames[posture, :, :3, 3]
        lever = self.points[:, posture, point].T[:, None, :] - origins
        # axis x lever . normal, written out: np.cross costs more than all the rest.
        x, y, z = lever[..., 0], lever[..., 1], lever[..., 2]
        nx, ny, nz = normals[:, 0, None], normals[:, 1, None], normals[:, 2, None]
        slopes: Array = axes[..., 0] * (y * nz - z * ny) + axes[..., 1] * (z * nx - x * nz)
        slopes += axes[..., 2] * (x * ny - y * nx)
        slopes *= self.moved_by[point]
        return slopes


class FlatBase:
    """Three joints: x, y [m] and yaw [rad] of an upright cylinder that stands on the floor."""

    def __init__(self, radius: float, height: float, layers: int = 2) -> None:
        half = height / (2 * layers)
        self._heights = np.array([0.0, *(half * (2 * k + 1) for k in range(layers))])
        self.radii: Array = np.array([0.0] + [math.hypot(radius, half)] * layers)
        # All points lie on the axis about which it turns.
        self.reach, self.bend = np.array([1.0, 1.0, 0.0]), np.zeros((3, 3))

    def place(self, qpos: Array) -> PlacedPoints:
        """The base at x, y, yaw (n, 3)."""
        points = np.empty((3, len(qpos), len(self.radii)))
        points[:2] = qpos[:, :2].T[:, :, None]
        points[2] = self._heights
        return PlacedPoints(points, self.reach)


class Ball:
    """Three joints: x, y, z [m] of the middle of a ball, such as a drone that keeps level."""

    def __init__(self, radius: float) -> None:
        self.radii: Array = np.array([0.0, radius])
        self.reach, self.bend = np.ones(3), np.zeros((3, 3))

    def place(self, qpos: Array) -> PlacedPoints:
        """The ball at x, y, z (n, 3)."""
        return PlacedPoints(np.repeat(qpos.T[:, :, None], 2, axis=2), self.reach)


@dataclass(frozen=True)
class PlacedPoints:
    """`points` (3, n, S) [m] that joint k moves along axis k where `moves[k]` is 1, and not at all where it is 0."""

    points: Array
    moves: Array

    def slopes(self, posture: Indices, point: Indices, normals: Array) -> Array:
        return normals * self.moves


def _link_matrices(links: Sequence[tuple[float, float, float]]) -> tuple[Array, Array, Array]:
    """Each link's frame in the one before is fixed + cos(q) cosine + sin(q) sine, all (nq, 4, 4)."""
    fixed, cosine, sine = (np.zeros((len(links), 4, 4)) for _ in range(3))
    for k, (a, d, alpha) in enumerate(links):
        c, s = math.cos(alpha), math.sin(alpha)
        fixed[k, :, 2:] = [[0.0, a], [-s, -s * d], [c, c * d], [0.0, 1.0]]
        cosine[k, :3, :2] = [[1.0, 0.0], [0.0, c], [0.0, s]]
        sine[k, :3, :2] = [[0.0, -1.0], [c, 0.0], [s, 0.0]]
    return fixed, cosine, sine


Ball4 = tuple[float, float, float, float]  # x, y, z, radius


def _grouped(balls: list[tuple[int, Ball4]]) -> list[tuple[int, list[Ball4]]]:
    """Groups of `GROUP` balls of one link; short ones are filled up with their last ball. The order starts as given."""
    groups: list[tuple[int, list[Ball4]]] = []
    for link in dict.fromkeys(link for link, _ in balls):
        own = [ball for owner, ball in balls if owner == link]
        for k in range(0, len(own), GROUP):
            group = own[k : k + GROUP]
            groups.append((link, group + [group[-1]] * (GROUP - len(group))))
    return groups


def _reach(links: Sequence[tuple[float, float, float]], table: Array) -> Array:
    """How far a point can be from the axis of each joint (nq,) [m]; a second derivative has that of the outer joint."""
    reach = np.empty(len(links))
    beyond = float(np.linalg.norm(table[..., :3], axis=2).max())
    for k in reversed(range(len(links))):
        reach[k] = beyond
        a, d, _ = links[k]
        beyond += math.hypot(a, d)
    return reach

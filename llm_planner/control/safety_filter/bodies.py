"""Closed-form kinematics of robot bodies as sets of spheres: an arm, a mobile base, a drone.

Point 0 of every body has the radius 0. It lies between the fingertips or at the centre of a base, and speed limits and
`Subject.GRIPPER` refer to it. The other points are the centres of spheres that cover all moving parts.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from copy import copy
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from llm_planner.robots.motion import Array

Indices = NDArray[np.intp]


class Placed(Protocol):
    """Body at n postures."""

    @property
    def points(self) -> Array:
        """Centres of the spheres, (3, n, S) [m]."""

    def slopes(self, posture: Indices, point: Indices, normals: Array) -> Array:
        """Return the derivatives by each joint of `point` (m,) in `posture` (m,) along `normals` (m, 3): (m, nq)."""


class Body(Protocol):
    """Robot body of S spheres with `radii` (S,) [m].

    `reach` (S, nq) bounds the derivatives |dp / dq_i| [m/rad, m/m] of each point, `most` (nq,) those of all points, and
    `bend` (nq, nq) the second derivatives |d2 p / dq_i dq_j| [m].
    """

    @property
    def radii(self) -> Array: ...
    @property
    def reach(self) -> Array: ...
    @property
    def most(self) -> Array: ...
    @property
    def bend(self) -> Array: ...
    def place(self, qpos: Array) -> Placed:
        """Compute the body at joint positions (n, nq)."""

    def part(self, points: Indices) -> Body:
        """Return the body reduced to `points`."""


@dataclass(frozen=True)
class Rod:
    """Capsule fixed to a link, with its axis from `start` to `end` in the frame of the link, and its radius [m]."""

    link: int
    start: tuple[float, float, float]
    end: tuple[float, float, float]
    radius: float

    def spheres(self, excess: float) -> list[tuple[float, float, float, float]]:
        """Return x, y, z and radius of spheres that cover the capsule and protrude by at most `excess` [m]."""
        a, b = np.array(self.start), np.array(self.end)
        spacing, length = 2.0 * math.sqrt((self.radius + excess) ** 2 - self.radius**2), float(np.linalg.norm(b - a))
        count = math.ceil(length / spacing)  # 0 for a rod of zero length, which is a sphere
        radius = math.hypot(self.radius, length / (2 * max(1, count)))
        return [(*(a + share * (b - a)).tolist(), radius) for share in np.linspace(0.0, 1.0, count + 1)]


class SerialArm:
    """Serial arm of revolute joints, with capsules as links."""

    def __init__(
        self,
        frames: Sequence[Array],
        rods: Sequence[Rod],
        tip: tuple[float, float, float],
        excess: float = 0.008,
    ) -> None:
        """Create an arm from its kinematics and capsules.

        Args:
            frames: Frame (4, 4) of each joint at position 0, in that of the previous joint; it turns about its z axis.
            rods: Capsules that cover the moving parts.
            tip: Point 0 in the frame of the last link [m].
            excess: Largest protrusion of spheres from their capsules [m].
        """
        self._frames = _turning(frames)
        count = len(frames)
        last = count - 1
        balls = [(last, (*tip, 0.0))] + [(rod.link, ball) for rod in rods for ball in rod.spheres(excess)]
        link, local = np.array([link for link, _ in balls]), np.array([ball[:3] for _, ball in balls])
        self.radii: Array = np.array([ball[3] for _, ball in balls])
        self._moved_by = link[:, None] >= np.arange(count)  # (S, nq)
        # One product places all points: a column has the point's position in the rows of its link, and 0 elsewhere.
        table = np.zeros((count, 4, len(balls)))
        table[link, :3, np.arange(len(balls))], table[link, 3, np.arange(len(balls))] = local, 1.0
        self._table = table.reshape(4 * count, -1)
        self.reach = _reach(frames, link, local)
        self.most: Array = self.reach.max(axis=0)
        # The distance from the axis of the outer joint bounds a second derivative.
        self.bend: Array = np.array([[self.most[max(i, j)] for j in range(count)] for i in range(count)])

    def place(self, qpos: Array) -> PlacedArm:
        """Compute the arm at joint positions (n, nq) [rad]."""
        count, nq = qpos.shape
        turns = np.ones((nq, count, 3))
        turns[..., 1], turns[..., 2] = np.cos(qpos.T), np.sin(qpos.T)
        frames = (turns @ self._frames).reshape(nq, count, 4, 4)
        for joint in range(1, nq):
            frames[joint] = frames[joint - 1] @ frames[joint]
        rows = frames[:, :, :3].transpose(2, 1, 0, 3).reshape(3 * count, -1)
        return PlacedArm((rows @ self._table).reshape(3, len(qpos), -1), frames, self._moved_by)

    def part(self, points: Indices) -> SerialArm:
        """Return the arm reduced to `points`."""
        part = copy(self)
        part.radii, part.reach = self.radii[points], self.reach[points]
        part._moved_by, part._table = self._moved_by[points], self._table[:, points]
        return part


@dataclass(frozen=True)
class PlacedArm:
    """Arm at n postures: `points` (3, n, S) [m], link `frames` (nq, n, 4, 4), and the mask `moved_by` (S, nq)."""

    points: Array
    frames: Array
    moved_by: NDArray[np.bool_]

    def slopes(self, posture: Indices, point: Indices, normals: Array) -> Array:
        frames = self.frames[:, posture].swapaxes(0, 1)
        axes, origins = frames[..., :3, 2], frames[..., :3, 3]
        lever = self.points[:, posture, point].T[:, None, :] - origins
        # axis x lever . normal, written out because np.cross would dominate the run time.
        x, y, z = lever[..., 0], lever[..., 1], lever[..., 2]
        nx, ny, nz = normals[:, 0, None], normals[:, 1, None], normals[:, 2, None]
        slopes: Array = axes[..., 0] * (y * nz - z * ny) + axes[..., 1] * (z * nx - x * nz)
        slopes += axes[..., 2] * (x * ny - y * nx)
        slopes *= self.moved_by[point]
        return slopes


class FlatBase:
    """Mobile base with the joints x, y [m] and yaw [rad], as an upright cylinder on the floor."""

    def __init__(self, radius: float, height: float, layers: int = 2) -> None:
        half = height / (2 * layers)
        self._heights = np.array([0.0, *(half * (2 * k + 1) for k in range(layers))])
        self.radii: Array = np.array([0.0] + [math.hypot(radius, half)] * layers)
        # All points lie on the yaw axis.
        self.most, self.bend = np.array([1.0, 1.0, 0.0]), np.zeros((3, 3))
        self.reach: Array = np.tile(self.most, (len(self.radii), 1))

    def place(self, qpos: Array) -> PlacedPoints:
        """Compute the base at x, y, yaw (n, 3)."""
        points = np.empty((3, len(qpos), len(self.radii)))
        points[:2] = qpos[:, :2].T[:, :, None]
        points[2] = self._heights
        return PlacedPoints(points, self.most)

    def part(self, points: Indices) -> FlatBase:
        """Return the base reduced to `points`."""
        part = copy(self)
        part._heights, part.radii, part.reach = self._heights[points], self.radii[points], self.reach[points]
        return part


class Ball:
    """Ball with its centre's x, y, z [m] as joints, such as a drone that stays level."""

    def __init__(self, radius: float) -> None:
        self.radii: Array = np.array([0.0, radius])
        self.most, self.bend = np.ones(3), np.zeros((3, 3))
        self.reach: Array = np.ones((2, 3))

    def place(self, qpos: Array) -> PlacedPoints:
        """Compute the ball at x, y, z (n, 3)."""
        return PlacedPoints(np.repeat(qpos.T[:, :, None], len(self.radii), axis=2), self.most)

    def part(self, points: Indices) -> Ball:
        """Return the ball reduced to `points`."""
        part = copy(self)
        part.radii, part.reach = self.radii[points], self.reach[points]
        return part


@dataclass(frozen=True)
class PlacedPoints:
    """Points (3, n, S) [m] that joint k moves along axis k if `moves[k]` is 1, and not at all if it is 0."""

    points: Array
    moves: Array

    def slopes(self, posture: Indices, point: Indices, normals: Array) -> Array:
        return normals * self.moves


def craig(links: Sequence[tuple[float, float, float]]) -> list[Array]:
    """Return the joint frames of Denavit-Hartenberg parameters a [m], d [m], alpha [rad] in Craig's convention."""
    return [
        np.array(
            [
                [1.0, 0.0, 0.0, a],
                [0.0, math.cos(alpha), -math.sin(alpha), -math.sin(alpha) * d],
                [0.0, math.sin(alpha), math.cos(alpha), math.cos(alpha) * d],
                [0.0, 0.0, 0.0, 1.0],
            ]
        )
        for a, d, alpha in links
    ]


def _turning(frames: Sequence[Array]) -> Array:
    """Return matrices (nq, 3, 16) whose products with (1, cos q, sin q) are each link's frame in the previous one."""
    parts = np.zeros((3, 4, 4))
    parts[0, 2, 2] = parts[0, 3, 3] = parts[1, 0, 0] = parts[1, 1, 1] = parts[2, 1, 0] = 1.0
    parts[2, 0, 1] = -1.0
    turning: Array = np.array([frame @ parts for frame in frames]).reshape(len(frames), 3, 16)
    return turning


def _reach(frames: Sequence[Array], link: Indices, local: Array) -> Array:
    """Bound the distances (S, nq) [m] of points at `local` (S, 3) in the frames of `link` (S,) from all joint axes."""
    lengths = np.cumsum([float(np.linalg.norm(frame[:3, 3])) for frame in frames])
    reach: Array = np.linalg.norm(local, axis=1)[:, None] + lengths[link][:, None] - lengths
    # A joint turns about the z axis of its own link.
    reach[np.arange(len(link)), link] = np.hypot(local[:, 0], local[:, 1])
    reach[link[:, None] < np.arange(len(frames))] = 0.0
    return reach

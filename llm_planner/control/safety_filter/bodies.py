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

from llm_planner.control.safety_filter import kernel
from llm_planner.robots.motion import Array

Indices = NDArray[np.intp]
TURNS_ONLY = 0.01  # [m] a rod on the first link that lies nearer to the joint's axis only turns about itself
NO_PAIRS: tuple[Indices, Indices] = np.zeros(0, np.intp), np.zeros(0, np.intp)


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
    @property
    def travels(self) -> Indices:
        """Points with a radius that zones bind."""

    @property
    def pairs(self) -> tuple[Indices, Indices]:
        """Inner and outer points, (P,) each, of the pairs that must stay apart; joints of the inner move both."""

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
        carried: Sequence[Rod] = (),
        home: Array | None = None,
        close: float = 0.0,
    ) -> None:
        """Create an arm from its kinematics and capsules.

        Args:
            frames: Frame (4, 4) of each joint at position 0, in that of the previous joint; it turns about its z axis.
            rods: Capsules that cover the arm; link -1 is the base.
            tip: Point 0 in the frame of the last link [m].
            excess: Largest protrusion of spheres from their capsules [m].
            carried: Capsules of what the hand holds, which may touch the arm.
            home: Joint positions, (nq,) [rad]: two links that are not neighbours, and whose capsules are more than
                `close` apart there, must stay apart.
            close: That gap [m]; capsules that are fitted automatically protrude beyond their links.
        """
        self._joints = np.array([frame[:3].ravel() for frame in frames])
        count = len(frames)
        last = count - 1
        balls = [(rod.link, ball, _travels(rod)) for rod in (*rods, *carried) for ball in rod.spheres(excess)]
        balls.insert(0, (last, (*tip, 0.0), False))
        link, local = np.array([link for link, *_ in balls]), np.array([ball[:3] for _, ball, _ in balls])
        self._link, self._local = link, local
        self.radii: Array = np.array([ball[3] for _, ball, _ in balls])
        self.travels: Indices = np.flatnonzero([travels for *_, travels in balls])
        self.reach = _reach(frames, link, local)
        self.pairs = NO_PAIRS
        if home is not None:
            own = np.arange(1, 1 + sum(len(rod.spheres(excess)) for rod in rods))
            placed = self.place(home[None]).points[:, 0, own].T
            self.pairs = _apart(own, link[own], placed, self.radii[own], close)
        self.most: Array = self.reach.max(axis=0)
        # The distance from the axis of the outer joint bounds a second derivative.
        self.bend: Array = np.array([[self.most[max(i, j)] for j in range(count)] for i in range(count)])

    def place(self, qpos: Array) -> PlacedArm:
        """Compute the arm at joint positions (n, nq) [rad]."""
        n, nq = qpos.shape
        frames, points = np.empty((n, nq, 12)), np.empty((3, n, len(self.radii)))
        kernel.place(np.ascontiguousarray(qpos), self._joints, self._link, self._local, frames, points)
        return PlacedArm(points, frames, self._link)

    def part(self, points: Indices) -> SerialArm:
        """Return the arm reduced to `points`."""
        part = copy(self)
        part.radii, part.reach = self.radii[points], self.reach[points]
        part._link, part._local = self._link[points], self._local[points]
        return part


@dataclass(frozen=True)
class PlacedArm:
    """Arm at n postures: `points` (3, n, S) [m], `frames` (n, nq, 12) of links, and the `link` (S,) of each point."""

    points: Array
    frames: Array
    link: Indices

    def slopes(self, posture: Indices, point: Indices, normals: Array) -> Array:
        slopes = np.empty((len(posture), self.frames.shape[1]))
        posture, point = np.ascontiguousarray(posture), np.ascontiguousarray(point)
        kernel.slopes(self.frames, self.points, self.link, posture, point, np.ascontiguousarray(normals), slopes)
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
        self.travels: Indices = np.arange(1, len(self.radii))
        self.pairs = NO_PAIRS

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
        self.travels: Indices = np.arange(1, 2)
        self.pairs = NO_PAIRS

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


def _travels(rod: Rod) -> bool:
    """Return whether a rod does more than turn about the first joint's axis."""
    return rod.link > 0 or (rod.link == 0 and max(math.hypot(*end[:2]) for end in (rod.start, rod.end)) > TURNS_ONLY)


def _apart(points: Indices, link: Indices, centres: Array, radii: Array, close: float) -> tuple[Indices, Indices]:
    """Return the pairs of `points` (S,) on links that are neither neighbours nor within `close` at `centres` (S, 3)."""
    gaps = np.linalg.norm(centres[:, None] - centres, axis=2) - radii[:, None] - radii
    kept = link[:, None] < link - 1
    for one, other in set(zip(*(link[index].tolist() for index in np.nonzero(kept & (gaps <= close))), strict=True)):
        kept &= (link[:, None] != one) | (link != other)
    inner, outer = np.nonzero(kept)
    return points[inner], points[outer]


def _reach(frames: Sequence[Array], link: Indices, local: Array) -> Array:
    """Bound the distances (S, nq) [m] of points at `local` (S, 3) in the frames of `link` (S,) from all joint axes."""
    lengths = np.cumsum([float(np.linalg.norm(frame[:3, 3])) for frame in frames])
    reach: Array = np.linalg.norm(local, axis=1)[:, None] + lengths[link][:, None] - lengths
    # A joint turns about the z axis of its own link.
    own = link >= 0
    reach[own, link[own]] = np.hypot(local[own, 0], local[own, 1])
    reach[link[:, None] < np.arange(len(frames))] = 0.0
    return reach

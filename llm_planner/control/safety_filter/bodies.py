"""Closed-form kinematics of robot bodies as sets of spheres: an arm, a mobile base, a drone.

Point 0 of every body has the radius 0. It lies between the fingertips or at the centre of a base, and speed limits and
`Subject.GRIPPER` refer to it. The other points are the centres of spheres that cover all moving parts.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from llm_planner.control.safety_filter import kernel
from llm_planner.robots.motion import Array

Indices = NDArray[np.intp]
TURNS_ONLY = 0.01  # [m] a rod on the first link that lies nearer to the joint's axis only turns about itself
NO_PAIRS: tuple[Indices, Indices] = np.zeros(0, np.intp), np.zeros(0, np.intp)


@dataclass(frozen=True)
class Placed:
    """Body at n postures: `points` (3, n, S) [m], and `frames` (n, nq, 12) of its joints, as `kernel` places them."""

    body: Body
    points: Array
    frames: Array

    def slopes(self, posture: Indices, point: Indices, normals: Array) -> Array:
        """Return the derivatives by each joint of `point` (m,) in `posture` (m,) along `normals` (m, 3): (m, nq)."""
        slopes = np.empty((len(posture), self.frames.shape[1]))
        indices = np.ascontiguousarray(posture), np.ascontiguousarray(point)
        body, normals = self.body, np.ascontiguousarray(normals)
        kernel.slopes(self.frames, self.points, body.slides, body.link, *indices, normals, slopes)
        return slopes


class Body:
    """Robot body of S spheres on a chain of joints that turn about, or slide along, the z axes of their frames.

    Attributes:
        joints: First three rows of the frame of each joint at position 0, in that of the previous joint, (nq, 12).
        slides: 1 for a joint that slides, 0 for one that turns, (nq,).
        link: Joint that moves each point, or -1, (S,).
        local: Points in the frames of their links, (S, 3) [m].
        radii: Radii of the spheres, (S,) [m].
        reach: Bounds on the derivatives |dp / dq_i| of each point, (S, nq) [m/rad, m/m].
        most: Bounds on those of all points, (nq,).
        bend: Bounds on the second derivatives |d2 p / dq_i dq_j|, (nq, nq) [m].
        travels: Points with a radius that zones bind.
        pairs: Inner and outer points, (P,) each, of the pairs that must stay apart; joints of the inner move both.
    """

    joints: Array
    slides: Indices
    link: Indices
    local: Array
    radii: Array
    reach: Array
    most: Array
    bend: Array
    travels: Indices
    pairs = NO_PAIRS

    def place(self, qpos: Array) -> Placed:
        """Compute the body at joint positions (n, nq)."""
        frames, points = np.empty((*qpos.shape, 12)), np.empty((3, len(qpos), len(self.radii)))
        kernel.place(np.ascontiguousarray(qpos), self.joints, self.slides, self.link, self.local, frames, points)
        return Placed(self, points, frames)


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


class SerialArm(Body):
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
        self.joints = np.array([frame[:3].ravel() for frame in frames])
        self.slides = np.zeros(len(frames), dtype=np.intp)
        count = len(frames)
        last = count - 1
        balls = [(rod.link, ball, _travels(rod)) for rod in (*rods, *carried) for ball in rod.spheres(excess)]
        balls.insert(0, (last, (*tip, 0.0), False))
        link, local = np.array([link for link, *_ in balls]), np.array([ball[:3] for _, ball, _ in balls])
        self.link, self.local = link, local
        self.radii = np.array([ball[3] for _, ball, _ in balls])
        self.travels = np.flatnonzero([travels for *_, travels in balls])
        self.reach = _reach(frames, link, local)
        if home is not None:
            own = np.arange(1, 1 + sum(len(rod.spheres(excess)) for rod in rods))
            placed = self.place(home[None]).points[:, 0, own].T
            self.pairs = _apart(own, link[own], placed, self.radii[own], close)
        self.most = self.reach.max(axis=0)
        # The distance from the axis of the outer joint bounds a second derivative.
        self.bend = np.array([[self.most[max(i, j)] for j in range(count)] for i in range(count)])


# Rotation that turns the z axis to the x axis, x to y, and y to z.
_NEXT_AXIS = np.array([[0.0, 0.0, 1.0, 0.0], [1.0, 0.0, 0.0, 0.0], [0.0, 1.0, 0.0, 0.0]]).ravel()


class FlatBase(Body):
    """Mobile base with the joints x, y [m] and yaw [rad], as an upright cylinder on the floor."""

    def __init__(self, radius: float, height: float, layers: int = 2) -> None:
        half = height / (2 * layers)
        heights = np.array([0.0, *(half * (2 * k + 1) for k in range(layers))])
        self.joints, self.slides = np.tile(_NEXT_AXIS, (3, 1)), np.array([1, 1, 0], dtype=np.intp)
        self.link, self.local = np.full(len(heights), 2), heights[:, None] * (0.0, 0.0, 1.0)
        self.radii = np.array([0.0] + [math.hypot(radius, half)] * layers)
        # All points lie on the yaw axis.
        self.most, self.bend = np.array([1.0, 1.0, 0.0]), np.zeros((3, 3))
        self.reach = np.tile(self.most, (len(heights), 1))
        self.travels = np.arange(1, len(heights))


class Ball(Body):
    """Ball with its centre's x, y, z [m] as joints, such as a drone that stays level."""

    def __init__(self, radius: float) -> None:
        self.joints, self.slides = np.tile(_NEXT_AXIS, (3, 1)), np.ones(3, dtype=np.intp)
        self.link, self.local = np.full(2, 2), np.zeros((2, 3))
        self.radii = np.array([0.0, radius])
        self.most, self.bend = np.ones(3), np.zeros((3, 3))
        self.reach = np.ones((2, 3))
        self.travels = np.arange(1, 2)


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

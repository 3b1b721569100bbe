"""Closed-form signed distances of a body from zones and from itself, vectorised over all gaps that must stay open.

Every zone is a rounded box in its own frame: a sphere is a rounded point, a capsule a rounded line, and a cylinder a
box in the plane of its axis and the point. The distance of two points of the body is that of their difference from a
zone of size 0 at the origin. A signed distance is convex in the point, inside as well, so that it never falls below its
tangents.
"""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from dataclasses import dataclass

import numpy as np

from llm_planner.control.safety_filter import kernel
from llm_planner.control.safety_filter.bodies import Body, Indices, Placed
from llm_planner.robots.motion import Array
from llm_planner.scene.zones import Shape, Subject, Zone

ITSELF = "the robot itself"  # what the second point of a gap belongs to


class Gaps:
    """The M gaps of a body: each of its points from each zone that binds it, and the pairs of its own points.

    Zones for `Subject.GRIPPER` bind only point 0, others all points that travel.

    Attributes:
        zones: The zones in the order given.
        reach: Bounds on the derivatives of each gap by each joint, (M, nq) [m/rad, m/m].
        weights: Number of moving points in each gap, (M,); what displaces points displaces a gap that often.
    """

    def __init__(self, zones: Sequence[Zone], body: Body) -> None:
        self.zones = tuple(zones)
        self._names = (*(zone.name for zone in zones), ITSELF)
        self._solids = np.array([*(_solid(zone) for zone in zones), (*np.eye(3).flat, *[0.0] * 7)])
        inner, outer = body.pairs
        bound = [np.zeros(1, np.intp) if zone.subject is Subject.GRIPPER else body.travels for zone in zones]
        solid = np.repeat(np.arange(len(zones) + 1), [*map(len, bound), len(inner)])
        point = np.concatenate([*bound, outer])
        other = np.concatenate([*(np.full(len(points), -1) for points in bound), inner])
        self._gaps = np.ascontiguousarray(np.column_stack((solid, point, other)))
        self._kept = body.radii[point] + np.array([*map(_rounding, zones), 0.0])[solid]
        self._kept[other >= 0] += body.radii[inner]
        self.weights = np.where(other >= 0, 2.0, 1.0)
        self.reach = body.reach[point]
        # A joint that moves both points of a pair does not change their distance.
        self.reach[other >= 0] *= body.reach[inner] == 0.0

    def __len__(self) -> int:
        return len(self._gaps)

    def part(self, kept: Indices) -> tuple[Gaps, Indices]:
        """Return only the gaps `kept`, and the points of the body to which they refer."""
        part = copy(self)
        part._gaps, part._kept = self._gaps[kept], self._kept[kept]
        part.weights, part.reach = self.weights[kept], self.reach[kept]
        refers = part._gaps[:, 1:]
        points = np.unique(np.append(refers[refers >= 0], 0))
        refers[:] = np.where(refers >= 0, np.searchsorted(points, refers), -1)
        return part, points

    def widened(self, margin: float) -> Gaps:
        """Return the gaps with all clearances increased by `margin` [m] for each moving point."""
        wider = copy(self)
        wider._kept = self._kept + margin * self.weights
        return wider

    def names(self, gap: Indices) -> list[str]:
        """Return the names of the zones on the other sides of `gap` (m,), or `ITSELF`."""
        return [self._names[solid] for solid in self._gaps[gap, 0].tolist()]

    def clearances(self, points: Array) -> Clearances:
        """Compute the clearances for points of the body (3, n, S) [m]."""
        shape = len(self._gaps), points.shape[1]
        values, ways, normals = np.empty(shape), np.empty((*shape, 3)), np.empty((*shape, 3))
        kernel.clearances(points, self._solids, self._gaps, self._kept, values, ways, normals)
        return Clearances(values, ways, normals, self)

    def slopes(self, placed: Placed, clearances: Clearances, gap: Indices, posture: Indices) -> Array:
        """Compute the derivatives (m, nq) of the clearances of `gap` (m,) in `posture` (m,) by each joint."""
        normals = clearances.normals[gap, posture]
        slopes = placed.slopes(posture, self._gaps[gap, 1], normals)
        if self._gaps[-1, 2] >= 0:
            other = self._gaps[gap, 2]
            both = np.flatnonzero(other >= 0)
            slopes[both] -= placed.slopes(posture[both], other[both], normals[both])
        return slopes


@dataclass(frozen=True)
class Clearances:
    """Clearances of gaps at n postures.

    Attributes:
        values: Clearances, negative in a violation, (M, n) [m].
        ways: Vectors from the centre of the zone, or from the other point, to the point of the body, (M, n, 3) [m].
        normals: Gradients of the clearances by the point of the body, (M, n, 3).
        gaps: The gaps.
    """

    values: Array
    ways: Array
    normals: Array
    gaps: Gaps

    def lowest(self, between: Array, shrinks: float) -> tuple[float, str]:
        """Bound all clearances from below along a path through the first postures.

        Args:
            between: Deviation of the body's points from their chords in each step of the path, (m,) [m].
            shrinks: How much a clearance that is violated at the start may shrink [m].

        Returns:
            Bound [m], and the name of what violates a clearance, or makes a violated one smaller; "" if nothing does.
        """
        bound, lost = kernel.lowest(self.values, self.ways, self.normals, self.gaps.weights, between, shrinks)
        return bound, "" if lost < 0 else self.gaps.names(np.array([lost]))[0]


_FAR = 1e6  # [m] half size of a cylinder in the unused direction


def _solid(zone: Zone) -> tuple[float, ...]:
    """Return the rotation (3, 3), centre and half sides of the box of a zone, and 1 for a cylinder."""
    halves = {
        Shape.BOX: zone.size,
        Shape.CYLINDER: (zone.size[0], _FAR, zone.size[-1]),
        Shape.CAPSULE: (0.0, 0.0, zone.size[-1]),
        Shape.SPHERE: (0.0, 0.0, 0.0),
    }[zone.shape]
    is_cylinder = float(zone.shape is Shape.CYLINDER)
    return *rotation(zone.pose.orientation).flat, *zone.pose.position, *halves, is_cylinder


def _rounding(zone: Zone) -> float:
    """Return the distance from its box that a zone claims [m]."""
    return zone.clearance + (zone.size[0] if zone.shape in (Shape.SPHERE, Shape.CAPSULE) else 0.0)


def rotation(quaternion: tuple[float, float, float, float]) -> Array:
    """Convert a quaternion (x, y, z, w), which need not be normalised, to a rotation matrix (3, 3)."""
    x, y, z, w = np.array(quaternion) / np.linalg.norm(quaternion)
    return np.array(
        [
            [1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w)],
            [2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w)],
            [2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)],
        ]
    )


@dataclass(frozen=True)
class Surroundings:
    """Body and its gaps, which refer to the points of `body` in their order."""

    body: Body
    gaps: Gaps

    def near(self, qpos: Array, way: Array, more: float) -> Surroundings:
        """Reduce to point 0 and the gaps that can close to `more` [m] while joints move by `way` (nq,) from `qpos`."""
        clearances = self.gaps.clearances(self.body.place(qpos[None]).points).values[:, 0]
        gaps, points = self.gaps.part(np.flatnonzero(clearances < self.gaps.reach @ way + more * self.gaps.weights))
        return Surroundings(self.body.part(points), gaps)

    def clearance(self, qpos: Array) -> float:
        """Return the smallest clearance at joint positions (n, nq) or (nq,) [m]; infinity without gaps."""
        values = self.gaps.clearances(self.body.place(np.atleast_2d(qpos)).points).values
        return float(values.min(initial=np.inf))


def surroundings(body: Body, zones: Sequence[Zone]) -> Surroundings:
    """Combine `body` and all `zones`."""
    return Surroundings(body, Gaps(zones, body))


def zone_clearance(body: Body, zone: Zone, qpos: Array) -> float:
    """Return the smallest clearance of `body` from a zone at joint positions (nq,) [m]; its own links do not count."""
    gaps = Gaps([zone], body)
    values = gaps.clearances(body.place(qpos[None]).points).values
    return float(values[: len(gaps) - len(body.pairs[0])].min(initial=np.inf))

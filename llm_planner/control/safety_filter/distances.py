"""Closed-form signed distances of a body from zones and from itself, vectorised over all gaps that must stay open.

Every zone is a rounded box in its own frame: a sphere is a rounded point, a capsule a rounded line, and a cylinder a
box in the plane of its axis and the point. The distance of two points of the body is that of their difference from a
zone of size 0 at the origin. A signed distance is convex in the point, inside as well, so that it never falls below its
tangents.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from llm_planner.control.safety_filter import kernel
from llm_planner.control.safety_filter.bodies import NO_PAIRS, Body, Indices
from llm_planner.robots.motion import Array
from llm_planner.scene.zones import Shape, Subject, Zone

ITSELF = "the robot itself"  # what the second point of a gap belongs to


class Gaps:
    """The M gaps of a body: each of its points from each zone that binds it, and `pairs` of its own points.

    Zones for `Subject.GRIPPER` bind only point 0, others all points that travel.

    Attributes:
        names: What is on the other side, by the number of its solid: zones in the order given, then `ITSELF`.
        solids: The solids, as `kernel` reads them, (Z, 16).
        between: Solid, point, and second point or -1 of each gap, (M, 3).
        kept: What is subtracted from distances, (M,) [m].
        weights: Number of moving points in each gap, (M,); what displaces points displaces a gap that often.
        reach: Bounds on the derivatives of each gap by each joint, (M, nq) [m/rad, m/m].
    """

    def __init__(self, zones: Sequence[Zone], body: Body, pairs: tuple[Indices, Indices]) -> None:
        self.names = (*(zone.name for zone in zones), ITSELF)
        self.solids = np.array([*(_solid(zone) for zone in zones), (*np.eye(3).flat, *[0.0] * 7)])
        inner, outer = pairs
        bound = [np.zeros(1, np.intp) if zone.subject is Subject.GRIPPER else body.travels for zone in zones]
        solid = np.repeat(np.arange(len(zones) + 1), [*map(len, bound), len(inner)])
        point = np.concatenate([*bound, outer])
        other = np.concatenate([*(np.full(len(points), -1) for points in bound), inner])
        self.between = np.ascontiguousarray(np.column_stack((solid, point, other)))
        self.kept = body.radii[point] + np.array([*map(_rounding, zones), 0.0])[solid]
        self.kept[other >= 0] += body.radii[inner]
        self.weights = np.where(other >= 0, 2.0, 1.0)
        self.reach = body.reach[point]
        # A joint that moves both points of a pair does not change their distance.
        self.reach[other >= 0] *= body.reach[inner] == 0.0

    def clearances(self, points: Array) -> tuple[Array, Array]:
        """Compute the clearances for points of the body (3, n, S) [m].

        Returns:
            Clearances, negative in a violation, (M, n) [m]; and their gradients by the point of the body, (M, n, 3).
        """
        shape = len(self.between), points.shape[1]
        values, normals = np.empty(shape), np.empty((*shape, 3))
        kernel.clearances(points, self.solids, self.between, self.kept, values, normals)
        return values, normals


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
    """A body and its gaps, compiled as `model`, from `zones`; `names` is that of `Gaps`."""

    body: Body
    zones: tuple[Zone, ...]
    names: tuple[str, ...]
    model: kernel.Model

    def __len__(self) -> int:
        return len(self.model)

    def near(self, qpos: Array, way: Array, more: float) -> Surroundings:
        """Reduce to point 0 and the gaps that can close to `more` [m] while joints move by `way` (nq,) from `qpos`."""
        return replace(self, model=self.model.near(qpos, way, more))

    def widened(self, margin: float) -> Surroundings:
        """Increase all clearances by `margin` [m] for each moving point."""
        return replace(self, model=self.model.widened(margin))

    def clearance(self, qpos: Array) -> float:
        """Return the smallest clearance at joint positions (n, nq) or (nq,) [m]; infinity without gaps."""
        return self.model.least(np.ascontiguousarray(np.atleast_2d(qpos)))

    def name(self, solid: int) -> str:
        """Return the name of what a gap's `solid` belongs to; "" for -1."""
        return self.names[solid] if solid >= 0 else ""


def surroundings(body: Body, zones: Sequence[Zone]) -> Surroundings:
    """Combine `body` and all `zones`."""
    return _surroundings(body, zones, body.pairs)


def zone_clearance(body: Body, zone: Zone, qpos: Array) -> float:
    """Return the smallest clearance of `body` from a zone at joint positions (nq,) [m]; its own links do not count."""
    return _surroundings(body, (zone,), NO_PAIRS).clearance(qpos)


def _surroundings(body: Body, zones: Sequence[Zone], pairs: tuple[Indices, Indices]) -> Surroundings:
    gaps = Gaps(zones, body, pairs)
    moving = body.joints, body.slides, body.link, body.local, body.bend, body.most
    kept = gaps.solids, gaps.between, gaps.kept, gaps.weights, gaps.reach
    return Surroundings(body, tuple(zones), gaps.names, kernel.Model(*moving, *kept))

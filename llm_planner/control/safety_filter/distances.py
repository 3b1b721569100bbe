"""Closed-form signed distances from points to zones, vectorised over all pairs.

Every zone is a rounded box in its own frame: a sphere is a rounded point, a capsule a rounded line, and a cylinder a
box in the plane of its axis and the point. The signed distance is convex in the point, inside as well, so that it
never falls below its tangents.
"""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from llm_planner.control.safety_filter.bodies import Body
from llm_planner.robots.motion import Array
from llm_planner.scene.zones import Shape, Subject, Zone

UNLIMITED = 1e6  # [m] clearance of a point that a zone does not bind; finite, so that differences are finite


class ZoneSet:
    """Zones for a body of spheres with `radii` (S,) [m]; zones for `Subject.GRIPPER` bind only point 0."""

    def __init__(self, zones: Sequence[Zone], radii: Array) -> None:
        self.zones = tuple(zones)
        self._rotations = np.array([rotation(zone.pose.orientation) for zone in zones]).reshape(-1, 3, 3)
        centers = np.array([zone.pose.position for zone in zones]).reshape(-1, 3, 1)
        self._to_local = np.ascontiguousarray(self._rotations.transpose(0, 2, 1))
        self._offsets = self._to_local @ centers
        self._halves = np.array([_halves(zone) for zone in zones]).reshape(-1, 3, 1)
        self._round = np.array([zone.shape is Shape.CYLINDER for zone in zones], dtype=bool)
        # Subtracted from the distance of a point; hugely negative if the zone does not bind the point.
        self._kept = np.array([_kept(zone, radii) for zone in zones]).reshape(-1, 1, len(radii))

    def __len__(self) -> int:
        return len(self.zones)

    def part(self, zone: NDArray[np.intp], point: NDArray[np.intp]) -> ZoneSet:
        """Return the set reduced to the zones `zone` and the points `point` of the body."""
        part = copy(self)
        part.zones = tuple(self.zones[index] for index in zone.tolist())
        part._rotations, part._to_local, part._offsets = (
            self._rotations[zone],
            self._to_local[zone],
            self._offsets[zone],
        )
        part._halves, part._round = self._halves[zone], self._round[zone]
        part._kept = self._kept[zone][:, :, point]
        return part

    def widened(self, margin: float) -> ZoneSet:
        """Return the set with all clearances increased by `margin` [m]."""
        wider = copy(self)
        wider._kept = self._kept + margin
        return wider

    def clearances(self, points: Array) -> Clearances:
        """Compute distances of points (3, n, S) [m] from the zones, less their radii and the zones' clearances."""
        local = self._to_local @ points.reshape(3, -1) - self._offsets  # (Z, 3, n S)
        beyond = np.abs(local)
        if self._round.any():
            beyond[self._round, 0] = np.hypot(local[self._round, 0], local[self._round, 1])
            beyond[self._round, 1] = 0.0
        beyond -= self._halves
        outside = np.maximum(beyond, 0.0)
        length = np.sqrt(np.einsum("zkn,zkn->zn", outside, outside))
        distance = length + np.minimum(beyond.max(axis=1), 0.0)
        shape = (len(self.zones), *points.shape[1:])
        return Clearances(distance.reshape(shape) - self._kept, local, beyond, outside, length, self)

    def normals(self, clearances: Clearances, zone: NDArray[np.intp], flat: NDArray[np.intp]) -> Array:
        """Compute the gradients (m, 3) of distances from `zone` (m,) for indices `flat` (m,) of the n x S points."""
        local, normal = clearances.local[zone, :, flat], clearances.outside[zone, :, flat]
        length = clearances.length[zone, flat]
        if not length.all():  # inside, the nearest face has the least depth
            inside = np.flatnonzero(length == 0.0)
            deepest = clearances.beyond[zone[inside], :, flat[inside]].argmax(axis=1)
            normal[inside, deepest], length[inside] = 1.0, 1.0
        normal /= length[:, None]
        round_ = np.flatnonzero(self._round[zone])
        if len(round_):
            across = np.hypot(local[round_, 0], local[round_, 1])
            # On the axis all radial directions are equivalent.
            turn = np.where(across > 0.0, local[round_, :2].T / np.where(across > 0.0, across, 1.0), [[1.0], [0.0]])
            local[round_, :2] = normal[round_, :2] = (turn * normal[round_, 0]).T
        turned: Array = np.einsum("mij,mj->mi", self._rotations[zone], np.copysign(normal, local))
        return turned


@dataclass(frozen=True)
class Clearances:
    """Clearances `values` (Z, n, S) [m], negative in a violation, huge where a zone does not bind a point.

    The other fields are intermediate results for the gradients.
    """

    values: Array
    local: Array
    beyond: Array
    outside: Array
    length: Array
    zones: ZoneSet

    @cached_property
    def nearest(self) -> Array:
        """Smallest clearance of each zone, (Z,) [m]."""
        smallest: Array = self.values.min(axis=(1, 2), initial=np.inf)
        return smallest

    def normals(self, zone: NDArray[np.intp], posture: NDArray[np.intp], point: NDArray[np.intp]) -> Array:
        """Compute the gradients (m, 3) of the clearances of `point` (m,) in `posture` (m,) from `zone` (m,)."""
        return self.zones.normals(self, zone, posture * self.values.shape[2] + point)


_FAR = 1e6  # [m] half size of a cylinder in the unused direction


def _halves(zone: Zone) -> tuple[float, float, float]:
    if zone.shape is Shape.BOX:
        return zone.size[0], zone.size[1], zone.size[2]
    if zone.shape is Shape.CYLINDER:
        return zone.size[0], _FAR, zone.size[1]
    return 0.0, 0.0, zone.size[1] if zone.shape is Shape.CAPSULE else 0.0


def _kept(zone: Zone, radii: Array) -> Array:
    rounding = zone.size[0] if zone.shape in (Shape.SPHERE, Shape.CAPSULE) else 0.0
    kept = radii + rounding + zone.clearance
    bound = np.zeros(len(radii), dtype=bool)
    bound[0] = True
    return np.where(bound if zone.subject is Subject.GRIPPER else ~bound, kept, -UNLIMITED)


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
    """Body and the zones around it; `zones` refers to the points of `body` in their order."""

    body: Body
    zones: ZoneSet

    def near(self, qpos: Array, way: Array) -> Surroundings:
        """Reduce to point 0 and all zones and points that can meet in motions of `way` (S,) [m] from `qpos` (nq,)."""
        close = self.zones.clearances(self.body.place(qpos[None]).points).values[:, 0] < way
        zone, point = np.flatnonzero(close.any(axis=1)), np.flatnonzero(close.any(axis=0))
        point = np.union1d(0, point)
        return Surroundings(self.body.part(point), self.zones.part(zone, point))


def surroundings(body: Body, zones: Sequence[Zone]) -> Surroundings:
    """Combine all of `body` and all `zones`."""
    return Surroundings(body, ZoneSet(zones, body.radii))

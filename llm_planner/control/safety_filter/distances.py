"""Signed distances from points to zones, in closed form, for all of them at once.

Every zone is a rounded box in its own frame: a sphere is one of no size, a capsule one that is a line, a cylinder one
in the plane of its axis and the point. Its signed distance is convex in the point, inside as well, so that a distance
never falls below its tangents.

A body among zones, and what of the two is near enough to each other to matter.
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

UNLIMITED = 1e6  # [m] the clearance of a point that a zone does not bind; finite, so that sums and differences are


class ZoneSet:
    """Zones that a body of spheres with `radii` (S,) [m] keeps out of; point 0 is the one that `GRIPPER` zones bind."""

    def __init__(self, zones: Sequence[Zone], radii: Array) -> None:
        self.zones = tuple(zones)
        self._rotations = np.array([rotation(zone.pose.orientation) for zone in zones]).reshape(-1, 3, 3)
        centers = np.array([zone.pose.position for zone in zones]).reshape(-1, 3, 1)
        self._to_local = np.ascontiguousarray(self._rotations.transpose(0, 2, 1))
        self._offsets = self._to_local @ centers
        self._halves = np.array([_halves(zone) for zone in zones]).reshape(-1, 3, 1)
        self._round = np.array([zone.shape is Shape.CYLINDER for zone in zones], dtype=bool)
        # What is taken off the distance of a point: so much that it never counts where the zone does not bind a point.
        self._kept = np.array([_kept(zone, radii) for zone in zones]).reshape(-1, 1, len(radii))

    def __len__(self) -> int:
        return len(self.zones)

    def part(self, zone: NDArray[np.intp], point: NDArray[np.intp]) -> ZoneSet:
        """Those zones, for a body of those points."""
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
        """The same zones, each asking for `margin` [m] more."""
        wider = copy(self)
        wider._kept = self._kept + margin
        return wider

    def clearances(self, points: Array) -> Clearances:
        """How far points (3, n, S) [m] keep from the zones beyond their radii and the zones' clearances."""
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
        """The directions (m, 3) in which points, by their place among the n S, leave their zones fastest."""
        local, normal = clearances.local[zone, :, flat], clearances.outside[zone, :, flat]
        length = clearances.length[zone, flat]
        if not length.all():  # inside, the nearest face is that of the least depth
            inside = np.flatnonzero(length == 0.0)
            deepest = clearances.beyond[zone[inside], :, flat[inside]].argmax(axis=1)
            normal[inside, deepest], length[inside] = 1.0, 1.0
        normal /= length[:, None]
        round_ = np.flatnonzero(self._round[zone])
        if len(round_):
            across = np.hypot(local[round_, 0], local[round_, 1])
            # Along the axis itself every way out is as short.
            turn = np.where(across > 0.0, local[round_, :2].T / np.where(across > 0.0, across, 1.0), [[1.0], [0.0]])
            local[round_, :2] = normal[round_, :2] = (turn * normal[round_, 0]).T
        turned: Array = np.einsum("mij,mj->mi", self._rotations[zone], np.copysign(normal, local))
        return turned


@dataclass(frozen=True)
class Clearances:
    """`values` (Z, n, S) [m], below 0 where a clearance is not kept, huge where a zone does not bind a point."""

    values: Array
    local: Array
    beyond: Array
    outside: Array
    length: Array
    zones: ZoneSet

    @cached_property
    def nearest(self) -> Array:
        """The smallest of each zone (Z,) [m]."""
        smallest: Array = self.values.min(axis=(1, 2), initial=np.inf)
        return smallest

    def normals(self, zone: NDArray[np.intp], posture: NDArray[np.intp], point: NDArray[np.intp]) -> Array:
        """The gradients (m, 3) of the clearances of `point` (m,) in `posture` (m,) from `zone` (m,)."""
        return self.zones.normals(self, zone, posture * self.values.shape[2] + point)


_FAR = 1e6  # [m] the half size of a cylinder in the direction in which it has none


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
    """The matrix of a quaternion x, y, z, w that is about a unit."""
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
    """`zones` are told of the points of `body`, in their order."""

    body: Body
    zones: ZoneSet

    def near(self, qpos: Array, way: Array) -> Surroundings:
        """What can meet when the points move by `way` (S,) [m] from joint positions (nq,) on; and point 0."""
        close = self.zones.clearances(self.body.place(qpos[None]).points).values[:, 0] < way
        zone, point = np.flatnonzero(close.any(axis=1)), np.flatnonzero(close.any(axis=0))
        point = np.union1d(0, point)
        return Surroundings(self.body.part(point), self.zones.part(zone, point))


def surroundings(body: Body, zones: Sequence[Zone]) -> Surroundings:
    """All of `body` and all `zones`."""
    return Surroundings(body, ZoneSet(zones, body.radii))

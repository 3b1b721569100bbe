"""Terms of reward programs, and the predicted object trajectories that they are measured on.

A term has a unit and a range and is measured on `Futures`, for all moments of all futures at once. Angles are in
degrees and lengths in metres.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from llm_planner.scene.geometry import ROUND_KINDS, rotation_matrix
from llm_planner.scene.places import DIRECTIONS, REGIONS
from llm_planner.scene.propositions import ROBOT
from llm_planner.scene.scene import Pose, Scene, Vector3

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Course:
    """Trajectories of one object in n futures at T moments, in the base or map frame.

    `position` is (n, T, 3) [m]; `rotation` holds rotation matrices (n, T, 3, 3).
    """

    position: Array
    rotation: Array

    @property
    def yaw(self) -> Array:
        """Angle of the object's x axis about the vertical (n, T) [rad], in (-pi, pi]."""
        return np.arctan2(self.rotation[..., 1, 0], self.rotation[..., 0, 0])


@dataclass(frozen=True)
class Outline:
    """Extent of an object: half the size of its box [m], and whether it is round about its z axis."""

    half: Vector3
    round: bool


POINT = Outline((0.0, 0.0, 0.0), True)


@dataclass(frozen=True)
class Start:
    """Scene at the start of a reward program, the reference of "moved", "progress" and angles.

    `angles` are the accumulated angles [rad] by (term, names); see `Tally`.
    """

    scene: Scene
    angles: Mapping[tuple[str, ...], float] = field(default_factory=dict)

    def position(self, name: str) -> Vector3:
        """Return the start position of an object or the robot [m]."""
        return pose_in(self.scene, name).position


@dataclass(frozen=True)
class Futures:
    """Predicted trajectories of all named objects, from the current moment on, in steps of `dt` [s]."""

    courses: Mapping[str, Course]
    outlines: Mapping[str, Outline]
    start: Start
    dt: float


def outlines_of(scene: Scene) -> dict[str, Outline]:
    """Return the outlines of all objects; the robot is the point between an arm's fingertips, or a base's centre."""
    outlines = {
        item.name: Outline((item.size[0] / 2, item.size[1] / 2, item.size[2] / 2), item.kind in ROUND_KINDS)
        for item in scene.objects
    }
    return {**outlines, ROBOT: POINT}


def still(scene: Scene, names: tuple[str, ...], start: Start) -> Futures:
    """Create one future of one moment: the scene unchanged."""
    return Futures({name: course_of(pose_in(scene, name)) for name in names}, outlines_of(scene), start, 1.0)


def course_of(pose: Pose, count: int = 1, moments: int = 1) -> Course:
    """Create the trajectories of an object that stays at `pose`, of shape (count, moments)."""
    position = np.broadcast_to(np.array(pose.position), (count, moments, 3))
    rotation = np.broadcast_to(np.array(rotation_matrix(pose.orientation)), (count, moments, 3, 3))
    return Course(position, rotation)


def pose_in(scene: Scene, name: str) -> Pose:
    """Return the pose of an object or the robot."""
    if name == ROBOT:
        assert scene.robot is not None  # the checker rejects "robot" otherwise
        return scene.robot
    item = scene.find(name)
    return Pose(item.position, item.orientation)


def wrapped(angles: Array) -> Array:
    """Wrap angles to [-pi, pi)."""
    turned: Array = (angles + math.pi) % (2 * math.pi) - math.pi
    return turned


Where = str | tuple[float, float]  # object, "robot", table region, or point [m]
Role = Literal["thing", "mover", "place", "direction"]


@dataclass(frozen=True)
class Term:
    """One term of the reward vocabulary.

    Attributes:
        roles: Roles of the arguments: a "thing" is an object, a "mover" also the robot, a "place" also a region or a
            point.
        minimum: Least valid target [`unit`].
        maximum: Greatest valid target [`unit`].
        scale: Error that counts as far off [`unit`].
        tolerance: Error that counts as reached [`unit`].
        measure: Function of the futures and each argument; returns the values (n, T).
    """

    name: str
    roles: tuple[Role, ...]
    unit: str
    minimum: float
    maximum: float
    scale: float
    tolerance: float
    meaning: str
    measure: Callable[..., Array]

    @property
    def usage(self) -> str:
        return f"{self.name}({', '.join('abc'[k] for k in range(len(self.roles)))})"


def _position(futures: Futures, where: Where) -> Array:
    """Return the positions (n, T, 2), or (2,) for a fixed place."""
    if isinstance(where, tuple):
        return np.array(where)
    if where in REGIONS:
        return np.array(futures.start.scene.region(where).anchor)
    return futures.courses[where].position[..., :2]


def _apart(futures: Futures, a: Where, b: Where) -> tuple[Array, Array]:
    """Return the vector from b to a in the plane (n, T, 2) and its length (n, T) [m]."""
    between = _position(futures, a) - _position(futures, b)
    return between, np.linalg.norm(between, axis=-1)


def _distance(futures: Futures, a: str, b: Where) -> Array:
    return _apart(futures, a, b)[1]


def _gap(futures: Futures, a: str, b: str) -> Array:
    between, apart = _apart(futures, a, b)
    unit = between / np.maximum(apart, 1e-6)[..., None]
    return np.maximum(apart - _extent(futures, a, unit) - _extent(futures, b, unit), 0.0)


def _extent(futures: Futures, name: str, unit: Array) -> Array:
    """Return the extent of an object from its centre along `unit` (n, T, 2) in the plane [m]."""
    outline, rotation = futures.outlines[name], futures.courses[name].rotation
    along = np.abs(np.einsum("...k,...kj->...j", unit, rotation[..., :2, :])) @ np.array(outline.half)
    upright = outline.round & (rotation[..., 2, 2] > 0.98)
    return np.where(upright, max(outline.half[:2]), along)


def _height(futures: Futures, a: str) -> Array:
    course = futures.courses[a]
    height: Array = course.position[..., 2] - np.abs(course.rotation[..., 2, :]) @ np.array(futures.outlines[a].half)
    return height


def _tilt(futures: Futures, a: str) -> Array:
    return np.degrees(np.arccos(np.clip(futures.courses[a].rotation[..., 2, 2], -1.0, 1.0)))


def _counted(futures: Futures, key: tuple[str, ...], angles: Array) -> Array:
    """Accumulate angles (n, T) without wrapping, starting at the count so far [deg]."""
    steps = np.cumsum(wrapped(np.diff(angles, axis=1)), axis=1)
    counted = np.concatenate([np.zeros((len(angles), 1)), steps], axis=1) + futures.start.angles.get(key, 0.0)
    return np.degrees(counted)


def bearing(futures: Futures, name: str, around: Where) -> Array:
    """Return the direction from a place to an object (n, T) [rad]."""
    between, _ = _apart(futures, name, around)
    return np.arctan2(between[..., 1], between[..., 0])


def _turned(futures: Futures, a: str) -> Array:
    return _counted(futures, ("turned", a), futures.courses[a].yaw)


def _circled(futures: Futures, a: str, b: Where) -> Array:
    return _counted(futures, ("circled", a, str(b)), bearing(futures, a, b))


def _facing(futures: Futures, a: str, b: Where) -> Array:
    return np.degrees(np.abs(wrapped(bearing(futures, a, b) + np.pi - futures.courses[a].yaw)))


def _off_line(futures: Futures, a: str, b: Where, c: Where) -> Array:
    point, first, second = (_position(futures, where) for where in (a, b, c))
    along = second - first
    unit = along / np.maximum(np.linalg.norm(along, axis=-1), 1e-6)[..., None]
    beside: Array = (point - first)[..., 0] * unit[..., 1] - (point - first)[..., 1] * unit[..., 0]
    return np.abs(beside)


def _moved(futures: Futures, a: str) -> Array:
    away: Array = np.linalg.norm(futures.courses[a].position - np.array(futures.start.position(a)), axis=-1)
    return away


def _progress(futures: Futures, a: str, direction: str) -> Array:
    away = futures.courses[a].position[..., :2] - np.array(futures.start.position(a)[:2])
    along: Array = away @ np.array(DIRECTIONS[direction])
    return along


def _speed(futures: Futures, a: str) -> Array:
    position = futures.courses[a].position
    if position.shape[1] < 2:
        return np.zeros(position.shape[:2])
    speeds = np.linalg.norm(np.diff(position, axis=1), axis=-1) / futures.dt
    return np.concatenate([speeds[:, :1], speeds], axis=1)


_TERMS = (
    Term("distance", ("mover", "place"), "m", 0.0, 30.0, 0.1, 0.015,
         "from the middle of a to the middle of b, or to a place, seen from above", _distance),
    Term("gap", ("mover", "thing"), "m", 0.0, 30.0, 0.1, 0.005,
         "between the sides of a and b, seen from above; 0 where they touch", _gap),
    Term("height", ("mover",), "m", 0.0, 1.0, 0.1, 0.015,
         "of the lowest point of a above the table; of the arm's robot: of the point between its fingertips", _height),
    Term("tilt", ("thing",), "deg", 0.0, 180.0, 45.0, 5.0,
         "of the axis of a that points up while it stands: 0 upright, 90 on its side", _tilt),
    Term("turned", ("mover",), "deg", -1080.0, 1080.0, 45.0, 6.0,
         "how far a has turned about the vertical since the start, counter-clockwise", _turned),
    Term("facing", ("mover", "place"), "deg", 0.0, 180.0, 45.0, 5.0,
         "between the front of a (a mug's handle, the robot's front) and the direction to b: 0 towards, 180 away",
         _facing),
    Term("circled", ("mover", "place"), "deg", -1080.0, 1080.0, 45.0, 10.0,
         "how far a has gone round b since the start, counter-clockwise", _circled),
    Term("off_line", ("mover", "place", "place"), "m", 0.0, 30.0, 0.1, 0.006,
         "from a to the straight line through b and c, seen from above", _off_line),
    Term("moved", ("mover",), "m", 0.0, 30.0, 0.1, 0.015, "from where a was at the start", _moved),
    Term("progress", ("mover", "direction"), "m", -30.0, 30.0, 0.1, 0.015,
         "how far a has come since the start in a direction: left (+y), right, top (+x) or bottom",
         _progress),
    Term("speed", ("mover",), "m/s", 0.0, 2.0, 0.1, 0.02, "of a", _speed),
)  # fmt: skip
TERMS: Mapping[str, Term] = {term.name: term for term in _TERMS}

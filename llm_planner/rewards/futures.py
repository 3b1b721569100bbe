"""What terms are measured on: where things are over time, in one future or in many at once."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from llm_planner.world.geometry import ROUND_KINDS, rotation_matrix
from llm_planner.world.propositions import ROBOT
from llm_planner.world.scene import Pose, Scene, Vector3

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Course:
    """One thing in n futures at T moments: `position` (n, T, 3) [m] and `rotation` (n, T, 3, 3), base or map frame."""

    position: Array
    rotation: Array

    @property
    def yaw(self) -> Array:
        """The angle of its x axis about the vertical (n, T) [rad], in (-pi, pi]."""
        return np.arctan2(self.rotation[..., 1, 0], self.rotation[..., 0, 0])


@dataclass(frozen=True)
class Outline:
    """The extent of a thing: half its box [m], and whether it is as wide whichever way it is turned about z."""

    half: Vector3
    round: bool


POINT = Outline((0.0, 0.0, 0.0), True)


@dataclass(frozen=True)
class Start:
    """The scene in which a reward program began: what "moved", "progress" and angles count from.

    `angles` are turns and rounds counted so far [rad], by (term, names); see `Tally`.
    """

    scene: Scene
    angles: Mapping[tuple[str, ...], float] = field(default_factory=dict)

    def position(self, name: str) -> Vector3:
        """Where a thing, or the robot, was [m]."""
        return pose_in(self.scene, name).position


@dataclass(frozen=True)
class Futures:
    """The courses of all things that are spoken of, the first moment being now; `dt` [s] apart."""

    courses: Mapping[str, Course]
    outlines: Mapping[str, Outline]
    start: Start
    dt: float

    def course(self, name: str) -> Course:
        return self.courses[name]


def outlines_of(scene: Scene) -> dict[str, Outline]:
    """Of everything in the scene; the robot's is the point between an arm's fingertips, or the middle of a base."""
    outlines = {
        item.name: Outline((item.size[0] / 2, item.size[1] / 2, item.size[2] / 2), item.kind in ROUND_KINDS)
        for item in scene.objects
    }
    return {**outlines, ROBOT: POINT}


def still(scene: Scene, names: tuple[str, ...], start: Start) -> Futures:
    """One future of one moment: the scene as it is."""
    return Futures({name: course_of(pose_in(scene, name)) for name in names}, outlines_of(scene), start, 1.0)


def course_of(pose: Pose, count: int = 1, moments: int = 1) -> Course:
    """A thing that stays where it is."""
    position = np.broadcast_to(np.array(pose.position), (count, moments, 3))
    rotation = np.broadcast_to(np.array(rotation_matrix(pose.orientation)), (count, moments, 3, 3))
    return Course(position, rotation)


def pose_in(scene: Scene, name: str) -> Pose:
    """Where a thing, or the robot, is."""
    if name == ROBOT:
        assert scene.robot is not None  # the checker has asked
        return scene.robot
    item = scene.find(name)
    return Pose(item.position, item.orientation)


def wrapped(angles: Array) -> Array:
    """The equal angles in [-pi, pi)."""
    turned: Array = (angles + math.pi) % (2 * math.pi) - math.pi
    return turned

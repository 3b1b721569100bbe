"""Perception of a table from detections: names of things, their places between detections, and what the hand holds.

A detector says what it sees in one picture. A scene needs more: the same name for the same thing, the place of a thing
that the arm hides for a while, and the object in the gripper, which moves with the hand.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import chain, count

import numpy as np
from scipy.optimize import linear_sum_assignment

from llm_planner.scene.geometry import compose, inverse
from llm_planner.scene.scene import Pose, SceneObject, Vector3
from llm_planner.simulation.objects import ALL_COLORS

STALLED = 0.002  # [m] by which fingers at rest are wider than commanded, if something is between them
STILL, AT_REST = 0.001, 0.2  # [m] by which their width may change for so long [s] at rest
OPENED, SLIPPED = 0.003, 0.005  # [m] by which the width grows or shrinks, when the held thing is released or lost
AROUND = 0.01  # [m] of the grip point outside a thing's box, at which the thing is still between the fingers


@dataclass(frozen=True)
class Detection:
    """Thing that a detector found.

    Attributes:
        label: Words for it, e.g. "red block"; a colour comes first, if there is one.
        pose: Pose of the centre of its bounding box [m, frame of the scene].
        size: Full extent of that box along its axes [m].
        track: Id by which the detector knows the thing again, "" for none.
    """

    label: str
    pose: Pose
    size: Vector3
    track: str = ""


@dataclass(eq=False)
class _Thing:
    name: str
    label: str
    pose: Pose
    size: Vector3
    seen: float  # [s]
    tracks: set[str] = field(default_factory=set)

    def take(self, detection: Detection, time: float) -> None:
        self.pose, self.size, self.seen = detection.pose, detection.size, time
        self.tracks |= {detection.track} - {""}

    @property
    def scene_object(self) -> SceneObject:
        first, _, rest = self.label.partition(" ")
        color, kind = (first, rest) if rest and first in ALL_COLORS else ("", self.label)
        return SceneObject(self.name, kind, color, self.pose.position, self.pose.orientation, self.size)

    def encloses(self, point: Vector3) -> bool:
        inside = compose(inverse(self.pose), Pose(point)).position
        return all(abs(at) <= side / 2 + AROUND for at, side in zip(inside, self.size, strict=True))


@dataclass(frozen=True)
class _Grasp:
    thing: _Thing
    T_hand_thing: Pose
    width: float  # [m] between the fingers


class DetectedTable:
    """Things on a table, by name, and the one in the hand.

    A detection belongs to the known thing with its track, otherwise to one with its label: those of one label are
    assigned such that the distances add up to the least. The first of a label is called by it ("red block"), others
    with a number ("red block 2").
    """

    def __init__(self, memory: float) -> None:
        """Forget a thing that was not detected for `memory` [s]."""
        self._memory = memory
        self._things: list[_Thing] = []
        self._grasp: _Grasp | None = None
        self._width, self._since = math.nan, math.inf  # [m] of the fingers, unchanged since [s]

    @property
    def held(self) -> str:
        """Name of the thing in the hand, "" for none."""
        return self._grasp.thing.name if self._grasp else ""

    @property
    def objects(self) -> tuple[SceneObject, ...]:
        """Known things, by age."""
        return tuple(thing.scene_object for thing in self._things)

    def see(self, detections: Sequence[Detection], time: float) -> None:
        """Update the things from all detections of one picture, taken at `time` [s]."""
        for label in dict.fromkeys(one.label for one in detections):
            self._see_alike(label, [one for one in detections if one.label == label], time)
        held = self._grasp and self._grasp.thing
        self._things = [one for one in self._things if one is held or time - one.seen <= self._memory]

    def _see_alike(self, label: str, detections: list[Detection], time: float) -> None:
        left = [thing for thing in self._things if thing.label == label]
        pairs, rest = list[tuple[_Thing, Detection]](), list[Detection]()
        for one in detections:
            thing = next((thing for thing in left if one.track in thing.tracks), None)
            if thing is None:
                rest.append(one)
            else:
                left.remove(thing)
                pairs.append((thing, one))
        distances = np.array([[math.dist(a.pose.position, b.pose.position) for b in rest] for a in left])
        rows, columns = linear_sum_assignment(distances.reshape(len(left), len(rest)))
        pairs += [(left[row], rest[column]) for row, column in zip(rows, columns, strict=True)]
        for thing, one in pairs:
            if self._grasp is None or thing is not self._grasp.thing:  # the hand knows better where that is
                thing.take(one, time)
        for number, one in enumerate(rest):
            if number not in columns:
                taken = {thing.name for thing in self._things}
                names = chain([label], (f"{label} {number}" for number in count(2)))
                name = next(name for name in names if name not in taken)
                self._things.append(_Thing(name, label, one.pose, one.size, time, {one.track} - {""}))

    def feel(self, hand: Pose, width: float, wanted: float, time: float) -> None:
        """Update what is held.

        Fingers at rest that are wider than commanded hold the thing around the grip point, until their width changes.

        Args:
            hand: Pose of the grip point [m, frame of the scene].
            width: Measured width between the fingers [m]; while it is NaN, nothing is grasped or released.
            wanted: Commanded width [m], NaN while it is unknown.
            time: Time of the measurement [s].
        """
        if not abs(width - self._width) <= STILL:
            self._width, self._since = width, time
        grasp = self._grasp
        if grasp is not None:
            grasp.thing.pose, grasp.thing.seen = compose(hand, grasp.T_hand_thing), time
            if width > grasp.width + OPENED or width < grasp.width - SLIPPED:
                self._grasp = None
        elif width - wanted > STALLED and time - self._since >= AT_REST:
            around = [thing for thing in self._things if thing.encloses(hand.position)]
            if around:
                thing = min(around, key=lambda one: math.dist(one.pose.position, hand.position))
                self._grasp = _Grasp(thing, compose(inverse(hand), thing.pose), width)

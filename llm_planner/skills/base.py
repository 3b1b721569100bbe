"""Motion primitives of mobile robot skills: drive, turn, move the fingers.

`timed_drive` times motion along straight pieces: fast where the path is straight, slow at its corners.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from math import dist

import numpy as np
from numpy.typing import NDArray

from llm_planner.control.input_validation import check_pose
from llm_planner.errors import InputError
from llm_planner.robots.motion import MotionReference, Observation
from llm_planner.scene.geometry import upright_pose, yaw_of
from llm_planner.scene.names import the
from llm_planner.scene.places import Point2
from llm_planner.scene.scene import Building, Pose, Scene, SceneObject
from llm_planner.skills.arm import SLOWER, Script
from llm_planner.skills.contract import SkillError, SkillErrorCode
from llm_planner.skills.floor_paths import Floor, floor_of
from llm_planner.skills.motion import PATH_DT

Array = NDArray[np.float64]
SPACING = 0.05  # [m] between the points of the speed profile


@dataclass(frozen=True)
class DriveLimits:
    """Limits of the requested motion, below those of the base itself."""

    speed: float = 1.2  # [m/s]
    acceleration: float = 1.2  # [m/s^2]
    bend: float = 0.35  # [m/s] change of velocity at a corner, which the base rounds off


def timed_drive(points: Sequence[Point2], yaw: float, limits: DriveLimits, begin: float = 0.0) -> tuple[Pose, ...]:
    """Time a drive along the corners `points` [m, map frame]: T_map_base every `PATH_DT` s, without the start.

    The drive starts at the speed `begin` [m/s], ends at rest and faces along the path; `yaw` [rad] is kept if the path
    has no length.
    """
    pieces = [(a, b) for a, b in pairwise(points) if dist(a, b) > 1e-3]
    if not pieces:
        return (upright_pose(*points[-1], yaw),)
    counts = [max(2, math.ceil(dist(a, b) / SPACING)) for a, b in pieces]
    along = [np.linspace(a, b, count, endpoint=False) for (a, b), count in zip(pieces, counts, strict=True)]
    places: Array = np.concatenate([*along, [pieces[-1][1]]])
    headings = np.repeat([math.atan2(b[1] - a[1], b[0] - a[0]) for a, b in pieces], counts)
    speeds = np.full(len(places), limits.speed)
    corners = np.cumsum(counts)[:-1]
    speeds[corners] = [_corner_speed(a, b, limits) for a, b in pairwise(headings[[0, *corners]].tolist())]
    gaps: Array = np.linalg.norm(np.diff(places, axis=0), axis=1)
    speeds = _accelerating(speeds, gaps, limits.acceleration, begin)
    times = np.concatenate([[0.0], np.cumsum(2 * gaps / (speeds[1:] + speeds[:-1]))])
    wanted = np.minimum(PATH_DT * np.arange(1, math.ceil(times[-1] / PATH_DT) + 1), times[-1])
    passed = _passed(wanted, times, speeds, gaps)
    arc = np.concatenate([[0.0], np.cumsum(gaps)])
    x, y = np.interp(passed, arc, places[:, 0]), np.interp(passed, arc, places[:, 1])
    facing = headings[np.minimum(np.searchsorted(times, wanted, side="right") - 1, len(headings) - 1)]
    return tuple(upright_pose(*row) for row in np.stack([x, y, facing], axis=1).tolist())


def _passed(wanted: Array, times: Array, speeds: Array, gaps: Array) -> Array:
    """Return the distance covered [m] at the times `wanted` [s], with constant acceleration between points."""
    k = np.clip(np.searchsorted(times, wanted, side="right") - 1, 0, len(gaps) - 1)
    tau = wanted - times[k]
    acceleration = (speeds[k + 1] - speeds[k]) / (times[k + 1] - times[k])
    arc = np.concatenate([[0.0], np.cumsum(gaps)])
    passed: Array = arc[k] + tau * (speeds[k] + acceleration * tau / 2)
    return passed


def _corner_speed(before: float, after: float, limits: DriveLimits) -> float:
    """Return the allowed speed [m/s] at a corner between two headings [rad]."""
    bend = 2 * abs(math.sin(math.remainder(after - before, math.tau) / 2))
    return min(limits.speed, limits.bend / max(bend, 1e-6))


def _accelerating(speeds: Array, gaps: Array, acceleration: float, begin: float) -> Array:
    """Lower `speeds` to respect `acceleration` between neighbours, from at most `begin` [m/s] to rest."""
    squares = (speeds**2).tolist()
    steps = (2 * acceleration * gaps).tolist()
    squares[0], squares[-1] = min(squares[0], begin**2), 0.0
    for k, step in enumerate(steps):
        squares[k + 1] = min(squares[k + 1], squares[k] + step)
    for k in range(len(steps) - 1, -1, -1):
        squares[k] = min(squares[k], squares[k + 1] + steps[k])
    lowered: Array = np.sqrt(squares)
    return lowered


VALID_FOR = 0.3  # [s] validity of a reference, after which the base stops


@dataclass(frozen=True)
class BaseSettings:
    """Parameters of mobile skills; lengths in m, times in s."""

    limits: DriveLimits = field(default_factory=DriveLimits)
    ahead: float = 1.0  # length of the path in each reference
    lag_max: float = 0.25  # the path waits for a base that lags by more than this
    arrived: float = 0.03
    facing: float = 0.04  # [rad]
    patience: float = 4.0  # until a base without progress counts as stuck
    fingers_time: float = 0.4


class Base:
    """State that a script reads and commands; the run replaces `observation` before it resumes the script."""

    def __init__(self, observation: Observation, settings: BaseSettings) -> None:
        self.observation = observation
        self.settings = settings
        self.phase = "start"
        self.width = observation.gripper_width
        self._still = self.observation.T_base_gripper  # a base under an arm sees it in the map

    @property
    def scene(self) -> Scene:
        return self.observation.scene

    @property
    def building(self) -> Building:
        """Building of the scene; raises SkillError (PRECONDITION_FAILED) if there is none."""
        if self.scene.building is None:
            raise SkillError(SkillErrorCode.PRECONDITION_FAILED, "there is no building here to drive in")
        return self.scene.building

    @property
    def position(self) -> Point2:
        """Centre of the base [m, map frame]."""
        x, y, _ = self.observation.T_base_gripper.position
        return x, y

    @property
    def yaw(self) -> float:
        """Heading [rad], counter-clockwise from the x axis of the map."""
        return yaw_of(self.observation.T_base_gripper)

    def find(self, name: str) -> SceneObject:
        """Return the current state of an object; raises SkillError (OBJECT_LOST) if it has left the scene."""
        try:
            return self.scene.find(name)
        except KeyError as error:
            raise SkillError(SkillErrorCode.OBJECT_LOST, f"{the(name)} is no longer in the scene") from error

    @property
    def floor(self) -> Floor:
        """Floor with current obstacles and the zones of rules; raises like `building`."""
        return floor_of(self.building, self.scene, self.observation.zones)

    def drive(self, phase: str, goal: Point2) -> Script:
        """Drive to `goal` [m]; raises SkillError (UNREACHABLE, NO_FREE_SPACE) if the base does not arrive."""
        self.phase = phase
        way = self.way(self.floor, goal)
        yield from self._follow(timed_drive(way, self.yaw, self._limits))

    def way(self, floor: Floor, goal: Point2) -> tuple[Point2, ...]:
        """Return the corners from here to `goal` [m], inclusive; raises SkillError (UNREACHABLE, NO_FREE_SPACE)."""
        try:
            return floor.way(self.position, goal)
        except InputError as error:
            raise SkillError(SkillErrorCode.UNREACHABLE, f"there is no way there: {error}") from error

    def visit(self, item: SceneObject) -> Script:
        """Drive to a free place beside an object and turn to it; raises as `drive`."""
        x, y, _ = item.position
        yield from self.drive("approach", self.floor.beside(item))
        yield from self.turn("turn", math.atan2(y - self.position[1], x - self.position[0]))

    def pursue(self, phase: str, seconds: float, course: Callable[[], tuple[Sequence[Point2], Point2]]) -> Script:
        """Follow a moving goal for a number of seconds.

        At each step `course` returns the corners of the path, the current position first, and a point to face.
        """
        self.phase = phase
        until, count = self.observation.time + seconds, round(self.settings.ahead / PATH_DT)
        while self.observation.time < until - 1e-6:
            way, (x, y) = course()
            yaw = math.atan2(y - self.position[1], x - self.position[0])
            poses = timed_drive(way, yaw, self._limits, self.scene.speed)[: count + 1]
            yield self._reference([upright_pose(*pose.position[:2], yaw) for pose in poses], self.observation.time)

    def creep(self, phase: str, pose: Pose, speed: float, arrived: float, facing: float) -> Script:
        """Drive straight to `pose` with its heading, at most at `speed` [m/s].

        Raises SkillError (UNREACHABLE) if the base does not arrive within `arrived` [m] and `facing` [rad].
        """
        check_pose(pose)
        self.phase, yaw = phase, yaw_of(pose)
        path = timed_drive(
            [self.position, pose.position[:2]], yaw, replace(self._limits, speed=min(speed, self._limits.speed))
        )
        yield from self._follow([upright_pose(*at.position[:2], yaw) for at in path], arrived, facing)

    @property
    def _limits(self) -> DriveLimits:
        limits = self.settings.limits
        return replace(limits, speed=min(limits.speed, SLOWER * self.observation.path_speed))

    def turn(self, phase: str, yaw: float) -> Script:
        """Turn on the spot to `yaw` [rad]; raises SkillError (UNREACHABLE) if the base does not arrive."""
        self.phase = phase
        x, y, _ = self._still.position
        yield from self._follow((upright_pose(x, y, yaw),))

    def fingers(self, phase: str, width: float) -> Script:
        """Open or close the fingers to `width` [m]; the base does not move."""
        self.phase, self.width = phase, width
        yield from self.rest(phase, self.settings.fingers_time)

    def rest(self, phase: str, seconds: float) -> Script:
        self.phase = phase
        until = self.observation.time + seconds
        while self.observation.time < until - 1e-6:
            yield self._reference((self._still,), self.observation.time)

    def retreat(self) -> Script:
        """Do nothing: a base that has failed stays where it stopped."""
        yield from ()

    def _reference(self, poses: Sequence[Pose], start: float) -> MotionReference:
        return MotionReference(start, PATH_DT, tuple(poses), self.width, VALID_FOR)

    def _follow(self, poses: Sequence[Pose], arrived: float | None = None, facing: float | None = None) -> Script:
        """Follow timed poses, waiting for a lagging base, to within `arrived` [m] and `facing` [rad]."""
        for pose in poses:
            check_pose(pose)
        settings, count = self.settings, round(self.settings.ahead / PATH_DT)
        arrived = settings.arrived if arrived is None else arrived
        facing = settings.facing if facing is None else facing
        elapsed, waited, last, lagging = 0.0, 0.0, self.observation.time, False
        while True:
            index = min(int(elapsed / PATH_DT + 1e-6), len(poses) - 1)
            start = self.observation.time - max(0.0, elapsed - index * PATH_DT)
            ahead = 0 if lagging else count  # a lagging base is not sent any farther
            yield self._reference(poses[index : index + ahead + 1], start)
            step, last = self.observation.time - last, self.observation.time
            waiting = step * self.observation.freedom
            behind = dist(self.position, poses[index].position[:2])
            lagging = behind > settings.lag_max
            if index == len(poses) - 1:
                turned = abs(math.remainder(yaw_of(poses[-1]) - self.yaw, math.tau))
                if behind <= arrived and turned <= facing:
                    break
                waited += waiting
            elif lagging:
                waited += waiting
            else:
                elapsed, waited = elapsed + step, 0.0
            if waited > settings.patience + 2 * behind / self.observation.path_speed:
                message = f"the base stopped {behind:.2f} m short during {self.phase!r}: something is in the way"
                raise SkillError(SkillErrorCode.UNREACHABLE, message)
        self._still = poses[-1]


MakeBase = Callable[[Observation], Base]


def own_base(observation: Observation) -> Base:
    """Return the base that the controller of this package drives."""
    return Base(observation, BaseSettings())

"""The movements that skills of a mobile robot are made of: drive, turn, open and close the fingers."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from math import dist

from llm_planner.control.reference import MotionReference
from llm_planner.errors import InputError
from llm_planner.simulation.rooms.base import base_pose, yaw_of
from llm_planner.skills.arm import SLOWER, Script
from llm_planner.skills.contract import Observation, SkillErrorCode
from llm_planner.skills.driving import DriveLimits, timed_drive
from llm_planner.skills.errors import SkillError
from llm_planner.skills.floor import Floor, floor_of
from llm_planner.skills.motion import PATH_DT
from llm_planner.world.building import Building
from llm_planner.world.names import the
from llm_planner.world.places import Point2
from llm_planner.world.scene import Pose, Scene, SceneObject

VALID_FOR = 0.3  # [s] of a reference: without a newer one the base is at rest soon after


@dataclass(frozen=True)
class BaseSettings:
    """How a mobile robot's skills move; lengths in m, times in s."""

    limits: DriveLimits = field(default_factory=DriveLimits)
    ahead: float = 1.0  # of path in every reference
    lag_max: float = 0.25  # behind its path by more than this, the base is waited for
    arrived: float = 0.03
    facing: float = 0.04  # [rad]
    patience: float = 4.0  # until a base that does not come nearer counts as stuck
    fingers_time: float = 0.4


class Base:
    """What a script sees and commands. The run puts each new `observation` here before it resumes the script."""

    def __init__(self, observation: Observation, settings: BaseSettings) -> None:
        self.observation = observation
        self.settings = settings
        self.phase = "start"
        self.width = observation.gripper_width
        self._still = observation.T_base_gripper

    @property
    def scene(self) -> Scene:
        return self.observation.scene

    @property
    def building(self) -> Building:
        """Raises SkillError (PRECONDITION_FAILED) where there is none: this is a robot's table."""
        if self.scene.building is None:
            raise SkillError(SkillErrorCode.PRECONDITION_FAILED, "there is no building here to drive in")
        return self.scene.building

    @property
    def position(self) -> Point2:
        """The base's middle in the map [m]."""
        x, y, _ = self.observation.T_base_gripper.position
        return x, y

    @property
    def yaw(self) -> float:
        """[rad], counter-clockwise from the map's x."""
        return yaw_of(self.observation.T_base_gripper)

    def find(self, name: str) -> SceneObject:
        """The object as it is now; raises SkillError (OBJECT_LOST) when it has left the scene."""
        try:
            return self.scene.find(name)
        except KeyError as error:
            raise SkillError(SkillErrorCode.OBJECT_LOST, f"{the(name)} is no longer in the scene") from error

    @property
    def floor(self) -> Floor:
        """What stands in the building as it is seen now, and what rules forbid there; raises as `building`."""
        return floor_of(self.building, self.scene, self.observation.zones)

    def drive(self, phase: str, goal: Point2) -> Script:
        """Drive to `goal` [m]; raises SkillError (UNREACHABLE, NO_FREE_SPACE) when the base does not get there."""
        self.phase = phase
        way = self.way(self.floor, goal)
        yield from self._follow(timed_drive(way, self.yaw, self._limits))

    def way(self, floor: Floor, goal: Point2) -> tuple[Point2, ...]:
        """Corners from here to `goal` [m], both included; raises SkillError (UNREACHABLE, NO_FREE_SPACE)."""
        try:
            return floor.way(self.position, goal)
        except InputError as error:
            raise SkillError(SkillErrorCode.UNREACHABLE, f"there is no way there: {error}") from error

    def pursue(self, phase: str, seconds: float, course: Callable[[], tuple[Sequence[Point2], Point2]]) -> Script:
        """For so long where `course` leads, asked anew at every moment: the corners of a way, this place first, and a
        point to face."""
        self.phase = phase
        until, count = self.observation.time + seconds, round(self.settings.ahead / PATH_DT)
        while self.observation.time < until - 1e-6:
            way, (x, y) = course()
            yaw = math.atan2(y - self.position[1], x - self.position[0])
            poses = timed_drive(way, yaw, self._limits, self.scene.speed)[: count + 1]
            yield self._reference([base_pose(*pose.position[:2], yaw) for pose in poses], self.observation.time)

    def creep(self, phase: str, pose: Pose, speed: float, arrived: float, facing: float) -> Script:
        """Straight to `pose` at `speed` [m/s] at most, turned as it is there, to within `arrived` [m] and `facing`
        [rad]; raises SkillError (UNREACHABLE) when the base does not get there."""
        self.phase, yaw = phase, yaw_of(pose)
        path = timed_drive(
            [self.position, pose.position[:2]], yaw, replace(self._limits, speed=min(speed, self._limits.speed))
        )
        yield from self._follow([base_pose(*at.position[:2], yaw) for at in path], arrived, facing)

    @property
    def _limits(self) -> DriveLimits:
        """Of the motion to ask for, at the controller's speed limit of this moment."""
        limits = self.settings.limits
        return replace(limits, speed=min(limits.speed, SLOWER * self.observation.path_speed))

    def turn(self, phase: str, yaw: float) -> Script:
        """Turn on the spot to `yaw` [rad]; raises SkillError (UNREACHABLE) when it does not."""
        self.phase = phase
        x, y, _ = self._still.position
        yield from self._follow((base_pose(x, y, yaw),))

    def fingers(self, phase: str, width: float) -> Script:
        """Open or close to `width` [m]; the base stays where it is."""
        self.phase, self.width = phase, width
        yield from self.rest(phase, self.settings.fingers_time)

    def rest(self, phase: str, seconds: float) -> Script:
        """Stay for that time."""
        self.phase = phase
        until = self.observation.time + seconds
        while self.observation.time < until - 1e-6:
            yield self._reference((self._still,), self.observation.time)

    def retreat(self) -> Script:
        """A base that has failed stays where it is: it is in nobody's way."""
        yield from ()

    def _reference(self, poses: Sequence[Pose], start: float) -> MotionReference:
        return MotionReference(start, PATH_DT, tuple(poses), self.width, VALID_FOR)

    def _follow(self, poses: Sequence[Pose], arrived: float | None = None, facing: float | None = None) -> Script:
        """Along the timed poses, waiting for a base that lags, until it has arrived and faces as told, as exactly as
        the settings say or as is said here [m], [rad]."""
        settings, count = self.settings, round(self.settings.ahead / PATH_DT)
        arrived = settings.arrived if arrived is None else arrived
        facing = settings.facing if facing is None else facing
        elapsed, waited, last, lagging = 0.0, 0.0, self.observation.time, False
        while True:
            index = min(int(elapsed / PATH_DT + 1e-6), len(poses) - 1)
            start = self.observation.time - max(0.0, elapsed - index * PATH_DT)
            ahead = 0 if lagging else count  # a base that is waited for is not sent any farther
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

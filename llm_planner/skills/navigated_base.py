"""Base of mobile skills that a navigation system, such as nav2, drives instead of the controller of this package.

A navigation system plans its own path to a target, so a skill gives it one corner of the planned way after another: the
rooms and doors on the way are then those that the rules were checked for. It also gets the zones that the rules close
at present, and is stopped where it is about to enter one nevertheless.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Protocol

from llm_planner.robots.motion import MotionReference, Observation
from llm_planner.scene.geometry import upright_pose
from llm_planner.scene.places import Point2
from llm_planner.scene.scene import Pose
from llm_planner.scene.zones import Zone
from llm_planner.skills.arm import Script
from llm_planner.skills.base import Base, BaseSettings
from llm_planner.skills.contract import SkillError, SkillErrorCode
from llm_planner.skills.keepout_mask import is_entered

STANDS = 0.01  # [m/s] speed limit below which the base waits
NEW_TARGET, NEW_TARGET_TIME = 0.2, 1.0  # [m], [s] between the targets of a pursuit
REACTION, BRAKES = 0.3, 2.0  # [s], [m/s^2] until a base whose goal is cancelled brakes, and then; as far it looks ahead


class Navigator(Protocol):
    """Navigation system: drives to the newest target, and knows the `zones` that rules close at present."""

    @property
    def zones(self) -> tuple[Zone, ...]: ...

    @property
    def failure(self) -> str | None:
        """How the drive to the last target ended: None while it goes on, "" if it was reached, otherwise why not."""
        ...

    def go(self, pose: Pose) -> None:
        """Drive to `pose` [m, map frame] instead of any other one."""
        ...

    def cancel(self) -> None:
        """Stop."""
        ...

    def limit_speed(self, speed: float) -> None:
        """Drive at most at `speed` [m/s], which may be infinite."""
        ...

    def grip(self, width: float) -> bool:
        """Move the fingers to `width` [m]; return False if there are none."""
        ...


class NavigatedBase(Base):
    """Base whose motions are targets of a navigation system; its references only say where it stands.

    Tolerances are those of the navigation system: whether a skill has done what it should, the scene decides.
    """

    def __init__(self, observation: Observation, navigator: Navigator) -> None:
        super().__init__(observation, BaseSettings())
        self._navigator = navigator
        self._seen = observation.time, self.position

    def drive(self, phase: str, goal: Point2) -> Script:
        """See `Base`; raises SkillError (UNREACHABLE) if the navigation system gives up."""
        self.phase = phase
        for here, there in pairwise(self.way(self.floor, goal)):
            if math.dist(here, there) > self.settings.arrived:
                yield from self._go(upright_pose(*there, math.atan2(there[1] - here[1], there[0] - here[0])))

    def pursue(self, phase: str, seconds: float, course: Callable[[], tuple[Sequence[Point2], Point2]]) -> Script:
        """See `Base`; a target that has moved replaces the one before, once a second."""
        self.phase = phase
        until, told, target = self.observation.time + seconds, -math.inf, (math.inf, math.inf)
        try:
            while self.observation.time < until - 1e-6:
                way, (x, y) = course()
                if math.dist(way[-1], target) > NEW_TARGET and self.observation.time >= told + NEW_TARGET_TIME:
                    target, told = way[-1], self.observation.time
                    self._navigator.go(upright_pose(*target, math.atan2(y - target[1], x - target[0])))
                yield self._waiting()
        finally:
            self._navigator.cancel()

    def fingers(self, phase: str, width: float) -> Script:
        """See `Base`; raises SkillError (PRECONDITION_FAILED) if the base has none."""
        if not self._navigator.grip(width):
            raise SkillError(
                SkillErrorCode.PRECONDITION_FAILED,
                "a base that a navigation system drives has no gripper, unless the parameter navigate_gripper says so; "
                "let a skill of your own load and unload it",
            )
        yield from super().fingers(phase, width)

    def _follow(self, poses: Sequence[Pose], arrived: float | None = None, facing: float | None = None) -> Script:
        yield from self._go(poses[-1])

    def _go(self, pose: Pose) -> Script:
        """Drive to `pose` and wait for the end; stand while the speed limit is 0.

        Raises SkillError (UNREACHABLE) if the navigation system gives up, or is about to enter a zone of a rule.
        """
        stands = self.observation.speed_limit < STANDS
        self._limit_speed()
        try:
            if not stands:
                self._navigator.go(pose)
            while (failure := self._navigator.failure) is None or stands:
                if stands != (self.observation.speed_limit < STANDS):
                    stands = not stands
                    if stands:
                        self._navigator.cancel()
                    else:
                        self._limit_speed()
                        self._navigator.go(pose)
                yield self._waiting()
        finally:
            self._navigator.cancel()
        if failure:
            raise SkillError(SkillErrorCode.UNREACHABLE, f"the base did not arrive during {self.phase!r}: {failure}")
        self._still = pose

    def _waiting(self) -> MotionReference:
        self._limit_speed()
        self._check_zones()
        return self._reference((self.observation.T_base_gripper,), self.observation.time)

    def _limit_speed(self) -> None:
        """Hand the speed limit on; at 0 the goal is cancelled instead, as 0 means no limit to nav2."""
        if self.observation.speed_limit >= STANDS:
            self._navigator.limit_speed(self.observation.speed_limit)

    def _check_zones(self) -> None:
        """Raise SkillError if the base is about to enter a zone that rules close: its costmap may not know of it."""
        (before, (x, y)), (now, here) = self._seen, (self.observation.time, self.position)
        self._seen = now, here
        if now <= before:
            return
        ahead = (REACTION + math.dist(here, (x, y)) / (now - before) / (2 * BRAKES)) / (now - before)
        soon = here[0] + ahead * (here[0] - x), here[1] + ahead * (here[1] - y)
        entered = next((zone for zone in self._navigator.zones if is_entered(zone, here, soon)), None)
        if entered is not None:
            told = f"the navigation system was stopped on its way into {entered.name}, which a rule closes at present"
            raise SkillError(SkillErrorCode.UNREACHABLE, f"{told}: do its costmaps use the mask keepout_filter_mask?")

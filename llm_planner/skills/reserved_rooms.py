"""Mobile base that shares its building: before it drives to another room, it reserves all rooms on the way.

It asks only while its neighbour has none of them, so that it keeps no room in vain from a neighbour that is in its way.
It gives back each room once it has left it, and at the end of the skill, whose owner then asks for none. The room where
it stands is its own without asking (`control.zone_reservation`).
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import Protocol

from llm_planner.robots.motion import Observation
from llm_planner.scene.names import the
from llm_planner.scene.places import Point2
from llm_planner.scene.scene import Pose
from llm_planner.scene.shared_building import rooms_along
from llm_planner.skills.arm import Script
from llm_planner.skills.base import Base, BaseSettings
from llm_planner.skills.contract import SkillError, SkillErrorCode
from llm_planner.skills.reserved import PATIENCE, WAIT, Strips


class Rooms(Strips, Protocol):
    """Reservations of a base: `strips` are the rooms, and `taken` are those that its neighbour has."""

    @property
    def taken(self) -> frozenset[str]: ...


class ReservedBase(Base):
    """Base that drives only through rooms that it has, and waits for others up to `patience` [s]."""

    def __init__(self, observation: Observation, rooms: Rooms, patience: float = PATIENCE) -> None:
        super().__init__(observation, BaseSettings())
        self._rooms, self._patience = rooms, patience
        self._ahead: tuple[str, ...] = ()  # rooms from the present one to the goal

    def drive(self, phase: str, goal: Point2) -> Script:
        """See `Base`; raises SkillError (NO_FREE_SPACE) if it does not get the rooms on the way in time."""
        rooms = rooms_along(self.building, self.way(self.floor, goal))
        since, was_free = self.observation.time, self.floor.is_free(goal)
        while not self._has(rooms, since):
            yield self._reference((self._still,), self.observation.time)
        if was_free and not self.floor.is_free(goal):  # the neighbour has put something there
            goal = self.floor.free_place(rooms[-1], goal)
        self._ahead = rooms
        yield from super().drive(phase, goal)

    def pursue(self, phase: str, seconds: float, course: Callable[[], tuple[Sequence[Point2], Point2]]) -> Script:
        """See `Base`; it stops before a room that it does not have, and raises SkillError as `drive`."""
        since = self.observation.time

        def kept() -> tuple[Sequence[Point2], Point2]:
            nonlocal since
            way, target = course()
            if self._has(rooms_along(self.building, way), since):
                self.phase, since = phase, self.observation.time
            return self._within(way), target

        yield from super().pursue(phase, seconds, kept)

    def _follow(self, poses: Sequence[Pose], arrived: float | None = None, facing: float | None = None) -> Script:
        for reference in super()._follow(poses, arrived, facing):
            here = self.building.room_at(*self.position)
            if here in self._ahead[1:]:
                self._ahead = self._ahead[self._ahead.index(here) :]
                self._rooms.want(self._ahead)
            yield reference

    def _has(self, rooms: Sequence[str], since: float) -> bool:
        """Return whether the base has `rooms`, and ask for them; raises SkillError if it waits since too long [s]."""
        missing = [room for room in rooms if room not in self._rooms.held]
        if not missing:
            self._rooms.want(rooms)
            return True
        taken = [room for room in missing if room in self._rooms.taken]
        neighbour = self._rooms.strips[missing[0]]
        self.phase = f"{WAIT} {_listed(taken)}, which {neighbour} has" if taken else f"{WAIT} {_listed(missing)}"
        if self.observation.time - since > self._patience:
            raise SkillError(SkillErrorCode.NO_FREE_SPACE, self._told(neighbour, missing, taken))
        self._rooms.want(() if taken else rooms)
        return False

    def _told(self, neighbour: str, missing: Sequence[str], taken: Sequence[str]) -> str:
        begin = f"the way leads through {_listed(taken or missing)}, which"
        if taken:
            return (
                f"{begin} {neighbour} has, and this robot waited {self._patience:g} s: send {neighbour} to another "
                f"room first, or this robot if {neighbour} waits for {the(self.scene.robot_room)}"
            )
        return f"{begin} {neighbour} has not granted within {self._patience:g} s: do the nodes of {neighbour} run?"

    def _within(self, way: Sequence[Point2]) -> Sequence[Point2]:
        """Cut off `way` before the first room that the base does not have."""
        kept = [way[0]]
        for point in way[1:]:
            if self.building.room_at(*point) not in self._rooms.held:
                break
            kept.append(point)
        return kept


def _listed(rooms: Collection[str]) -> str:
    return " and ".join(map(the, rooms))

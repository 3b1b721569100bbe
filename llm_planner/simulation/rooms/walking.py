"""Who walks through a building: straight from corner to corner, and not into the robot."""

from __future__ import annotations

from dataclasses import dataclass
from math import atan2, dist

from llm_planner.errors import InputError
from llm_planner.world.building import Building
from llm_planner.world.places import Point2
from llm_planner.world.scene import SceneObject

SPEED_MAX = 2.0  # [m/s]
PERSONAL = 0.85  # [m] between the middles of a walker and of a robot in front of it, at which the walker waits


@dataclass(frozen=True)
class Walk:
    """What is left of a walk: the next corners [m], and the speed [m/s]."""

    corners: tuple[Point2, ...]
    speed: float

    def on(self, here: Point2, robot: Point2, seconds: float) -> tuple[Walk, Point2, float]:
        """The walk after so long, where the walker then is, and which way it faces [rad].

        Raises ValueError where no corner is left.
        """
        if not self.corners:
            raise ValueError("the walk is over; there is no corner left to walk to")
        goal, left = self.corners[0], dist(here, self.corners[0])
        facing = atan2(goal[1] - here[1], goal[0] - here[0])
        step = self.speed * seconds
        share = min(1.0, step / left) if left else 1.0
        there = here[0] + share * (goal[0] - here[0]), here[1] + share * (goal[1] - here[1])
        if dist(there, robot) < min(PERSONAL, dist(here, robot)):
            return self, here, facing
        return (Walk(self.corners[1:], self.speed) if share == 1.0 else self), there, facing


def walk_to(
    building: Building, things: tuple[SceneObject, ...], who: SceneObject, rooms: tuple[str, ...], speed: float
) -> Walk:
    """From where it is to one room after the other, around the `things` there.

    Raises InputError for an unknown room, for no room at all, and for a speed that nobody walks at.
    """
    if not rooms:
        raise InputError(
            f"nobody has said where {who.name} is to walk; name at least one of: {', '.join(building.names)}"
        )
    if not 0.0 < speed <= SPEED_MAX:
        raise InputError(f"{who.name} cannot walk at {speed:g} m/s; walk at more than 0 and at most {SPEED_MAX:g} m/s")
    from llm_planner.skills.floor import Floor  # loads MuJoCo

    floor = Floor(building, tuple(item for item in things if item.name != who.name))
    corners: list[Point2] = []
    here: Point2 = who.position[:2]
    for room in rooms:
        goal = floor.middle(room)
        corners += floor.way(here, goal)[1:]
        here = goal
    return Walk(tuple(corners), speed)

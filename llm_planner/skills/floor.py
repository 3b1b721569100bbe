"""Where a mobile base stands and drives among what stands in a building.

Its skills and the forecasts of them ask here, so that a plan is judged by the way that the robot will take.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import pairwise
from math import cos, dist, hypot, pi, sin

from llm_planner.control.zones import Subject, Zone
from llm_planner.simulation.rooms.base import BASE_RADIUS, GRIP_REACH
from llm_planner.skills.contract import SkillErrorCode
from llm_planner.skills.detours import Obstacle, nearest_in, way_around
from llm_planner.skills.errors import SkillError
from llm_planner.skills.ways import kept
from llm_planner.skills.zone_distance import half_widths
from llm_planner.world.building import Building
from llm_planner.world.names import the
from llm_planner.world.places import Point2, Rectangle
from llm_planner.world.predicates import is_portable
from llm_planner.world.routes import shortest_route
from llm_planner.world.scene import Scene, SceneObject

VISIT_GAP = 0.3  # [m] between the base and the person or furniture that it has gone to
ROOM_TO_PASS = 0.12  # [m] between the base and what it drives past
WALL_GAP = 0.12  # [m] between the base and a wall that it drives along
SIDES = 16  # from which a thing is approached
REST = 0.03  # [m] beyond a clearance: nearer, a controller that keeps its margin stops short of where it should be
SPARE = 0.08  # [m] beyond that on the way: rounded corners, and a base that is not exactly on its path
GRID = 0.2  # [m] between the places tried when the middle of a room is taken


@dataclass(frozen=True)
class Floor:
    """A `building` with `things` on its floor, and `zones` that rules keep the base out of."""

    building: Building
    things: tuple[SceneObject, ...]
    zones: tuple[Zone, ...] = ()

    def area(self, room: str) -> Rectangle:
        """Where the base's middle may be in a room, doors aside; raises InputError for an unknown room."""
        area, gap = self.building.find(room).area, BASE_RADIUS + WALL_GAP
        return Rectangle(area.x_min + gap, area.x_max - gap, area.y_min + gap, area.y_max - gap)

    def obstacles(self, room: str, ignore: str = "") -> list[Obstacle]:
        """What stands in the way in a room, with the room that the base needs beside it, and what rules forbid."""
        area, reach = self.building.find(room).area, BASE_RADIUS + ROOM_TO_PASS
        here = [item for item in self.things if area.contains(*item.position[:2]) and item.name != ignore]
        standing = [Obstacle(item.position[:2], hypot(*item.size[:2]) / 2 + reach) for item in here]
        return [*standing, *map(_forbidden, self.zones)]

    def middle(self, room: str) -> Point2:
        """The free place nearest to the middle of a room; raises SkillError (NO_FREE_SPACE)."""
        obstacles = self.obstacles(room)
        for place in self.places(room, self.building.find(room).area.center):
            if _is_free(place, obstacles):
                return place
        raise SkillError(SkillErrorCode.NO_FREE_SPACE, f"there is no space to stand in {the(room)}")

    def places(self, room: str, near: Point2) -> Iterator[Point2]:
        """`near`, then places all over the floor of the room, nearest first."""
        area = self.area(room)
        columns, rows = int((area.x_max - area.x_min) / GRID), int((area.y_max - area.y_min) / GRID)
        yield near
        grid = [(area.x_min + i * GRID, area.y_min + j * GRID) for i in range(columns + 1) for j in range(rows + 1)]
        yield from sorted(grid, key=lambda place: dist(place, near))

    def beside(self, item: SceneObject) -> Point2:
        """The free place from which the base sees a person or takes a thing, on the side of the room's middle.

        The same from wherever the base comes, so that a plan knows it before the base is anywhere. Raises SkillError
        (UNREACHABLE) when there is none.
        """
        x, y, _ = item.position
        room, away = self.building.room_at(x, y), _distance_to(item)
        obstacles = self.obstacles(room, ignore=item.name)
        area, (cx, cy) = self.area(room), self.building.find(room).area.center
        angles = [2 * pi * k / SIDES for k in range(SIDES)]
        around = [(x + away * cos(angle), y + away * sin(angle)) for angle in angles]
        free = [place for place in around if area.contains(*place) and _is_free(place, obstacles)]
        if not free:
            rules = f" that keeps {self._kept}" if self.zones else ""
            raise SkillError(SkillErrorCode.UNREACHABLE, f"there is no space to stand beside {the(item.name)}{rules}")
        return min(free, key=lambda place: dist(place, (cx, cy)))

    def way(self, start: Point2, goal: Point2) -> tuple[Point2, ...]:
        """Corners from `start` to `goal`, both included: the shortest way through the doors, around what stands in the
        rooms. Doors are passed straight, or the base would graze the frame.

        Raises InputError for a point outside, or when no doors lead there, and SkillError (NO_FREE_SPACE) where rules
        leave no way.
        """
        corners: list[Point2] = []
        for room, enter, leave in _legs(self.building, start, goal):
            obstacles = [_loosened(one, leave) for one in self.obstacles(room)]
            way = way_around(enter, leave, obstacles, self.area(room))
            if not way:
                what = f"the robot finds no way there that keeps {self._kept}"
                raise SkillError(SkillErrorCode.NO_FREE_SPACE, what)
            corners += [enter, *way]
        return tuple(corners)

    def forbids(self, point: Point2) -> bool:
        """Whether rules keep the base from standing there."""
        return any(_forbidden(zone).covers(point) for zone in self.zones)

    @property
    def _kept(self) -> str:
        """What rules ask for, for a person."""
        return " and ".join(dict.fromkeys(map(kept, self.zones)))


def floor_of(building: Building, scene: Scene, zones: tuple[Zone, ...] = ()) -> Floor:
    """The floor of the scene's `building`, with all that stands there, not what is held, and the `zones` of rules."""
    return Floor(building, tuple(item for item in scene.objects if item.name != scene.held), zones)


def least_gap(zone: Zone) -> float:
    """How far the base's middle stays from the zone's solid at the least [m]."""
    return zone.clearance + (BASE_RADIUS if zone.subject is Subject.ROBOT else 0.0) + REST


def _forbidden(zone: Zone) -> Obstacle:
    """A zone as seen from above, with all that is to spare beside it."""
    x, y, _ = half_widths(zone).tolist()
    return Obstacle(zone.pose.position[:2], least_gap(zone) + SPARE, (x, y), firm=True)


def _loosened(obstacle: Obstacle, goal: Point2) -> Obstacle:
    """A firm one that may be passed as closely as `goal` is to it, without all that is to spare."""
    if not obstacle.firm:
        return obstacle
    least = obstacle.radius - SPARE
    return replace(obstacle, radius=min(obstacle.radius, max(least, obstacle.distance(goal) - 1e-6)))


def _distance_to(item: SceneObject) -> float:
    """From the middle of a thing to that of a base which has gone to it [m]: what can be taken is within its grip."""
    return GRIP_REACH if is_portable(item) else BASE_RADIUS + hypot(*item.size[:2]) / 2 + VISIT_GAP


def _is_free(place: Point2, obstacles: list[Obstacle]) -> bool:
    return not any(one.covers(place) for one in obstacles)


@lru_cache(maxsize=4096)  # the same few ways are asked for again and again while a plan is sought
def _legs(building: Building, start: Point2, goal: Point2) -> tuple[tuple[str, Point2, Point2], ...]:
    """The rooms of the shortest way, each with where it is entered and left."""
    route = shortest_route(building, start, goal)
    floor, here, legs = Floor(building, ()), start, []
    for door, (room, beyond) in zip(route.points[1:], pairwise(route.rooms), strict=False):
        before, behind = (_passing(floor.area(name), door, end) for name, end in ((room, start), (beyond, goal)))
        legs.append((room, here, before))
        here = behind
    return (*legs, (route.rooms[-1], here, goal))


def _passing(area: Rectangle, door: Point2, end: Point2) -> Point2:
    """Where a door is entered straight from the room: an end of the way that is in the doorway already is as good."""
    return min(nearest_in(area, door), end, key=lambda place: dist(place, door))

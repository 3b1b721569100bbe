"""Where a mobile base stands and drives among what stands in a building.

Its skills and the forecasts of them ask here, so that a plan is judged by the way that the robot will take.

Ways around what stands in a room: from one point to another, past round obstacles, inside the walls.

How a base keeps its distance from something that moves: along the way to it, or back from where it comes too near.

Distances are from the base's middle to the thing's box, as `distance(robot, OBJECT)` of rules has them.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import pairwise
from math import ceil, copysign, cos, dist, hypot, pi, sin

from llm_planner.robots.robots import BASE_RADIUS, GRIP_REACH
from llm_planner.scene.free_space import shortest_route
from llm_planner.scene.geometry import distance_to_box
from llm_planner.scene.names import the
from llm_planner.scene.places import Point2, Rectangle
from llm_planner.scene.predicates import is_portable
from llm_planner.scene.scene import Building, Scene, SceneObject
from llm_planner.scene.zones import Subject, Zone
from llm_planner.skills.arm_paths import half_widths, kept
from llm_planner.skills.contract import SkillError, SkillErrorCode

CORNERS = 12  # around each obstacle, where a way may bend
SHARES = (1.0, 0.87)  # of the room around obstacles, tried in turn
_MARGIN = 0.02  # [m] the corners lie outside the obstacles' rims


@dataclass(frozen=True)
class Obstacle:
    """Where the robot's middle may not be: nearer than `radius` [m] to `center`, or to the upright rectangle of the
    half sizes `half` [m] around that. What is `firm` is never passed more closely, save to get away from it.
    """

    center: Point2
    radius: float
    half: Point2 = (0.0, 0.0)
    firm: bool = False

    def distance(self, point: Point2) -> float:
        """From `point` to the rectangle [m]; 0 inside."""
        return hypot(*(max(abs(p - c) - h, 0.0) for p, c, h in zip(point, self.center, self.half, strict=True)))

    def covers(self, point: Point2) -> bool:
        """Whether the robot's middle may not be there."""
        return self.distance(point) < self.radius

    def blocks(self, a: Point2, b: Point2) -> bool:
        """Whether the straight way from `a` to `b` goes through it."""
        if self.half == (0.0, 0.0):
            return _to_line(self.center, a, b) < self.radius
        if self.covers(a) or self.covers(b) or self._is_crossed(a, b):
            return True
        (x, y), (hx, hy) = self.center, self.half
        return any(_to_line((x + i * hx, y + j * hy), a, b) < self.radius for i in (-1, 1) for j in (-1, 1))

    def corners(self) -> list[Point2]:
        """Around it, so that the straight ways from each to the next are free of it."""
        radius = (self.radius + _MARGIN) / cos(pi / CORNERS)
        angles = [2 * pi * (k + 0.5) / CORNERS for k in range(CORNERS)]
        (x, y), (hx, hy) = self.center, self.half
        return [
            (x + copysign(hx, cos(a)) + radius * cos(a), y + copysign(hy, sin(a)) + radius * sin(a)) for a in angles
        ]

    def _is_crossed(self, a: Point2, b: Point2) -> bool:
        """Whether the line comes into the rectangle itself: its share inside both strips is not empty."""
        first, last = 0.0, 1.0
        for start, end, center, half in zip(a, b, self.center, self.half, strict=True):
            if start == end:
                if abs(start - center) > half:
                    return False
                continue
            enter, leave = sorted(((center + side * half - start) / (end - start)) for side in (-1, 1))
            first, last = max(first, enter), min(last, leave)
        return first <= last


def _to_line(point: Point2, a: Point2, b: Point2) -> float:
    """From a point to the straight line between two others [m]."""
    dx, dy = b[0] - a[0], b[1] - a[1]
    square = dx * dx + dy * dy
    share = ((point[0] - a[0]) * dx + (point[1] - a[1]) * dy) / square if square else 0.0
    share = min(max(share, 0.0), 1.0)
    return hypot(a[0] + share * dx - point[0], a[1] + share * dy - point[1])


def way_around(start: Point2, goal: Point2, obstacles: Sequence[Obstacle], area: Rectangle) -> tuple[Point2, ...]:
    """The shortest way inside `area` from `start` to `goal`, without the start; straight where there is none, and empty
    where firm obstacles leave none.

    Where there is no way with all the room that is wanted, obstacles are passed more closely, but for firm ones. Around
    a start or a goal that is too close to an obstacle, it may be passed as closely as that.
    """
    firm = [_shrunk(one, _closest(one, start)) for one in obstacles if one.firm]
    if any(one.covers(goal) for one in firm):
        return ()
    for share in (*SHARES, 0.0):
        soft = [one for one in obstacles if not one.firm and share]
        solid = [_shrunk(one, min(share * one.radius, _closest(one, start, goal))) for one in soft]
        way = _shortest(start, goal, [*firm, *solid], area)
        if way:
            return way
    return ()


def _shrunk(obstacle: Obstacle, radius: float) -> Obstacle:
    return replace(obstacle, radius=min(obstacle.radius, radius))


def _shortest(start: Point2, goal: Point2, obstacles: Sequence[Obstacle], area: Rectangle) -> tuple[Point2, ...]:
    """Dijkstra's over the corners around the obstacles; empty where there is no way."""
    if not any(one.blocks(start, goal) for one in obstacles):
        return (goal,)
    corners = [nearest_in(area, corner) for one in obstacles for corner in one.corners()]
    frontier: list[tuple[float, tuple[Point2, ...]]] = [(0.0, (start,))]
    reached: set[Point2] = set()
    while frontier:
        length, points = heapq.heappop(frontier)
        here = points[-1]
        if here == goal:
            return points[1:]
        if here in reached:
            continue
        reached.add(here)
        for corner in (goal, *corners):
            if corner not in reached and not any(one.blocks(here, corner) for one in obstacles):
                heapq.heappush(frontier, (length + dist(here, corner), (*points, corner)))
    return ()


def nearest_in(area: Rectangle, point: Point2) -> Point2:
    """The point of the area nearest to `point`."""
    return min(max(point[0], area.x_min), area.x_max), min(max(point[1], area.y_min), area.y_max)


def _closest(obstacle: Obstacle, *ends: Point2) -> float:
    """How near to the obstacle the way must come, for it begins or ends there [m]."""
    return max(0.0, min(map(obstacle.distance, ends)) - _MARGIN)


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


STEP = 0.05  # [m] between the places looked at on the way
DETOUR = 1.5  # times the straight line: a longer way to the thing is round a wall, from where nobody is with it
SLACK = 0.1  # [m] that it may come nearer before the base gives way
NEARER = 0.02  # [m] that it may come nearer on the way back
FOLLOWING_SHARES = (0.25, 0.5, 0.75, 1.0)  # of the way back, at which that is looked at


def without(floor: Floor, item: SceneObject) -> Floor:
    """The floor on which one can drive to the very middle of the thing: it is not in its own way."""
    things = tuple(other for other in floor.things if other.name != item.name)
    alone = replace(floor, things=things, zones=())
    zones = tuple(zone for zone in floor.zones if not replace(alone, zones=(zone,)).forbids(item.position[:2]))
    return replace(alone, zones=zones)


def way_behind(floor: Floor, way: Sequence[Point2], item: SceneObject, distance: float) -> tuple[Point2, ...]:
    """The `way` to the thing's middle, cut off where `distance` [m] are left and where rules forbid to go on.

    Where it begins nearer than that, a straight way back, as far as there is room for it.
    """
    here = way[0]
    if distance_to_box(here, item) < distance - SLACK and _is_with(way):
        return here, _place_back(floor, here, item, distance)
    left = sum(dist(a, b) for a, b in pairwise(way))
    kept, before = [here], here
    for a, b in pairwise(way):
        count = max(1, ceil(dist(a, b) / STEP))
        for k in range(count + 1):
            at = _between(a, b, k / count)
            if floor.forbids(at):
                return *kept, before
            if distance_to_box(at, item) <= distance and left - k / count * dist(a, b) <= DETOUR * dist(at, way[-1]):
                return *kept, at
            before = at
        kept.append(b)
        left -= dist(a, b)
    return tuple(kept)


def _is_with(way: Sequence[Point2]) -> bool:
    """Whether no wall is between the ends of the way."""
    return sum(dist(a, b) for a, b in pairwise(way)) <= DETOUR * dist(way[0], way[-1])


def _place_back(floor: Floor, here: Point2, item: SceneObject, distance: float) -> Point2:
    """The nearest free place of this room that is so far from the thing, or else the one farthest from it.

    The straight way there does not come nearer to the thing than `here`.
    """
    room = floor.building.room_at(*here)
    around = floor.obstacles(room, ignore=item.name)
    least = distance_to_box(here, item) - NEARER

    def is_free(place: Point2) -> bool:
        clear = not any(one.covers(place) or (one.blocks(here, place) and not one.covers(here)) for one in around)
        return clear and all(distance_to_box(_between(here, place, share), item) >= least for share in FOLLOWING_SHARES)

    def badness(place: Point2) -> tuple[float, float]:
        return round(max(0.0, distance - distance_to_box(place, item)), 1), dist(here, place)

    return min(filter(is_free, floor.places(room, here)), key=badness, default=here)


def _between(a: Point2, b: Point2, share: float) -> Point2:
    return a[0] + share * (b[0] - a[0]), a[1] + share * (b[1] - a[1])

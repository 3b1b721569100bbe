"""Paths of a mobile base in a building, around obstacles and zones, inside the walls.

Skills and their forecasts share this module, so a plan is judged by the path that the robot takes. It also computes how
a base keeps its distance from something that moves: along the path to it, or back from it. Distances are from the
centre of the base to the object's box, like `distance(robot, OBJECT)` in rules.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import pairwise
from math import ceil, copysign, cos, dist, hypot, pi, sin

from llm_planner.errors import InputError
from llm_planner.robots.mobile_base import BASE_RADIUS, GRIP_REACH
from llm_planner.scene.free_space import shortest_route
from llm_planner.scene.geometry import distance_to_box
from llm_planner.scene.names import the
from llm_planner.scene.places import Point2, Rectangle
from llm_planner.scene.predicates import is_portable
from llm_planner.scene.scene import Building, Scene, SceneObject
from llm_planner.scene.zones import Subject, Zone
from llm_planner.skills.arm_paths import half_widths, kept
from llm_planner.skills.contract import SkillError, SkillErrorCode
from llm_planner.skills.footprints import distance_to_segment

CORNERS = 12  # corners around each obstacle
SHARES = (1.0, 0.87)  # shares of the clearance around obstacles, tried in turn
_MARGIN = 0.02  # [m] from the rims of obstacles to their corners


@dataclass(frozen=True)
class Obstacle:
    """Region that the robot's centre must not enter: a rectangle widened by `radius` [m].

    The rectangle is axis-aligned with half sizes `half` [m] around `center` [m]. A `firm` obstacle keeps its full
    radius, except for a robot that starts inside and has to leave.
    """

    center: Point2
    radius: float
    half: Point2 = (0.0, 0.0)
    firm: bool = False

    def distance(self, point: Point2) -> float:
        """Return the distance [m] from `point` to the rectangle; 0 inside."""
        return hypot(*(max(abs(p - c) - h, 0.0) for p, c, h in zip(point, self.center, self.half, strict=True)))

    def covers(self, point: Point2) -> bool:
        """Return whether the robot's centre must not be at `point`."""
        return self.distance(point) < self.radius

    def blocks(self, a: Point2, b: Point2) -> bool:
        """Return whether the obstacle blocks the line segment from `a` to `b`."""
        if self.half == (0.0, 0.0):
            return distance_to_segment(self.center, a, b) < self.radius
        if self.covers(a) or self.covers(b) or self._is_crossed(a, b):
            return True
        (x, y), (hx, hy) = self.center, self.half
        return any(distance_to_segment((x + i * hx, y + j * hy), a, b) < self.radius for i in (-1, 1) for j in (-1, 1))

    def corners(self) -> list[Point2]:
        """Return points around the obstacle whose connecting segments are free of it."""
        radius = (self.radius + _MARGIN) / cos(pi / CORNERS)
        angles = [2 * pi * (k + 0.5) / CORNERS for k in range(CORNERS)]
        (x, y), (hx, hy) = self.center, self.half
        return [
            (x + copysign(hx, cos(a)) + radius * cos(a), y + copysign(hy, sin(a)) + radius * sin(a)) for a in angles
        ]

    def _is_crossed(self, a: Point2, b: Point2) -> bool:
        """Return whether the segment crosses the rectangle itself (slab method)."""
        first, last = 0.0, 1.0
        for start, end, center, half in zip(a, b, self.center, self.half, strict=True):
            if start == end:
                if abs(start - center) > half:
                    return False
                continue
            enter, leave = sorted(((center + side * half - start) / (end - start)) for side in (-1, 1))
            first, last = max(first, enter), min(last, leave)
        return first <= last


def way_around(start: Point2, goal: Point2, obstacles: Sequence[Obstacle], area: Rectangle) -> tuple[Point2, ...]:
    """Find the shortest path inside `area` around obstacles: its corners [m] after `start`, empty if there is none.

    If there is no path with full clearance, obstacles that are not firm are passed more closely, in the last resort
    straight through. An obstacle close to the start or the goal may be passed as closely as that.
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
    """Run Dijkstra's algorithm over the corners around the obstacles; empty if there is no path."""
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
    """Return the point of `area` nearest to `point`."""
    return min(max(point[0], area.x_min), area.x_max), min(max(point[1], area.y_min), area.y_max)


def _closest(obstacle: Obstacle, *ends: Point2) -> float:
    """Return the clearance [m] that remains at a start or goal near the obstacle."""
    return max(0.0, min(map(obstacle.distance, ends)) - _MARGIN)


VISIT_GAP = 0.3  # [m] between the base and a person or piece of furniture that it visits
ROOM_TO_PASS = 0.12  # [m] between the base and the obstacles that it passes
WALL_GAP = 0.12  # [m] between the base and the walls
SIDES = 16  # directions of approach to an object
REST = 0.03  # [m] beyond a clearance: closer, the controller's own margin stops the base short of its goal
SPARE = 0.08  # [m] beyond that on the path: for rounded corners and tracking errors
GRID = 0.2  # [m] between the places tried near the middle of a room


@dataclass(frozen=True)
class Floor:
    """A `building` with `things` on its floor and `zones` that rules keep the base out of."""

    building: Building
    things: tuple[SceneObject, ...]
    zones: tuple[Zone, ...] = ()

    def area(self, room: str) -> Rectangle:
        """Return where the base's centre may be in a room, doors aside; raises InputError for an unknown room."""
        area, gap = self.building.find(room).area, BASE_RADIUS + WALL_GAP
        return Rectangle(area.x_min + gap, area.x_max - gap, area.y_min + gap, area.y_max - gap)

    def obstacles(self, room: str, ignore: str = "") -> list[Obstacle]:
        """Return the obstacles in a room, with the clearance of the base, and the zones."""
        area, reach = self.building.find(room).area, BASE_RADIUS + ROOM_TO_PASS
        here = [item for item in self.things if area.contains(*item.position[:2]) and item.name != ignore]
        standing = [Obstacle(item.position[:2], hypot(*item.size[:2]) / 2 + reach) for item in here]
        return [*standing, *map(_forbidden, self.zones)]

    def middle(self, room: str) -> Point2:
        """Return the free place nearest to the middle of a room; raises SkillError (NO_FREE_SPACE)."""
        return self.free_place(room, self.building.find(room).area.center)

    def is_free(self, place: Point2) -> bool:
        """Return whether the base can stand at `place` [m], with clearance of the things around."""
        return _is_free(place, self.obstacles(self.building.room_at(*place)))

    def free_place(self, room: str, near: Point2) -> Point2:
        """Return the free place of a room nearest to `near` [m]; raises SkillError (NO_FREE_SPACE)."""
        obstacles = self.obstacles(room)
        for place in self.places(room, near):
            if _is_free(place, obstacles):
                return place
        raise SkillError(SkillErrorCode.NO_FREE_SPACE, f"there is no space to stand in {the(room)}")

    def places(self, room: str, near: Point2) -> Iterator[Point2]:
        """Yield `near`, then grid points of the room's floor by increasing distance."""
        area = self.area(room)
        columns, rows = int((area.x_max - area.x_min) / GRID), int((area.y_max - area.y_min) / GRID)
        yield near
        grid = [(area.x_min + i * GRID, area.y_min + j * GRID) for i in range(columns + 1) for j in range(rows + 1)]
        yield from sorted(grid, key=lambda place: dist(place, near))

    def beside(self, item: SceneObject) -> Point2:
        """Return the free place from which the base takes a thing or meets a person.

        The place lies on the side of the room's middle and does not depend on the position of the base, so that a plan
        can use it in advance. Raises SkillError (UNREACHABLE) if there is none.
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
        """Return the corners of the shortest path from `start` to `goal` [m], inclusive.

        The path leads through doors at a right angle, so that the base does not graze their frames, and around
        obstacles in the rooms.

        Raises:
            InputError: A point is outside the building or no doors connect the two.
            SkillError: Rules leave no path (NO_FREE_SPACE).
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
        """Return whether rules keep the base from standing at `point`."""
        return any(_forbidden(zone).covers(point) for zone in self.zones)

    @property
    def _kept(self) -> str:
        return " and ".join(dict.fromkeys(map(kept, self.zones)))


def floor_of(building: Building, scene: Scene, zones: tuple[Zone, ...] = ()) -> Floor:
    """Build the floor of `building` with all objects of the scene except the held one."""
    return Floor(building, tuple(item for item in scene.objects if item.name != scene.held), zones)


def least_gap(zone: Zone) -> float:
    """Return the least distance [m] of the base's centre from a zone's solid."""
    return zone.clearance + (BASE_RADIUS if zone.subject is Subject.ROBOT else 0.0) + REST


def _forbidden(zone: Zone) -> Obstacle:
    """Return a zone as a firm obstacle seen from above, with spare clearance."""
    x, y, _ = half_widths(zone).tolist()
    return Obstacle(zone.pose.position[:2], least_gap(zone) + SPARE, (x, y), firm=True)


def _loosened(obstacle: Obstacle, goal: Point2) -> Obstacle:
    """Reduce the spare clearance of a firm obstacle to that of `goal`."""
    if not obstacle.firm:
        return obstacle
    least = obstacle.radius - SPARE
    return replace(obstacle, radius=min(obstacle.radius, max(least, obstacle.distance(goal) - 1e-6)))


def _distance_to(item: SceneObject) -> float:
    """Return the distance [m] between the centres of a thing and a base beside it: grip reach for portable things."""
    return GRIP_REACH if is_portable(item) else BASE_RADIUS + hypot(*item.size[:2]) / 2 + VISIT_GAP


def _is_free(place: Point2, obstacles: list[Obstacle]) -> bool:
    return not any(one.covers(place) for one in obstacles)


@lru_cache(maxsize=4096)  # planning requests the same few paths many times
def _legs(building: Building, start: Point2, goal: Point2) -> tuple[tuple[str, Point2, Point2], ...]:
    """Return the rooms of the shortest route, each with its entry and exit point."""
    route = shortest_route(building, start, goal)
    floor, here, legs = Floor(building, ()), start, []
    for door, (room, beyond) in zip(route.points[1:], pairwise(route.rooms), strict=False):
        before, behind = (_passing(floor.area(name), door, end) for name, end in ((room, start), (beyond, goal)))
        legs.append((room, here, before))
        here = behind
    return (*legs, (route.rooms[-1], here, goal))


def _passing(area: Rectangle, door: Point2, end: Point2) -> Point2:
    """Return where to pass a door at a right angle; an end of the path inside the doorway counts as well."""
    return min(nearest_in(area, door), end, key=lambda place: dist(place, door))


STEP = 0.05  # [m] between the places checked on the path
DETOUR = 1.5  # times the straight line: a longer path leads around a wall, out of sight of the thing
SLACK = 0.1  # [m] shortfall of distance before the base gives way
NEARER = 0.02  # [m] decrease of distance allowed while giving way
FOLLOWING_SHARES = (0.25, 0.5, 0.75, 1.0)  # shares of the retreat at which the distance is checked


def without(floor: Floor, item: SceneObject) -> Floor:
    """Return the floor without `item` and the zones around it, so that a path to its centre exists."""
    things = tuple(other for other in floor.things if other.name != item.name)
    alone = replace(floor, things=things, zones=())
    zones = tuple(zone for zone in floor.zones if not replace(alone, zones=(zone,)).forbids(item.position[:2]))
    return replace(alone, zones=zones)


def way_behind(floor: Floor, way: Sequence[Point2], item: SceneObject, distance: float) -> tuple[Point2, ...]:
    """Cut off `way`, which leads to the centre of `item`, at `distance` [m] from it or where rules begin to forbid.

    If the path starts closer than that, return a straight retreat as far as there is room.
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
    """Return whether no wall separates the ends of the path."""
    return sum(dist(a, b) for a, b in pairwise(way)) <= DETOUR * dist(way[0], way[-1])


def _place_back(floor: Floor, here: Point2, item: SceneObject, distance: float) -> Point2:
    """Return the nearest free place of the room at `distance` [m] from the thing, else the best available.

    The straight path there does not approach the thing.
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


def walking_route(scene: Scene, name: str, rooms: Sequence[str]) -> tuple[Point2, ...]:
    """Plan the corners of a person's walk through `rooms` in order, around everything else [m].

    Raises:
        InputError: there is no building, or no such room.
    """
    if scene.building is None:
        raise InputError(f"{name} can walk in a building only, and this scene has none")
    floor = Floor(scene.building, tuple(item for item in scene.objects if item.name != name))
    corners: list[Point2] = []
    here: Point2 = scene.find(name).position[:2]
    for room in rooms:
        goal = floor.middle(room)
        corners += floor.way(here, goal)[1:]
        here = goal
    return tuple(corners)

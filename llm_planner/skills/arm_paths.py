"""Hand paths: up, over and down, around the zones that the hand keeps out of.

Skills and their forecasts share this module, so a plan is judged by the path that the hand takes. Without obstruction
the hand travels at the requested height. Otherwise a visibility graph over corners around the zones (Lozano-Perez and
Wesley, 1979) gives the shortest path at each of several heights, with legs straight in cylindrical coordinates, and the
shortest of all is taken.

`distances` computes distances from many points to the solid of a zone. `in_funnel` and `is_clear` decide whether the
hand may descend directly to its goal. They depend only on the current poses of hand and objects, so an interrupted
motion resumes from wherever the hand is. The funnel lies inside the forecast path and only cuts its corner.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Sequence
from contextlib import suppress
from functools import lru_cache
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from llm_planner.control.keep_out import KeepOutSettings
from llm_planner.robots.arm_model import ArmShape, arm_shape
from llm_planner.robots.gripper import DEFAULT_HAND
from llm_planner.scene.geometry import half_extents, rotation_matrix, top
from llm_planner.scene.predicates import is_solid
from llm_planner.scene.scene import Pose, Scene, SceneObject, Vector3
from llm_planner.scene.zones import Shape, Subject, Zone, half_sides
from llm_planner.skills.contract import SkillError, SkillErrorCode
from llm_planner.skills.hand_geometry import HandPose, Slice, into_reach, room, wrap

Array = NDArray[np.float64]


def distances(zone: Zone, points: Array) -> Array:
    """Return signed distances [m] (...), negative inside, from `points` (..., 3) [m] to the solid of a zone."""
    local = np.abs((points - zone.pose.position) @ np.array(rotation_matrix(zone.pose.orientation)))
    if zone.shape is Shape.SPHERE:
        return _length(local) - zone.size[0]
    if zone.shape is Shape.CAPSULE:
        local[..., 2] = np.maximum(local[..., 2] - zone.size[1], 0.0)
        return _length(local) - zone.size[0]
    if zone.shape is Shape.CYLINDER:
        local = np.stack([np.hypot(local[..., 0], local[..., 1]), local[..., 2]], axis=-1)
    outside = local - np.array(zone.size)
    distance: Array = _length(np.maximum(outside, 0.0)) + np.minimum(outside.max(axis=-1), 0.0)
    return distance


def half_widths(zone: Zone) -> Array:
    """Return the half extents (3,) [m] of the axis-aligned box around the solid of a zone."""
    widths: Array = np.abs(rotation_matrix(zone.pose.orientation)) @ np.array(half_sides(zone.shape, zone.size))
    return widths


def _length(vectors: Array) -> Array:
    length: Array = np.sqrt((vectors * vectors).sum(axis=-1))
    return length


# [m] beyond a clearance: closer, the controller's own margin stops the hand more than 3 mm short and the skill waits.
REST = max(0.0, KeepOutSettings().margin - 0.003)
SPARE = 0.024  # [m] beyond the least gap: for rounded corners and tracking errors
SLOPE = 0.15  # growth of the required gap per metre from a start or goal that is itself closer to a zone
HAND = DEFAULT_HAND.reach  # [m] from the axis of the hand to its rim: widens zones for the whole robot
HEIGHTS = 4  # number of travel heights tried
CORNERS = 12  # corners around each zone
AZIMUTH = 1.7  # [rad] greatest azimuth of a path, to either side
STEP = 0.015  # [m] between the points checked on a leg
BEND = 0.02  # [m] cost of a corner, to prefer the straighter of equal paths


def way_to(
    start: HandPose, goal: HandPose, cruise: float, shape: ArmShape, zones: tuple[Zone, ...] = ()
) -> tuple[HandPose, ...]:
    """Plan the corners after `start` up to the point above `goal`, or `goal` itself if that is higher than the path.

    The hand travels at the height `cruise` [m] if possible, within the reach of `shape`. Raises SkillError
    (NO_FREE_SPACE) if no path keeps out of `zones`.
    """
    return _way(start, goal, cruise, shape, zones) if zones else _arc(start, goal, cruise, shape)


TALL_ROOM = 0.03  # [m] between the hand and an object that is too tall to pass over


def way_over(
    scene: Scene, start: HandPose, goal: HandPose, cruise: float, zones: tuple[Zone, ...] = ()
) -> tuple[HandPose, ...]:
    """Plan as `way_to` does, and around the objects that are too tall to pass over, where there is such a way."""
    shape = arm_shape(scene.arm)
    boxes = ((item, half_extents(item)) for item in too_tall(scene))
    tall = [Zone(item.name, Shape.BOX, half, Pose(item.position), TALL_ROOM) for item, half in boxes]
    if tall:
        with suppress(SkillError):
            return way_to(start, goal, cruise, shape, (*zones, *tall))
    return way_to(start, goal, cruise, shape, zones)


CRUISE_ROOM = 0.035  # [m] clearance of a travelling hand and its load above the tallest object


def cruise_height(scene: Scene, below: float, ignore: str = "", higher: float = 0.0) -> float:
    """Return the height [m] of the grip point at which hand and load, `below` [m] it, pass over all but `ignore`.

    `higher` [m] is added as far as the reach of the arm allows.
    """
    heights = arm_shape(scene.arm).heights
    tops = (top(item) + CRUISE_ROOM for item in scene.objects if item.name != ignore)
    return min(max([heights.cruise_min, *tops]) + higher + below, heights.cruise_max)


def too_tall(scene: Scene) -> tuple[SceneObject, ...]:
    """Return the objects that are taller than the hand travels, but for the held one."""
    shape = arm_shape(scene.arm)
    highest = shape.heights.cruise_max - shape.gripper.tip
    others = (item for item in scene.objects if item.name != scene.held and is_solid(item))
    return tuple(item for item in others if top(item) > highest)


def _arc(start: HandPose, goal: HandPose, height: float, shape: ArmShape) -> tuple[HandPose, ...]:
    risen = (into_reach(start.raised(height), shape),) if start.z < height else ()
    return (*risen, into_reach(goal.raised(max(height, goal.z)), shape))


@lru_cache(maxsize=4096)  # planning requests the same few paths many times
def _way(
    start: HandPose, goal: HandPose, cruise: float, shape: ArmShape, zones: tuple[Zone, ...]
) -> tuple[HandPose, ...]:
    room = _Room(start, goal, shape, zones)
    room.check_goal()
    direct = _arc(start, goal, cruise, shape)
    if room.is_free((start, *direct, goal)):
        return direct
    best, metres = tuple[HandPose, ...](), math.inf
    for height in np.linspace(cruise, max(cruise, shape.heights.detour_max), HEIGHTS).tolist():
        over = _arc(start, goal, height, shape)
        if _metres((start, *over, goal)) < metres:  # otherwise no path at this height is shorter
            way = room.way_at(height)
            if way and _metres((start, *way, goal)) < metres:
                best, metres = way, _metres((start, *way, goal))
    if not best:
        told = " and ".join(dict.fromkeys(map(kept, zones)))
        raise SkillError(SkillErrorCode.NO_FREE_SPACE, f"the hand finds no way there that keeps {told}")
    return best


def check_line(start: HandPose, goal: HandPose, zones: tuple[Zone, ...]) -> None:
    """Raise SkillError (NO_FREE_SPACE) if the straight line from `start` to `goal` enters a zone."""
    count = max(2, math.ceil(math.dist(_place(start), _place(goal)) / STEP))
    line = np.linspace(_place(start), _place(goal), count)
    for zone in zones:
        gap = float(distances(zone, line).min())
        if gap < least_gap(zone):
            raise _too_near(zone, gap)


def keeps_out(place: Vector3, zones: tuple[Zone, ...]) -> bool:
    """Return whether the grip point may be at `place` [m]."""
    return all(float(distances(zone, np.array(place))) >= least_gap(zone) for zone in zones)


def least_gap(zone: Zone, reach: float = HAND) -> float:
    """Return the least distance [m] of the grip point from a zone's solid.

    `reach` [m] is the extent of hand and load around the grip point; it counts in zones for the whole robot.
    """
    return zone.clearance + (reach if zone.subject is Subject.ROBOT else 0.0) + REST


class _Room:
    def __init__(self, start: HandPose, goal: HandPose, shape: ArmShape, zones: tuple[Zone, ...]) -> None:
        self._start, self._goal, self._shape, self._zones = start, goal, shape, zones
        ends = np.array([_place(start), _place(goal)])
        self._ends = ends[:, :2]
        self._gaps = [distances(zone, ends) for zone in zones]
        self._least = [least_gap(zone, shape.gripper.reach) for zone in zones]

    def check_goal(self) -> None:
        """Raise SkillError (NO_FREE_SPACE) if the goal is in a zone."""
        for zone, (_, gap), least in zip(self._zones, self._gaps, self._least, strict=True):
            if gap < least:
                raise _too_near(zone, gap)

    def is_free(self, grips: Sequence[HandPose]) -> bool:
        """Return whether the legs along `grips` keep out of all zones."""
        corners = _cylindrical(grips)
        return bool(self._see(corners[:-1], corners[1:]).all())

    def way_at(self, height: float) -> tuple[HandPose, ...]:
        """Return the shortest path at travel height `height` [m], empty if there is none."""
        *risen, over = _arc(self._start, self._goal, height, self._shape)
        if not (self.is_free((self._start, *risen)) and self.is_free((over, self._goal))):
            return ()
        nodes = np.concatenate([_cylindrical([*risen, self._start][:1]), self._corners(height), _cylindrical([over])])
        first, second = np.triu_indices(len(nodes), 1)
        seen = self._see(nodes[first], nodes[second])
        metres = np.full((len(nodes), len(nodes)), np.inf)
        metres[first[seen], second[seen]] = _lengths(nodes[first[seen]], nodes[second[seen]])
        path = shortest(np.minimum(metres, metres.T))
        return (*risen, *self._grips(nodes[path[:-1]])[1:], over) if path else ()

    def _see(self, a: Array, b: Array) -> NDArray[np.bool_]:
        """Return which legs from `a` to `b` (n, 3) are free (n,); a coarse check precedes the fine one."""
        free = np.ones(len(a), dtype=bool)
        for step in (10 * STEP, STEP):
            begin, end = a[free], b[free]
            count = max(2, math.ceil(float(_lengths(begin, end).max(initial=0.0)) / step))
            shares = np.linspace(0.0, 1.0, count)[:, None]
            free[free] = self._free(begin[:, None] + shares * (end - begin)[:, None]).all(axis=1)
        return free

    def _free(self, points: Array) -> NDArray[np.bool_]:
        """Return which points (..., 3), in cylindrical coordinates, are free."""
        radius, azimuth, height = np.moveaxis(points, -1, 0)
        places = np.stack([radius * np.cos(azimuth), radius * np.sin(azimuth), height], axis=-1)
        far = SLOPE * np.linalg.norm(places[..., None, :2] - self._ends, axis=-1) - 1e-6
        free = np.ones(points.shape[:-1], dtype=bool)
        for zone, gaps, least in zip(self._zones, self._gaps, self._least, strict=True):
            asked = np.minimum(least + SPARE, (gaps + far).min(axis=-1))
            free &= distances(zone, places) >= asked
        return free

    def _corners(self, height: float) -> Array:
        """Return free places (n, 3) around the zones' cross-sections at that height."""
        rings = [_ring(zone, height, least) for zone, least in zip(self._zones, self._least, strict=True)]
        around = [HandPose(x, y, height, 0.0) for x, y in np.concatenate(rings).tolist()]
        corners = _cylindrical([into_reach(grip, self._shape) for grip in around])
        return corners[self._free(corners) & (np.abs(corners[:, 1]) < AZIMUTH)]

    def _grips(self, nodes: Array) -> list[HandPose]:
        """Return grips at the nodes of a path, with the yaw interpolated to that of the goal."""
        ends = [grip.yaw - math.atan2(grip.y, grip.x) for grip in (self._start, self._goal)]
        count = len(nodes) + 1
        turns, tilts = (
            np.linspace(ends[0], ends[1], count)[:-1],
            np.linspace(self._start.tilt, self._goal.tilt, count)[:-1],
        )
        return [
            HandPose(radius * math.cos(azimuth), radius * math.sin(azimuth), height, turn + azimuth, tilt)
            for (radius, azimuth, height), turn, tilt in zip(
                nodes.tolist(), turns.tolist(), tilts.tolist(), strict=True
            )
        ]


def shortest(metres: Array) -> list[int]:
    """Find the shortest path by Dijkstra's algorithm and return its nodes, empty if there is none.

    `metres` (n, n) are edge lengths, infinite where there is no edge; the path leads from the first node to the last.
    """
    count = len(metres)
    reached, before, done = np.full(count, np.inf), [0] * count, np.zeros(count, dtype=bool)
    reached[0] = 0.0
    while not done[-1]:
        here = int(np.where(done, np.inf, reached).argmin())
        if done[here] or math.isinf(reached[here]):
            return []
        done[here] = True
        for there in np.flatnonzero(reached[here] + metres[here] < reached).tolist():
            reached[there], before[there] = reached[here] + metres[here, there], here
    path = [count - 1]
    while path[-1]:
        path.append(before[path[-1]])
    return path[::-1]


def _ring(zone: Zone, height: float, least: float) -> Array:
    """Return places (n, 2) around a zone seen from above, none if the hand passes over or under it."""
    half, (x, y, z) = half_widths(zone), zone.pose.position
    apart = max(0.0, abs(height - z) - half[2])
    wide = least + 1.2 * SPARE
    if apart >= wide:
        return np.zeros((0, 2))
    angles = np.arange(CORNERS) * (2 * math.pi / CORNERS)
    turned = np.stack([np.cos(angles), np.sin(angles)], axis=-1)
    ring: Array = (x, y) + np.where(np.abs(turned) < 1e-9, 0.0, np.sign(turned)) * half[:2]
    return ring + turned * math.sqrt(wide**2 - apart**2)


def _place(grip: HandPose) -> Vector3:
    return grip.x, grip.y, grip.z


def _cylindrical(grips: Sequence[HandPose]) -> Array:
    """Return radius [m], azimuth [rad] and height [m] of each grip (n, 3)."""
    rows = [(math.hypot(grip.x, grip.y), math.atan2(grip.y, grip.x), grip.z) for grip in grips]
    return np.array(rows).reshape(-1, 3)


def _lengths(a: Array, b: Array) -> Array:
    """Return upper bounds of the lengths [m] of the legs from `a` to `b` (n, 3), plus the cost of a corner."""
    gone = b - a
    gone[:, 1] *= np.maximum(a[:, 0], b[:, 0])
    lengths: Array = np.linalg.norm(gone, axis=1) + BEND
    return lengths


def _metres(grips: Sequence[HandPose]) -> float:
    corners = _cylindrical(grips)
    return float(_lengths(corners[:-1], corners[1:]).sum())


def kept(zone: Zone) -> str:
    """Describe for a person what a robot keeps of a zone: "10 cm from the vase"."""
    return f"{100 * zone.clearance:.0f} cm from {zone.name}" if zone.clearance else f"clear of {zone.name}"


def _too_near(zone: Zone, gap: float) -> SkillError:
    spare = f", with {100 * REST:.1f} cm to spare" if REST else ""
    told = f"the hand has to keep {kept(zone)}{spare}, and would come within {100 * max(0.0, gap):.1f} cm"
    return SkillError(SkillErrorCode.NO_FREE_SPACE, told)


ASIDE, _DESCENT_SLOPE = 0.005, 0.5  # [m] radius of the funnel at its apex, and growth per metre above it
TURNED, TURN_SLOPE = 0.12, 6.0  # [rad], [rad/m] the same for the yaw
BELOW = 0.006  # [m] below its goal within which a hand has arrived
CLEAR = 0.002  # [m] least clearance to objects, or that of the goal if it is less
_DESCENT_STEP = 0.01  # [m] between the places checked on a descent

Parts = Callable[[HandPose], Sequence[Slice]]


def in_funnel(hand: HandPose, goal: HandPose, apex: float) -> bool:
    """Return whether the hand is inside the funnel above `goal`, a narrow shaft up to the height `apex` [m]."""
    over = max(0.0, hand.z - apex)
    aside, turned = math.dist((hand.x, hand.y), (goal.x, goal.y)), abs(wrap(hand.yaw - goal.yaw))
    return hand.z >= goal.z - BELOW and aside <= ASIDE + _DESCENT_SLOPE * over and turned <= TURNED + TURN_SLOPE * over


def is_clear(
    corners: Sequence[HandPose], parts: Parts, scene: Scene, ignore: Collection[str], zones: tuple[Zone, ...]
) -> bool:
    """Return whether hand and load keep clear of everything but `ignore`, and out of `zones`, along `corners`.

    The last corner is the goal; `parts` returns the slices of hand and load at a grip.
    """
    try:
        for start, end in pairwise(corners):
            check_line(start, end, zones)
    except SkillError:
        return False
    enough = min(CLEAR, room(parts(corners[-1]), scene, ignore)[0] - 1e-6)
    return all(room(parts(grip), scene, ignore)[0] >= enough for a, b in pairwise(corners) for grip in between(a, b))


def between(a: HandPose, b: HandPose) -> list[HandPose]:
    """Return grips every `_DESCENT_STEP` [m] on the straight line from `a`, without `b`."""
    count = max(1, math.ceil(math.dist((a.x, a.y, a.z), (b.x, b.y, b.z)) / _DESCENT_STEP))
    turn, tilt = wrap(b.yaw - a.yaw), b.tilt - a.tilt
    return [
        HandPose(
            a.x + s * (b.x - a.x), a.y + s * (b.y - a.y), a.z + s * (b.z - a.z), a.yaw + s * turn, a.tilt + s * tilt
        )
        for s in (k / count for k in range(count))
    ]

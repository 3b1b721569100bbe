"""The way of the hand from one place to another: up, over and down, around the zones that it keeps out of or over them.

The skills and the forecasts of them ask here, so that a plan is judged by the way that the hand will take. Where
nothing is in the way it swings at the height asked for. Else, at each of a few heights, the shortest way along corners
around the zones is looked for among those that see each other (a visibility graph; Lozano-Perez and Wesley 1979), with
legs as the hand takes them, straight in cylindrical coordinates; the shortest of all heights is taken.

How far points are from a zone's solid, many at once: what paths of the hand are judged by.

When a hand goes straight down to its goal: from inside a funnel above it, where nothing is in the way.

Outside the funnel it rises and comes from above. What is decided follows from where hand and things are alone, so that
a movement that was broken off goes on from wherever the hand has been left. The funnel lies within the way up, over and
down that is forecast: it only cuts that corner.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Sequence
from functools import lru_cache
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from llm_planner.control.keep_out import KeepOutSettings
from llm_planner.scene.geometry import rotation_matrix
from llm_planner.scene.scene import Scene, Vector3
from llm_planner.scene.zones import Shape, Subject, Zone, half_sides
from llm_planner.skills.contract import SkillError, SkillErrorCode
from llm_planner.skills.hand_geometry import Grip, Slice, into_reach, room, wrap

Array = NDArray[np.float64]


def distances(zone: Zone, points: Array) -> Array:
    """From each of `points` (..., 3) [m, the frame of the zone's pose] to the solid [m], negative inside: (...)."""
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
    """Half the sides of the upright box around the solid (3,) [m]."""
    widths: Array = np.abs(rotation_matrix(zone.pose.orientation)) @ np.array(half_sides(zone.shape, zone.size))
    return widths


def _length(vectors: Array) -> Array:
    length: Array = np.sqrt((vectors * vectors).sum(axis=-1))
    return length


# [m] beyond a clearance: nearer, a controller that keeps its margin stops more than 3 mm short, which a skill minds.
REST = max(0.0, KeepOutSettings().margin - 0.003)
SPARE = 0.024  # [m] beyond the least gap: rounded corners, and a hand that is not exactly on its path
SLOPE = 0.15  # near its start and goal a way may pass closer, if these are: more by that for each metre from them
HAND = 0.105  # [m] from the grip point to the rim of the palm: what a zone for the whole robot is widened by
HIGHEST = 0.48  # [m] at which the hand may pass over something
HEIGHTS = 4  # tried between the lowest and the highest
CORNERS = 12  # around each zone
AZIMUTH = 1.7  # [rad] to either side, as far as a way may swing
STEP = 0.015  # [m] between the points at which a leg is judged
BEND = 0.02  # [m] that a corner counts: of equally short ways the straighter one


def way_to(start: Grip, goal: Grip, cruise: float, zones: tuple[Zone, ...] = ()) -> tuple[Grip, ...]:
    """The corners after `start` as far as above `goal`, or as far as that where it is no lower than the way.

    The hand passes at the height `cruise` [m] where it can. Raises SkillError (NO_FREE_SPACE) where no way keeps out of
    the zones.
    """
    return _way(start, goal, cruise, zones) if zones else _arc(start, goal, cruise)


def _arc(start: Grip, goal: Grip, height: float) -> tuple[Grip, ...]:
    risen = (into_reach(start.raised(height)),) if start.z < height else ()
    return (*risen, into_reach(goal.raised(max(height, goal.z))))


@lru_cache(maxsize=4096)  # the same few ways are asked for again and again while a plan is sought
def _way(start: Grip, goal: Grip, cruise: float, zones: tuple[Zone, ...]) -> tuple[Grip, ...]:
    room = _Room(start, goal, zones)
    room.check_goal()
    direct = _arc(start, goal, cruise)
    if room.is_free((start, *direct, goal)):
        return direct
    best, metres = tuple[Grip, ...](), math.inf
    for height in np.linspace(cruise, max(cruise, HIGHEST), HEIGHTS).tolist():
        if _metres((start, *_arc(start, goal, height), goal)) < metres:  # else no way up there is shorter
            way = room.way_at(height)
            if way and _metres((start, *way, goal)) < metres:
                best, metres = way, _metres((start, *way, goal))
    if not best:
        told = " and ".join(dict.fromkeys(map(kept, zones)))
        raise SkillError(SkillErrorCode.NO_FREE_SPACE, f"the hand finds no way there that keeps {told}")
    return best


def check_line(start: Grip, goal: Grip, zones: tuple[Zone, ...]) -> None:
    """Raises SkillError (NO_FREE_SPACE) where the straight line in space between the two comes into a zone."""
    count = max(2, math.ceil(math.dist(_place(start), _place(goal)) / STEP))
    line = np.linspace(_place(start), _place(goal), count)
    for zone in zones:
        gap = float(distances(zone, line).min())
        if gap < least_gap(zone):
            raise _too_near(zone, gap)


def keeps_out(place: Vector3, zones: tuple[Zone, ...]) -> bool:
    """Whether the grip point may be at `place` [m]."""
    return all(float(distances(zone, np.array(place))) >= least_gap(zone) for zone in zones)


def least_gap(zone: Zone, reach: float = HAND) -> float:
    """How far the grip point stays from the zone's solid at the least [m], `reach` [m] of hand and load around it."""
    return zone.clearance + (reach if zone.subject is Subject.ROBOT else 0.0) + REST


class _Room:
    """What is free between a start and a goal."""

    def __init__(self, start: Grip, goal: Grip, zones: tuple[Zone, ...]) -> None:
        self._start, self._goal, self._zones = start, goal, zones
        ends = np.array([_place(start), _place(goal)])
        self._ends = ends[:, :2]
        self._gaps = [distances(zone, ends) for zone in zones]

    def check_goal(self) -> None:
        """Raises SkillError (NO_FREE_SPACE) where the goal is in a zone."""
        for zone, (_, gap) in zip(self._zones, self._gaps, strict=True):
            if gap < least_gap(zone):
                raise _too_near(zone, gap)

    def is_free(self, grips: Sequence[Grip]) -> bool:
        """Whether the legs along `grips` keep out of all zones."""
        corners = _cylindrical(grips)
        return bool(self._see(corners[:-1], corners[1:]).all())

    def way_at(self, height: float) -> tuple[Grip, ...]:
        """The shortest way that passes at `height` [m]; empty where there is none."""
        *risen, over = _arc(self._start, self._goal, height)
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
        """Whether each of the legs from `a` to `b` (n, 3) is free (n,): first a few points are looked at, then all."""
        free = np.ones(len(a), dtype=bool)
        for step in (10 * STEP, STEP):
            begin, end = a[free], b[free]
            count = max(2, math.ceil(float(_lengths(begin, end).max(initial=0.0)) / step))
            shares = np.linspace(0.0, 1.0, count)[:, None]
            free[free] = self._free(begin[:, None] + shares * (end - begin)[:, None]).all(axis=1)
        return free

    def _free(self, points: Array) -> NDArray[np.bool_]:
        """Of points (..., 3) in cylindrical coordinates."""
        radius, azimuth, height = np.moveaxis(points, -1, 0)
        places = np.stack([radius * np.cos(azimuth), radius * np.sin(azimuth), height], axis=-1)
        far = SLOPE * np.linalg.norm(places[..., None, :2] - self._ends, axis=-1) - 1e-6
        free = np.ones(points.shape[:-1], dtype=bool)
        for zone, gaps in zip(self._zones, self._gaps, strict=True):
            asked = np.minimum(least_gap(zone) + SPARE, (gaps + far).min(axis=-1))
            free &= distances(zone, places) >= asked
        return free

    def _corners(self, height: float) -> Array:
        """Free places around the zones, as wide as these are at that height (n, 3)."""
        rings = [_ring(zone, height) for zone in self._zones]
        corners = _cylindrical([into_reach(Grip(x, y, height, 0.0)) for x, y in np.concatenate(rings).tolist()])
        return corners[self._free(corners) & (np.abs(corners[:, 1]) < AZIMUTH)]

    def _grips(self, nodes: Array) -> list[Grip]:
        """The hand at the nodes of a way, turning with its azimuth as it does on the way to the goal."""
        ends = [grip.yaw - math.atan2(grip.y, grip.x) for grip in (self._start, self._goal)]
        turns = np.linspace(ends[0], ends[1], len(nodes) + 1)[:-1]
        return [
            Grip(radius * math.cos(azimuth), radius * math.sin(azimuth), height, turn + azimuth)
            for (radius, azimuth, height), turn in zip(nodes.tolist(), turns.tolist(), strict=True)
        ]


def shortest(metres: Array) -> list[int]:
    """Dijkstra's from the first node to the last, over lengths (n, n), infinite where there is no edge; empty where no
    way leads there."""
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


def _ring(zone: Zone, height: float) -> Array:
    """Places around a zone as seen from above (n, 2); none where the hand passes over or under it."""
    half, (x, y, z) = half_widths(zone), zone.pose.position
    apart = max(0.0, abs(height - z) - half[2])
    wide = least_gap(zone) + 1.2 * SPARE
    if apart >= wide:
        return np.zeros((0, 2))
    angles = np.arange(CORNERS) * (2 * math.pi / CORNERS)
    turned = np.stack([np.cos(angles), np.sin(angles)], axis=-1)
    ring: Array = (x, y) + np.where(np.abs(turned) < 1e-9, 0.0, np.sign(turned)) * half[:2]
    return ring + turned * math.sqrt(wide**2 - apart**2)


def _place(grip: Grip) -> Vector3:
    return grip.x, grip.y, grip.z


def _cylindrical(grips: Sequence[Grip]) -> Array:
    """Radius [m], azimuth [rad], height [m] of each (n, 3)."""
    rows = [(math.hypot(grip.x, grip.y), math.atan2(grip.y, grip.x), grip.z) for grip in grips]
    return np.array(rows).reshape(-1, 3)


def _lengths(a: Array, b: Array) -> Array:
    """Of the legs from `a` to `b` (n, 3), or a little more, and what the bend at their end counts [m]."""
    gone = b - a
    gone[:, 1] *= np.maximum(a[:, 0], b[:, 0])
    lengths: Array = np.linalg.norm(gone, axis=1) + BEND
    return lengths


def _metres(grips: Sequence[Grip]) -> float:
    corners = _cylindrical(grips)
    return float(_lengths(corners[:-1], corners[1:]).sum())


def kept(zone: Zone) -> str:
    """What a robot keeps of a zone, for a person: "10 cm from the vase"."""
    return f"{100 * zone.clearance:.0f} cm from {zone.name}" if zone.clearance else f"clear of {zone.name}"


def _too_near(zone: Zone, gap: float) -> SkillError:
    spare = f", with {100 * REST:.1f} cm to spare" if REST else ""
    told = f"the hand has to keep {kept(zone)}{spare}, and would come within {100 * max(0.0, gap):.1f} cm"
    return SkillError(SkillErrorCode.NO_FREE_SPACE, told)


ASIDE, _DESCENT_SLOPE = 0.005, 0.5  # [m] off the goal's axis at the apex, and more by that for each metre above it
TURNED, TURN_SLOPE = 0.12, 6.0  # [rad] the same of the hand's yaw, and [rad/m]
BELOW = 0.006  # [m] under its goal a hand has arrived rather than come too low
CLEAR = 0.002  # [m] of room beside what stands around; less where the goal itself has less
_DESCENT_STEP = 0.01  # [m] between the places at which the room is looked at

Parts = Callable[[Grip], Sequence[Slice]]


def in_funnel(hand: Grip, goal: Grip, apex: float) -> bool:
    """Whether the hand is above `goal` within the funnel, which is a narrow shaft up to the height `apex` [m]."""
    over = max(0.0, hand.z - apex)
    aside, turned = math.dist((hand.x, hand.y), (goal.x, goal.y)), abs(wrap(hand.yaw - goal.yaw))
    return hand.z >= goal.z - BELOW and aside <= ASIDE + _DESCENT_SLOPE * over and turned <= TURNED + TURN_SLOPE * over


def is_clear(
    corners: Sequence[Grip], parts: Parts, scene: Scene, ignore: Collection[str], zones: tuple[Zone, ...]
) -> bool:
    """Whether `parts` of the hand and its load keep clear of everything but `ignore` on the lines along `corners`."""
    try:
        for start, end in pairwise(corners):
            check_line(start, end, zones)
    except SkillError:
        return False
    enough = min(CLEAR, room(parts(corners[-1]), scene, ignore)[0] - 1e-6)
    return all(room(parts(grip), scene, ignore)[0] >= enough for a, b in pairwise(corners) for grip in _between(a, b))


def _between(a: Grip, b: Grip) -> list[Grip]:
    count = max(1, math.ceil(math.dist((a.x, a.y, a.z), (b.x, b.y, b.z)) / _DESCENT_STEP))
    turn = wrap(b.yaw - a.yaw)
    return [
        Grip(a.x + s * (b.x - a.x), a.y + s * (b.y - a.y), a.z + s * (b.z - a.z), a.yaw + s * turn)
        for s in (k / count for k in range(count))
    ]

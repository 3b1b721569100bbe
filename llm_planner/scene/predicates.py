"""Predicates over a measured scene: pure functions used by programs, skill effects and goals.

Directions and regions are those seen by a person behind the robot (see `places`). Names that are not in the scene raise
KeyError. A held object rests nowhere: it is not on, in, at or beside anything.
"""

from __future__ import annotations

import math
from collections.abc import Iterable

from llm_planner.scene import furniture
from llm_planner.scene.geometry import (
    bottom,
    distance_in_plane,
    distance_to_box,
    half_extents,
    is_above,
    rotation_matrix,
    top,
)
from llm_planner.scene.places import ANY_SIDE, DIRECTIONS, Point2, direction_vector
from llm_planner.scene.scene import Scene, SceneObject, Vector3

CONTACT_TOLERANCE = 0.012  # [m] between bottom and support; soft contacts sink 1 mm, tilt lifts a block's box 8 mm
REST_TOLERANCE = 0.012  # [m] between bottom and table top
PLACE_TOLERANCE = 0.03  # [m] of a centre outside a region; less than half a block and its finger
POINT_TOLERANCE = 0.04  # [m] from a named point; one block width
GAP_TOLERANCE = 0.025  # [m] error of a gap or displacement; fingers open unevenly, pushed objects slide on
DRIFT_TOLERANCE = 0.05  # [m] sideways error of a push; a mug rolls 3 cm aside over 24 cm
OFFSET_TOLERANCE = 0.015  # [m] error along and across of an object placed at an offset
HOVER_ASIDE, HOVER_MOST = 0.02, 0.10  # [m] limits of `above`: off the centre, over the top
BESIDE_MAX_GAP = 0.15  # [m] largest gap of "beside" without a requested distance
SIDE_MARGIN = 0.01  # [m] closer to the dividing line, a point is on neither side

CONTAINER_KINDS = frozenset({"bowl", "mug", "cup", "plate", "tray", "box", "basket", "pot", "pan", "bin"})
SUPPORTS = frozenset({"in", "on"})  # predicates of an object and its support
DRAWER, BUTTON, STAIN, DOCK = "drawer", "button", "stain", "dock"
SHELF = "shelf"  # furniture without a state: a board on a wall, open in front
TABLE_KIND = "table"  # where an arm on a mobile base works; the arm's own table is no object of its scene
FURNITURE = frozenset({DRAWER, BUTTON, STAIN, DOCK})
FIXED_KINDS = frozenset({"person", "plant", TABLE_KIND, SHELF}) | FURNITURE  # not portable
OPEN_AT, CLOSED_AT = 0.06, 0.01  # [m] smallest extension of an open drawer, largest of a closed one
CLEAN_AT = 0.05  # largest remaining share of a clean stain
TOPPLED = math.radians(60.0)
FOLLOWED = 0.25  # [m] tolerance on the following distance
GONE_ON = 0.5  # [m] that the target may move on while the robot stops

Place = str | Vector3 | Point2  # a region's name, or a point


def is_container(item: SceneObject) -> bool:
    """Return whether objects can lie in it. Decided by kind, since the box says nothing about the inside."""
    return is_vessel(item) or item.kind == DRAWER


def is_vessel(item: SceneObject) -> bool:
    """Return whether it is a container without a closed top, so that an object put on it lies in it."""
    return item.kind in CONTAINER_KINDS


def is_portable(item: SceneObject) -> bool:
    """Return whether a robot may pick it up; false for people and fixtures."""
    return item.kind not in FIXED_KINDS


def is_solid(item: SceneObject) -> bool:
    """Return whether it can be an obstacle on a table; false for stains and for tables themselves."""
    return item.kind not in (STAIN, TABLE_KIND)


def on(scene: Scene, a: str, b: str) -> bool:
    """Return whether `a` rests on `b`: on its top with the centre above it, or inside if `b` is a container."""
    item, support = scene.find(a), scene.find(b)
    if a == b or scene.held == a:
        return False
    rests_on_top = abs(bottom(item) - top(support)) <= CONTACT_TOLERANCE and is_above(support, *item.position[:2])
    return rests_on_top or in_(scene, a, b)


def in_(scene: Scene, a: str, b: str) -> bool:
    """Return whether `a` lies in container `b`: on its floor, on the pile in it, or in the tray of a drawer."""
    return a in _inside(scene, b)


def _inside(scene: Scene, container_name: str) -> tuple[str, ...]:
    container = scene.find(container_name)
    if container.kind == DRAWER:
        return tuple(item.name for item in scene.objects if item.name != scene.held and _in_tray(item, container))
    if not is_vessel(container):
        return ()
    candidates = [
        item
        for item in scene.objects
        if item.name not in (container_name, scene.held) and is_portable(item) and _over_opening(item, container)
    ]
    inside: list[SceneObject] = []
    for item in sorted(candidates, key=bottom):
        if bottom(item) <= top(container) or any(_touches_from_above(item, lower) for lower in inside):
            inside.append(item)
    return tuple(item.name for item in inside)


def _in_tray(item: SceneObject, drawer: SceneObject) -> bool:
    """Return whether the centre is within the tray, open or closed, and the object does not stand on the cabinet."""
    within = furniture.tray(drawer).contains(*item.position[:2])
    between = bottom(item) <= top(drawer) - CONTACT_TOLERANCE and top(item) > bottom(drawer) + CONTACT_TOLERANCE
    return item.name != drawer.name and within and between


def _over_opening(item: SceneObject, container: SceneObject) -> bool:
    """Return whether the centre is within the rim seen from above, and the object is not under the container."""
    radius = min(half_extents(container)[:2])
    above_floor = item.position[2] >= bottom(container) and top(item) > bottom(container) + CONTACT_TOLERANCE
    return above_floor and distance_in_plane(item.position, container.position) <= radius


def _touches_from_above(item: SceneObject, lower: SceneObject) -> bool:
    """Return whether the boxes overlap in the plane and in height. Objects in a pile lean on each other."""
    reach_a, reach_b = half_extents(item), half_extents(lower)
    overlap = all(abs(item.position[k] - lower.position[k]) <= reach_a[k] + reach_b[k] for k in (0, 1))
    return overlap and bottom(item) <= top(lower) + CONTACT_TOLERANCE


def contents(scene: Scene, name: str) -> tuple[str, ...]:
    """Return the objects directly in or on the object, in scene order. A pile counts as directly in its container."""
    inside = set(_inside(scene, name))
    return tuple(item.name for item in scene.objects if item.name in inside or on(scene, item.name, name))


def clear(scene: Scene, name: str) -> bool:
    """Return whether nothing is on or in the object."""
    return not contents(scene, name)


def held(scene: Scene, name: str) -> bool:
    """Return whether the object is in the gripper."""
    return scene.find(name).name == scene.held


def above(scene: Scene, name: str) -> bool:
    """Return whether the grip point is a little above the middle of the object's top."""
    item = scene.find(name)
    if scene.robot is None:
        return False
    over = scene.robot.position[2] - top(item)
    return distance_in_plane(scene.robot.position, item.position) <= HOVER_ASIDE and 0.0 <= over <= HOVER_MOST


def at(scene: Scene, name: str, place: Place, margin: float = PLACE_TOLERANCE) -> bool:
    """Return whether the object lies in the region, at most `margin` [m] outside it, or near the point."""
    item = scene.find(name)
    if scene.held == name:
        return False
    x, y, _ = item.position
    if isinstance(place, str):
        return scene.region(place).area.contains(x, y, margin)
    return distance_in_plane(item.position, place) <= POINT_TOLERANCE


def on_table(scene: Scene, name: str) -> bool:
    """Return whether the object stands directly on the table."""
    return scene.held != name and abs(bottom(scene.find(name))) <= REST_TOLERANCE


def open_(scene: Scene, name: str) -> bool:
    """Return whether the object is a drawer that is pulled out."""
    item = scene.find(name)
    return item.kind == DRAWER and item.state >= OPEN_AT


def closed(scene: Scene, name: str) -> bool:
    """Return whether the object is a drawer that is pushed in."""
    item = scene.find(name)
    return item.kind == DRAWER and item.state <= CLOSED_AT


def accessible(scene: Scene, name: str) -> bool:
    """Return whether the gripper can reach the object: it is not a closed drawer and does not lie in one."""
    shut = [item.name for item in scene.objects if item.kind == DRAWER and not open_(scene, item.name)]
    return scene.find(name).name not in shut and not any(in_(scene, name, drawer) for drawer in shut)


def lit(scene: Scene, name: str) -> bool:
    """Return whether the object is a button with its lamp lit."""
    item = scene.find(name)
    return item.kind == BUTTON and item.state >= 1.0


def clean(scene: Scene, name: str) -> bool:
    """Return whether the object is a stain that has been wiped away."""
    item = scene.find(name)
    return item.kind == STAIN and item.state <= CLEAN_AT


def toppled(scene: Scene, name: str) -> bool:
    """Return whether the object lies on its side or upside down, judged by the tilt of its z axis."""
    return rotation_matrix(scene.find(name).orientation)[2][2] < math.cos(TOPPLED)


def followed(scene: Scene, name: str, distance: float) -> bool:
    """Return whether a mobile robot is at that distance from the object's box [m], or a little behind."""
    item = scene.find(name)
    if scene.robot is None:
        return False
    x, y, _ = scene.robot.position
    return -FOLLOWED <= distance_to_box((x, y), item) - distance <= FOLLOWED + GONE_ON


def gap(a: SceneObject, b: SceneObject, direction: str) -> float:
    """Return the free distance from `b` to `a` along `direction` [m]; negative for overlap or the other side."""
    ux, uy = direction_vector(direction)
    along = (a.position[0] - b.position[0]) * ux + (a.position[1] - b.position[1]) * uy
    reach_a, reach_b = half_extents(a), half_extents(b)
    return along - abs(ux) * (reach_a[0] + reach_b[0]) - abs(uy) * (reach_a[1] + reach_b[1])


def beside(scene: Scene, a: str, b: str, direction: str = ANY_SIDE, distance: float | None = None) -> bool:
    """Return whether `a` lies next to `b` on the given side (or any), with a gap of `distance` [m] if one is given."""
    item, other = scene.find(a), scene.find(b)
    if a == b or scene.held in (a, b):
        return False
    sides = tuple(DIRECTIONS) if direction == ANY_SIDE else (direction,)
    return any(_beside_on(item, other, side, distance) for side in sides)


def _beside_on(item: SceneObject, other: SceneObject, side: str, distance: float | None) -> bool:
    ux, uy = direction_vector(side)
    lateral = abs((item.position[0] - other.position[0]) * uy - (item.position[1] - other.position[1]) * ux)
    axis = 1 if ux else 0
    if lateral > max(half_extents(item)[axis], half_extents(other)[axis]) + GAP_TOLERANCE:
        return False
    free = gap(item, other, side)
    if distance is None:
        return -GAP_TOLERANCE <= free <= BESIDE_MAX_GAP
    return abs(free - distance) <= GAP_TOLERANCE


def displacement(before: Vector3 | Point2, scene: Scene, name: str, direction: str) -> float:
    """Return how far the object lies from the point `before` along `direction` [m]."""
    ux, uy = direction_vector(direction)
    now = scene.find(name).position
    return (now[0] - before[0]) * ux + (now[1] - before[1]) * uy


def moved(before: Vector3 | Point2, scene: Scene, name: str, direction: str, distance: float) -> bool:
    """Return whether the object has moved `distance` [m] along `direction` from `before`, within a push's tolerance."""
    (ux, uy), (x, y, _) = direction_vector(direction), scene.find(name).position
    aside = abs((x - before[0]) * uy - (y - before[1]) * ux)
    along = displacement(before, scene, name, direction)
    return scene.held != name and abs(along - distance) <= GAP_TOLERANCE and aside <= DRIFT_TOLERANCE


def displaced(before: Vector3 | Point2, scene: Scene, name: str, direction: str, distance: float) -> bool:
    """Return whether the object was placed `distance` [m] along `direction` from `before`, not just pushed there."""
    ux, uy = direction_vector(direction)
    goal = before[0] + ux * distance, before[1] + uy * distance
    x, y, _ = scene.find(name).position
    return scene.held != name and max(abs(x - goal[0]), abs(y - goal[1])) <= OFFSET_TOLERANCE


def to_side(point: Vector3 | Point2, direction: Point2, of: Vector3 | Point2) -> bool:
    """Return whether `point` lies on the side of `of` that `direction` (unit vector, base frame) points to."""
    return (point[0] - of[0]) * direction[0] + (point[1] - of[1]) * direction[1] > SIDE_MARGIN


def on_side(scene: Scene, names: Iterable[str], direction: Point2, of: Vector3 | Point2) -> tuple[str, ...]:
    """Return the objects of `names` that lie in `direction` (unit vector, base frame) from the point `of`.

    Objects that lie more along `direction` than across it come first; within both groups the nearest is first. "The
    block to the left of the bowl" is thus one mainly to its left, even if one mainly in front of it is nearer.
    """
    there = [name for name in names if to_side(scene.find(name).position, direction, of)]
    return tuple(sorted(by_distance(scene, there, of), key=lambda name: _lies_across(scene, name, direction, of)))


def _lies_across(scene: Scene, name: str, direction: Point2, of: Vector3 | Point2) -> bool:
    x, y, _ = scene.find(name).position
    (ux, uy), dx, dy = direction, x - of[0], y - of[1]
    return abs(dx * uy - dy * ux) > dx * ux + dy * uy


def from_side(scene: Scene, names: Iterable[str], direction: Point2) -> tuple[str, ...]:
    """Return `names` sorted from that side of the table (unit vector, base frame)."""
    ux, uy = direction

    def along(name: str) -> float:
        x, y, _ = scene.find(name).position
        return -(x * ux + y * uy)

    return tuple(sorted(names, key=along))


def by_distance(scene: Scene, names: Iterable[str], to: Vector3 | Point2) -> tuple[str, ...]:
    """Return `names` sorted by horizontal distance to the point `to`, nearest first; ties keep their order."""
    return tuple(sorted(names, key=lambda name: distance_in_plane(scene.find(name).position, to)))


def volume(item: SceneObject) -> float:
    """Return the volume of the object's box [m^3], the order of "largest" and "smallest"."""
    return item.size[0] * item.size[1] * item.size[2]

"""Where and how to release the held object: the grip for a wanted pose of the object."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from llm_planner.robots.arm_model import ArmShape, arm_shape
from llm_planner.robots.gripper import Gripper
from llm_planner.scene import furniture
from llm_planner.scene.geometry import bottom, half_extents, top
from llm_planner.scene.names import the
from llm_planner.scene.places import Rectangle
from llm_planner.scene.predicates import DRAWER, TABLE_KIND, in_
from llm_planner.scene.scene import Scene, SceneObject
from llm_planner.skills.contract import SkillError, SkillErrorCode
from llm_planner.skills.footprints import Footprint, footprint, is_upright, reach_from, separation, turned
from llm_planner.skills.hand_geometry import (
    FLOOR,
    HandPose,
    Slice,
    hand_slices,
    inner_radius,
    lies_on_table,
    nearer_half_turn,
    nearest_yaw,
    room,
    wrap,
)
from llm_planner.skills.level_hand import Begins, clearance_behind, followed, leaving, level_cruise, lowering

Point2 = tuple[float, float]

LEANS = 0.004  # [m] by which a bowl is wider at the height of what it holds than at its floor
RELEASE = 0.012  # [m] opening beyond the object's width to release it
ABOVE = 0.002  # [m] between object and surface at release
TURNS = tuple(math.radians(angle) for angle in (0.0, 30.0, -30.0, 60.0, -60.0, 90.0))
GAPS = (0.02, 0.01, 0.004)  # [m] free table around a place, tried in order
GRID = 0.02  # [m] between the places tried
DROP = 0.006  # [m] greatest drop into a tray that leaves the orientation unchanged


@dataclass(frozen=True)
class Held:
    """The held object `item` with footprint `shape`, centred at `offset` [m] in the frame of the hand.

    `turn` [rad] is its yaw relative to the hand, `below` [m] how far its lowest point lies below the grip point,
    `width` [m] the distance between the fingertips, `yaw` and `tilt` [rad] are those of the hand, and `arm` holds it.
    `middle` [rad] is the yaw, relative to the azimuth, that suits the wrist. A level hand keeps its tilt and leaves the
    object backwards; its motion `begins` where hand and joints are.
    """

    item: SceneObject
    shape: Footprint
    offset: Point2
    turn: float
    below: float
    width: float
    yaw: float
    arm: ArmShape
    middle: float = 0.0
    tilt: float = 0.0
    begins: Begins | None = None

    def grip_at(self, center: Point2, yaw: float, surface: float) -> HandPose:
        """Return the grip, near `yaw` [rad], that holds the object at `center` just above the height `surface` [m]."""
        yaw = self.nearest_yaw(*center, yaw)
        dx, dy = turned(self.offset, yaw)
        return HandPose(center[0] - dx, center[1] - dy, surface + self.below + ABOVE, yaw, self.tilt)

    @property
    def gripper(self) -> Gripper:
        return self.arm.gripper

    def nearest_yaw(self, x: float, y: float, yaw: float) -> float:
        """Return `yaw` [rad] or its half turn, whichever the hand comes to from its current yaw at (x, y) [m]."""
        if self.tilt:
            return nearer_half_turn(yaw, math.atan2(y, x) + self.middle)
        return nearest_yaw(x, y, yaw, self.yaw, self.middle)

    @property
    def opening(self) -> float:
        """Distance between the fingertips that releases the object [m]."""
        return min(self.width + RELEASE, self.gripper.widest)

    def shape_at(self, center: Point2, yaw: float) -> Footprint:
        """Return the object's footprint when the hand is turned to `yaw` [rad]."""
        return self.shape.at(center, yaw + self.turn)

    def parts(self, grip: HandPose, opening: float | None = None) -> tuple[Slice, ...]:
        """Return the slices of the hand at `grip`, which releases or has the `opening` [m], and of the object."""
        dx, dy = turned(self.offset, grip.yaw)
        hand = hand_slices(grip, self.opening if opening is None else opening, self.gripper)
        load = Slice(self.shape_at((grip.x + dx, grip.y + dy), grip.yaw), max(0.0, grip.z - self.below))
        return *hand, load

    def aligned(self, center: Point2, direction: float) -> float:
        """Return the hand's yaw [rad] that aligns the object's first axis with `direction` [rad], either way round."""
        return self.nearest_yaw(*center, direction - self.turn)


def held_in(scene: Scene, grip: HandPose, width: float) -> Held:
    """Return the held object relative to the hand at `grip`; raises SkillError if nothing is held."""
    if not scene.held:
        raise SkillError(SkillErrorCode.PRECONDITION_FAILED, "the gripper holds nothing; pick something up first")
    item = scene.find(scene.held)
    shape = footprint(item)
    dx, dy = item.position[0] - grip.x, item.position[1] - grip.y
    offset = turned((dx, dy), -grip.yaw)
    turn, below, arm = shape.yaw - grip.yaw, grip.z - bottom(item), arm_shape(scene.arm)
    middle = grip.yaw - math.atan2(grip.y, grip.x) if grip.is_level else arm.neutral
    return Held(item, shape, offset, turn, below, width, grip.yaw, arm, middle, grip.tilt)


@dataclass(frozen=True)
class Release:
    """Where the fingers open: grip, object centre, height of the surface below it, and opening [m].

    A person may have it shifted by `room` [m] at most.
    """

    grip: HandPose
    center: Point2
    surface: float
    opening: float
    room: float = math.inf


def on_table(
    scene: Scene,
    held: Held,
    centers: Iterable[Point2],
    directions: Sequence[float],
    gaps: Sequence[float] = (),
    turns: Sequence[float] = TURNS,
) -> Iterator[Release]:
    """Yield releases at those of `centers` [m] where object and fingers fit on the table, with the widest gap first.

    Args:
        scene: Scene with the obstacles.
        held: The held object.
        centers: Places to try in order.
        directions: Allowed directions [rad] of the object's first axis; empty for any of `turns`.
        gaps: Free table around the object [m], tried in order; by default `GAPS` in the scale of the scene.
        turns: Wrist angles [rad] from neutral, used if there are no directions.
    """
    reach = arm_shape(scene.arm)
    wanted = [center for center in centers if reach.reaches(*center) and lies_on_table(scene, *center)]
    others = [item for item in scene.objects if item.name != held.item.name and item.kind != TABLE_KIND]
    shapes = [(footprint(item), item) for item in others]
    for gap in gaps or [max(scene.scale * gap, GAPS[-1]) for gap in GAPS]:
        for center in wanted:
            if any(math.dist(center, s.center) < min(s.half) + min(held.shape.half) for s, _ in shapes):
                continue
            for yaw in _yaws(held, center, directions, turns):
                body = held.shape_at(center, yaw)
                if min((separation(body, shape) for shape, _ in shapes), default=math.inf) < gap:
                    continue
                release = _release(held, center, yaw, 0.0)
                if not held.tilt and not reach.reaches(release.grip.x, release.grip.y):
                    continue
                free, _ = room(hand_slices(release.grip, release.opening, held.gripper), scene, {held.item.name})
                if free > min(gap, 0.004) and is_brought(scene, held, release):
                    yield release


def on_top(scene: Scene, held: Held, support: SceneObject) -> Release:
    """Return a release on the middle of `support`, aligned with its sides; on a drawer, on its cabinet.

    Raises SkillError if it is out of reach or other objects leave no room.
    """
    shape = footprint(support)
    center = furniture.cabinet(support).center if support.kind == DRAWER else shape.center
    best: tuple[float, Release] | None = None
    for yaw in _yaws(held, center, () if shape.round else square(shape.yaw)):
        release = _release(held, center, yaw, top(support))
        if not held.tilt and not arm_shape(scene.arm).reaches(release.grip.x, release.grip.y):
            continue
        gap, _ = room(hand_slices(release.grip, release.opening, held.gripper), scene, {held.item.name, support.name})
        if (best is None or min(gap, 0.01) > best[0] + 1e-6) and is_brought(scene, held, release):
            best = (min(gap, 0.01), release)
    if best is None:
        what = f"the hand does not reach over {the(support.name)} with what it holds"
        raise SkillError(SkillErrorCode.UNREACHABLE, what)
    if best[0] < 0.001:
        raise SkillError(
            SkillErrorCode.NO_FREE_SPACE,
            f"the hand does not fit above {the(support.name)}: its neighbours are too tall",
        )
    return best[1]


def is_brought(scene: Scene, held: Held, release: Release) -> bool:
    """Return whether the arm brings a level hand to a release and away from it; for others the reach says it."""
    if not held.tilt:
        return True
    begins, name = held.begins or Begins.at_rest(scene), held.item.name
    back, height = clearance_behind(held.item, held.arm), level_cruise(scene, held.below, name)
    legs = [*lowering(begins.hand, release.grip, height, scene), *leaving(release.grip, back, height)]
    hand = hand_slices(release.grip.advanced(-back), release.opening, held.gripper)
    return room(hand, scene, {name})[0] > 0.0 and followed(scene, begins, legs, name) is not None


def inside(scene: Scene, held: Held, container: SceneObject) -> Release:
    """Return the lowest and gentlest release into a container; raises SkillError if the object does not fit."""
    if container.kind == DRAWER:
        return _in_tray(scene, held, container)
    radius = inner_radius(container)
    if min(held.shape.half) > radius or not is_upright(container):
        raise SkillError(SkillErrorCode.NO_FREE_SPACE, f"{the(held.item.name)} does not fit into {the(container.name)}")
    best: tuple[float, Release] | None = None
    for center, yaw in _spots_inside(held, container, radius):
        surface = _surface(scene, held, container, held.shape_at(center, yaw))
        release = _lifted(scene, held, _release(held, center, yaw, surface))
        drop = release.grip.z - held.below - ABOVE - surface
        if held.tilt and not is_brought(scene, held, release):
            continue
        cost = 2.0 * drop + surface + 0.002 * abs(wrap(yaw - math.atan2(center[1], center[0]) - held.middle))
        if best is None or cost < best[0] - 1e-9:
            best = (cost, release)
    if best is None:
        what = f"the arm does not bring a level hand over {the(container.name)}; put {the(held.item.name)} elsewhere"
        raise SkillError(SkillErrorCode.UNREACHABLE, what)
    reach = reach_from(container.position[:2], held.shape_at(best[1].center, best[1].grip.yaw))
    return replace(best[1], room=max(0.0, radius + LEANS - reach))


def _in_tray(scene: Scene, held: Held, drawer: SceneObject) -> Release:
    """Find a release in the open part of the tray, aligned with its sides, beside its contents."""
    name, what = held.item.name, f"{the(held.item.name)} does not fit into {the(drawer.name)}"
    height, most = 2 * half_extents(held.item)[2], furniture.headroom(drawer)
    if height > most:
        tall = f"{what}: it is {100 * height:.1f} cm high, and the drawer closes over {100 * most:.1f} cm at most"
        raise SkillError(SkillErrorCode.NO_FREE_SPACE, f"{tall}; put it elsewhere")
    part = furniture.opening(drawer)
    lying = [scene.find(other) for other in scene.names if other != name and in_(scene, other, drawer.name)]
    for direction in square(part.heading):
        along, across = held.shape.half if direction == part.heading else held.shape.half[::-1]
        if along > part.half[0] - furniture.SPARE:
            continue
        for center in furniture.spots(drawer, across):
            yaw = held.aligned(center, direction)
            body = held.shape_at(center, yaw)
            if min((separation(body, footprint(other)) for other in lying), default=math.inf) < furniture.SPARE:
                continue
            release = _lifted(scene, held, _release(held, center, yaw, furniture.floor_height(drawer)))
            if release.grip.z - held.below - ABOVE <= release.surface + DROP:
                return release
    if lying:
        full = f"{what} beside {the(lying[0].name)}; take that out first, or put it elsewhere"
        raise SkillError(SkillErrorCode.NO_FREE_SPACE, full)
    raise SkillError(SkillErrorCode.NO_FREE_SPACE, f"{what} with the fingers around it; put it elsewhere")


def square(yaw: float) -> tuple[float, float]:
    """Return the directions along and across `yaw` [rad]."""
    return yaw, yaw + math.pi / 2


def spread(area: Rectangle, near: Point2, margin: float = 0.0, grid: float = GRID) -> list[Point2]:
    """Return `near` and points of `area` every `grid`, `margin` [m] inside its edges, by distance from `near`."""
    nx = max(1, round((area.x_max - area.x_min - 2 * margin) / grid))
    ny = max(1, round((area.y_max - area.y_min - 2 * margin) / grid))
    xs = [area.x_min + margin + i * (area.x_max - area.x_min - 2 * margin) / nx for i in range(nx + 1)]
    ys = [area.y_min + margin + j * (area.y_max - area.y_min - 2 * margin) / ny for j in range(ny + 1)]
    return sorted([near, *((x, y) for x in xs for y in ys)], key=lambda point: math.dist(point, near))


def _yaws(held: Held, center: Point2, directions: Sequence[float], turns: Sequence[float] = TURNS) -> Iterator[float]:
    neutral = math.atan2(center[1], center[0]) + held.middle
    if held.shape.round or not directions:
        yield from (neutral + turn for turn in turns)
        return
    yaws = [held.aligned(center, direction) for direction in directions]
    yield from sorted(yaws, key=lambda yaw: abs(wrap(yaw - held.yaw)))


def _release(held: Held, center: Point2, yaw: float, surface: float) -> Release:
    return Release(held.grip_at(center, yaw, surface), center, surface, held.opening)


def _spots_inside(held: Held, container: SceneObject, radius: float) -> Iterator[tuple[Point2, float]]:
    """Yield the middle and places beside it, across the closing axis, so that two objects fit side by side."""
    x, y, _ = container.position
    offset = min(held.shape.half) + 0.002
    fits = math.hypot(offset + min(held.shape.half), max(held.shape.half)) < radius + LEANS
    for yaw in _yaws(held, (x, y), ()):
        yaw = held.nearest_yaw(x, y, yaw)
        if fits:  # off the middle first, so that the next object fits beside this one instead of on top
            sides = [(x + side * math.cos(yaw), y + side * math.sin(yaw)) for side in (offset, -offset)]
            for side in sorted(sides, key=lambda at: -math.hypot(*at)):  # the hand's half turn decides nothing
                yield side, yaw
        yield (x, y), yaw


def _surface(scene: Scene, held: Held, container: SceneObject, shape: Footprint) -> float:
    """Return the height [m] of the surface under the object: the floor or the highest object below it."""
    floor = bottom(container) + FLOOR
    tops = [
        top(item)
        for item in scene.objects
        if item.name not in (held.item.name, container.name)
        and item.position[2] > bottom(container)
        and separation(shape, footprint(item)) < -0.001
        and math.dist(item.position[:2], container.position[:2]) < max(half_extents(container)[:2])
    ]
    return max([floor, *tops])


def _lifted(scene: Scene, held: Held, release: Release) -> Release:
    """Raise a release if the hand would touch the wall or the contents."""
    slices = hand_slices(release.grip, release.opening, held.gripper)
    lift = max((_needed(part, scene, {held.item.name}) for part in slices), default=0.0)
    if lift <= 0.0:
        return release
    return Release(release.grip.raised(release.grip.z + lift), release.center, release.surface, release.opening)


def _needed(part: Slice, scene: Scene, ignore: Collection[str]) -> float:
    """Return how far a slice must rise [m] to clear all objects."""
    lift = 0.0
    for item in scene.objects:
        if item.name not in ignore and room((part,), Scene(scene.time, (item,)))[0] < 0.001:
            lift = max(lift, top(item) + 0.003 - part.begins)
    return lift

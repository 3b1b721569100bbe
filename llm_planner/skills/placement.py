"""Where and how to put down what the fingers hold: the pose of the hand for a wanted pose of the object."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass

from llm_planner.scene import furniture
from llm_planner.scene.geometry import bottom, half_extents, top
from llm_planner.scene.names import the
from llm_planner.scene.places import Rectangle
from llm_planner.scene.predicates import DRAWER, in_
from llm_planner.scene.scene import Scene, SceneObject
from llm_planner.skills.contract import SkillError, SkillErrorCode
from llm_planner.skills.hand_geometry import (
    FLOOR,
    OPENING_MAX,
    Footprint,
    Grip,
    Slice,
    footprint,
    hand_slices,
    inner_radius,
    is_upright,
    lies_on_table,
    nearest_yaw,
    reachable,
    room,
    separation,
    wrap,
)

Point2 = tuple[float, float]

RELEASE = 0.012  # [m] the fingers open this much wider than the object to let go
ABOVE = 0.002  # [m] between the object and the surface when it is let go
TURNS = tuple(math.radians(angle) for angle in (0.0, 30.0, -30.0, 60.0, -60.0, 90.0))
GAPS = (0.02, 0.01, 0.004)  # [m] of free table around a place, tried in turn
GRID = 0.02  # [m] between the places tried
DROP = 0.006  # [m] that a thing may fall into a tray, where it stays as it was held


@dataclass(frozen=True)
class Held:
    """What is in the fingers: the object, its footprint, its offset in the hand's frame and its turn against the hand.

    `below` is how far its lowest point lies under the grip point, `width` the distance between the fingertips [m],
    `yaw` how the hand is turned now.
    """

    item: SceneObject
    shape: Footprint
    offset: Point2
    turn: float
    below: float
    width: float
    yaw: float

    def grip_at(self, center: Point2, yaw: float, surface: float) -> Grip:
        """The hand, turned to `yaw`, that has the object's centre at `center` just above the height `surface`."""
        yaw = nearest_yaw(*center, yaw, self.yaw)
        c, s = math.cos(yaw), math.sin(yaw)
        x = center[0] - c * self.offset[0] + s * self.offset[1]
        y = center[1] - s * self.offset[0] - c * self.offset[1]
        return Grip(x, y, surface + self.below + ABOVE, yaw)

    def shape_at(self, center: Point2, yaw: float) -> Footprint:
        """What the object covers when the hand is turned to `yaw`."""
        return self.shape.at(center, yaw + self.turn)

    def parts(self, grip: Grip) -> tuple[Slice, ...]:
        """The hand at `grip` as it lets go, and the object in it."""
        c, s = math.cos(grip.yaw), math.sin(grip.yaw)
        center = grip.x + c * self.offset[0] - s * self.offset[1], grip.y + s * self.offset[0] + c * self.offset[1]
        hand = hand_slices(grip, min(self.width + RELEASE, OPENING_MAX))
        return (*hand, Slice(self.shape_at(center, grip.yaw), grip.z - self.below))

    def aligned(self, center: Point2, direction: float) -> float:
        """The hand's yaw that has the object's first axis along `direction` [rad], either way round."""
        return nearest_yaw(*center, direction - self.turn, self.yaw)


def held_in(scene: Scene, grip: Grip, width: float) -> Held:
    """The held object seen from the hand at `grip`; raises SkillError when nothing is held."""
    if not scene.held:
        raise SkillError(SkillErrorCode.PRECONDITION_FAILED, "the gripper holds nothing; pick something up first")
    item = scene.find(scene.held)
    shape = footprint(item)
    dx, dy = item.position[0] - grip.x, item.position[1] - grip.y
    c, s = math.cos(grip.yaw), math.sin(grip.yaw)
    offset = c * dx + s * dy, c * dy - s * dx
    return Held(item, shape, offset, shape.yaw - grip.yaw, grip.z - bottom(item), width, grip.yaw)


@dataclass(frozen=True)
class Release:
    """Where the fingers open: `grip`, and the object's `center` and the height of its `surface` below it [m]."""

    grip: Grip
    center: Point2
    surface: float
    opening: float


def on_table(
    scene: Scene,
    held: Held,
    centers: Iterable[Point2],
    directions: Sequence[float],
    gaps: Sequence[float] = GAPS,
    turns: Sequence[float] = TURNS,
    allowed: Callable[[Release], bool] = lambda release: True,
) -> Release | None:
    """The first of `centers`, with the widest free gap around it, where object and fingers fit on the table.

    `directions` [rad] are those that the object's first axis may lie along; empty for any comfortable one, which are
    the `turns` [rad] from where the wrist is in its middle. `allowed` is asked last of those that fit.
    """
    wanted = [center for center in centers if reachable(*center) and lies_on_table(*center)]
    others = [item for item in scene.objects if item.name != held.item.name]
    shapes = [(footprint(item), item) for item in others]
    for gap in gaps:
        for center in wanted:
            if any(math.dist(center, s.center) < min(s.half) + min(held.shape.half) for s, _ in shapes):
                continue
            for yaw in _yaws(held, center, directions, turns):
                body = held.shape_at(center, yaw)
                if min((separation(body, shape) for shape, _ in shapes), default=math.inf) < gap:
                    continue
                release = _release(held, center, yaw, 0.0)
                if not reachable(release.grip.x, release.grip.y):
                    continue
                free, _ = room(hand_slices(release.grip, release.opening), scene, {held.item.name})
                if free > min(gap, 0.004) and allowed(release):
                    return release
    return None


def on_top(scene: Scene, held: Held, support: SceneObject) -> Release:
    """On the middle of `support`, sides along its sides; raises SkillError when other things leave no room.

    A drawer bears things on its cabinet.
    """
    shape = footprint(support)
    center = furniture.cabinet(support).center if support.kind == DRAWER else shape.center
    best: tuple[float, Release] | None = None
    for yaw in _yaws(held, center, () if shape.round else square(shape.yaw)):
        release = _release(held, center, yaw, top(support))
        if not reachable(release.grip.x, release.grip.y):
            continue
        gap, _ = room(hand_slices(release.grip, release.opening), scene, {held.item.name, support.name})
        if best is None or min(gap, 0.01) > best[0] + 1e-6:
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


def inside(scene: Scene, held: Held, container: SceneObject) -> Release:
    """In the container, as low and as gently as its wall and its contents allow; raises SkillError."""
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
        cost = 2.0 * drop + surface + 0.002 * abs(wrap(yaw - math.atan2(center[1], center[0])))
        if best is None or cost < best[0] - 1e-9:
            best = (cost, release)
    assert best is not None  # the middle is always a spot
    return best[1]


def _in_tray(scene: Scene, held: Held, drawer: SceneObject) -> Release:
    """In the part of the tray that is out, sides along its sides, beside what lies there."""
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
    """Along `yaw` [rad] or across it: the ways to lie straight to something."""
    return yaw, yaw + math.pi / 2


def spread(area: Rectangle, near: Point2, margin: float = 0.0) -> list[Point2]:
    """Points of `area`, `margin` [m] inside its edges, nearest to `near` first."""
    nx = max(1, round((area.x_max - area.x_min - 2 * margin) / GRID))
    ny = max(1, round((area.y_max - area.y_min - 2 * margin) / GRID))
    xs = [area.x_min + margin + i * (area.x_max - area.x_min - 2 * margin) / nx for i in range(nx + 1)]
    ys = [area.y_min + margin + j * (area.y_max - area.y_min - 2 * margin) / ny for j in range(ny + 1)]
    return sorted([near, *((x, y) for x in xs for y in ys)], key=lambda point: math.dist(point, near))


def _yaws(held: Held, center: Point2, directions: Sequence[float], turns: Sequence[float] = TURNS) -> Iterator[float]:
    neutral = math.atan2(center[1], center[0])
    if held.shape.round or not directions:
        yield from (neutral + turn for turn in turns)
        return
    yaws = [held.aligned(center, direction) for direction in directions]
    yield from sorted(yaws, key=lambda yaw: abs(wrap(yaw - held.yaw)))


def _release(held: Held, center: Point2, yaw: float, surface: float) -> Release:
    return Release(held.grip_at(center, yaw, surface), center, surface, min(held.width + RELEASE, OPENING_MAX))


def _spots_inside(held: Held, container: SceneObject, radius: float) -> Iterator[tuple[Point2, float]]:
    """The middle, and off it across the fingers' closing axis, where a second thing finds room beside the first."""
    x, y, _ = container.position
    offset = min(held.shape.half) + 0.002
    fits = math.hypot(offset + min(held.shape.half), max(held.shape.half)) < radius + 0.004
    for yaw in _yaws(held, (x, y), ()):
        yaw = nearest_yaw(x, y, yaw, held.yaw)
        if fits:  # off the middle first: the next thing then finds room beside this one instead of on top
            for side in (offset, -offset):
                yield (x + side * math.cos(yaw), y + side * math.sin(yaw)), yaw
        yield (x, y), yaw


def _surface(scene: Scene, held: Held, container: SceneObject, shape: Footprint) -> float:
    """The height on which the object comes to stand there: the floor, or the highest thing beneath."""
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
    """Higher, where the hand would otherwise meet the wall or the contents."""
    slices = hand_slices(release.grip, release.opening)
    lift = max((_needed(part, scene, {held.item.name}) for part in slices), default=0.0)
    if lift <= 0.0:
        return release
    return Release(release.grip.raised(release.grip.z + lift), release.center, release.surface, release.opening)


def _needed(part: Slice, scene: Scene, ignore: Collection[str]) -> float:
    """How much a slice must rise to pass over whatever it would meet [m]."""
    lift = 0.0
    for item in scene.objects:
        if item.name not in ignore and room((part,), Scene(scene.time, (item,)))[0] < 0.001:
            lift = max(lift, top(item) + 0.003 - part.begins)
    return lift

"""Grasps from above and hand poses at furniture.

`choose_grasp` picks the grasp that leaves the fingers the most room. Further functions locate the handle of a drawer
and the top of a button and check the room around them.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

from llm_planner.robots.arm_model import arm_shape
from llm_planner.scene.geometry import bottom, half_extents, rotation_matrix, top
from llm_planner.scene.names import the
from llm_planner.scene.places import Point2
from llm_planner.scene.predicates import contents, is_container, is_portable, is_solid
from llm_planner.scene.scene import Scene, SceneObject
from llm_planner.scene.zones import Zone
from llm_planner.simulation.objects import KINDS, spec_of
from llm_planner.simulation.shapes import WIDEST
from llm_planner.skills.arm_paths import check_line
from llm_planner.skills.contract import SkillError, SkillErrorCode
from llm_planner.skills.hand_geometry import (
    FLOOR,
    OPENING_MAX,
    TIP,
    Footprint,
    HandPose,
    check_reach,
    comfortable_yaw,
    footprint,
    hand_slices,
    is_upright,
    room,
    separation,
    wrap,
)

OPENING_ROOMS = (0.030, 0.020, 0.012)  # [m] opening beyond the object's width, widest that fits
ROOM_WANTED = 0.012  # [m] further room around the fingers does not count
ROOM_NEEDED = 0.001
PALM_DEPTH = 0.035  # [m] height of an object that fits between fingertips and palm


@dataclass(frozen=True)
class Grasp:
    """Hand at an object: `grip`, finger `opening` on approach and object `width` between the fingers [m]."""

    grip: HandPose
    opening: float
    width: float


def choose_grasp(scene: Scene, item: SceneObject) -> Grasp:
    """Return the best grasp of `item`; raises SkillError (UNREACHABLE, NO_GRASP) that names the obstacle."""
    check_reach(item.position[0], item.position[1], the(item.name), arm_shape(scene.arm))
    if not is_portable(item):
        raise SkillError(SkillErrorCode.NO_GRASP, f"{the(item.name)} stands there for good; it cannot be picked up")
    candidates = list(_candidates(item))
    if not candidates:
        width = min(item.size[:2])
        why = f"is too wide to grasp: {width:.3f} m of at most {WIDEST:.3f} m"
        raise SkillError(
            SkillErrorCode.NO_GRASP,
            f"{the(item.name)} {why if is_upright(item) else 'has fallen over; the fingers do not get around it so'}",
        )
    rated = [rating for grip, width in candidates if (rating := _rate(scene, item, grip, width)) is not None]
    if not rated:
        _, nearest = room(hand_slices(candidates[0][0], candidates[0][1] + OPENING_ROOMS[-1]), scene, {item.name})
        raise SkillError(
            SkillErrorCode.NO_GRASP,
            f"the fingers do not fit around {the(item.name)}: {the(nearest)} is too close; move that away first",
        )
    return max(rated, key=lambda rating: rating[0])[1]


def thickness(item: SceneObject) -> float:
    """Return the object's width between the fingers [m], or the widest graspable one if it is too wide."""
    return min((width for _, width in _candidates(item)), default=WIDEST)


def _rate(scene: Scene, item: SceneObject, grip: HandPose, width: float) -> tuple[float, Grasp] | None:
    shape = arm_shape(scene.arm)
    nearest, farthest = shape.table_range
    for extra in OPENING_ROOMS:
        opening = min(width + extra, OPENING_MAX)
        gap, _ = room(hand_slices(grip, opening), scene, {item.name})
        if gap >= ROOM_NEEDED:
            turn = abs(wrap(grip.yaw - math.atan2(grip.y, grip.x)))
            radius = shape.radius(grip.x, grip.y)
            outside = max(0.0, radius - farthest, nearest - radius)
            tight = OPENING_ROOMS[0] - extra
            score = min(gap, ROOM_WANTED) / ROOM_WANTED - 0.25 * turn - 100.0 * outside - 10.0 * tight
            return score, Grasp(grip, opening, width)
    return None


def _candidates(item: SceneObject) -> Iterator[tuple[HandPose, float]]:
    """Yield grips and the object's width between the fingers [m]."""
    kind = spec_of(item).shape if item.kind in KINDS else None
    if kind is not None and is_upright(item) and math.dist(kind.size, item.size) < 0.01:
        rows = rotation_matrix(item.orientation)
        yaw = math.atan2(rows[1][0], rows[0][0])
        for known in kind.grasps:
            x, y, z = (item.position[i] + sum(rows[i][k] * known.point[k] for k in range(3)) for i in range(3))
            if is_container(item):  # keeps the inner finger off the floor
                z = max(z, bottom(item) + FLOOR + TIP + 0.002)
            yield _grip(x, y, z, yaw + known.yaw), known.width
        return
    yield from _box_candidates(item)


def _box_candidates(item: SceneObject) -> Iterator[tuple[HandPose, float]]:
    """Yield grips across the sides of the object's box, as low as palm and table allow."""
    shape = footprint(item)
    height = max(bottom(item) + TIP + 0.001, top(item) - PALM_DEPTH, item.position[2] - half_extents(item)[2] * 0.3)
    x, y, _ = item.position
    for axis in (0, 1):
        width = 2 * shape.half[axis]
        if width <= WIDEST:
            yield _grip(x, y, height, shape.yaw + axis * math.pi / 2), width


def _grip(x: float, y: float, z: float, closing: float) -> HandPose:
    return HandPose(x, y, z, comfortable_yaw(x, y, closing - math.pi / 2))


TURNS = tuple(math.radians(angle) for angle in (0.0, 30.0, -30.0, 60.0, -60.0, 90.0))


@dataclass(frozen=True)
class Handle:
    """Drawer handle: `grip` on its stem, stem `width` [m], and closing direction `heading` [rad]."""

    grip: HandPose
    width: float
    heading: float

    def seen(self, hand: HandPose) -> Point2:
        """Return the hand relative to the middle of the stem: along the heading and to its left [m]."""
        dx, dy = hand.x - self.grip.x, hand.y - self.grip.y
        c, s = math.cos(self.heading), math.sin(self.heading)
        return c * dx + s * dy, c * dy - s * dx


def handle_of(item: SceneObject, state: float) -> Handle:
    """Return the handle of the drawer `item` at an extension of `state` [m]."""
    kind, rows = spec_of(item).shape, rotation_matrix(item.orientation)
    grasp, heading = kind.grasps[0], math.atan2(rows[1][0], rows[0][0])
    along = grasp.point[0] - state - kind.middle_at(item.state)[0]
    x, y = (item.position[k] + rows[k][0] * along for k in (0, 1))
    z = item.position[2] + grasp.point[2]
    return Handle(HandPose(x, y, z, comfortable_yaw(x, y, heading + grasp.yaw - math.pi / 2)), grasp.width, heading)


def check_slide(scene: Scene, item: SceneObject, goal: float, opening: float, zones: tuple[Zone, ...]) -> None:
    """Check that hand and drawer have room to move the drawer `item` to an extension of `goal` [m].

    The fingers are `opening` [m] apart. Raises SkillError (UNREACHABLE, NO_GRASP, NO_FREE_SPACE).
    """
    start, end = handle_of(item, item.state).grip, handle_of(item, goal).grip
    check_reach(start.x, start.y, f"the handle of {the(item.name)}", arm_shape(scene.arm))
    check_reach(end.x, end.y, f"the end of the way of {the(item.name)}", arm_shape(scene.arm))
    gap, nearest = room(hand_slices(start, opening), scene, {item.name})
    if gap < ROOM_NEEDED:
        raise SkillError(
            SkillErrorCode.NO_GRASP,
            f"the fingers do not fit around the handle of {the(item.name)}: {the(nearest)} is too close; move that "
            "away first",
        )
    # Objects in the tray move with it; objects on the cabinet are above all moving parts.
    swept, along = _swept(item, goal), {item.name, *contents(scene, item.name)}
    gap, nearest = room(hand_slices(end, opening), scene, along)
    for other in scene.objects:
        if other.name not in along and is_solid(other) and separation(swept, footprint(other)) < 0.0:
            gap, nearest = -1.0, other.name
    if gap < ROOM_NEEDED:
        raise SkillError(
            SkillErrorCode.NO_FREE_SPACE, f"{the(nearest)} stands in the way of {the(item.name)}; move it away first"
        )
    check_line(start, end, zones)


def _swept(item: SceneObject, goal: float) -> Footprint:
    """Return the drawer's footprint at an extension of `goal` [m]."""
    kind, shape = spec_of(item).shape, footprint(item)
    shift = kind.middle_at(goal)[0] - kind.middle_at(item.state)[0]
    x, y = shape.center
    center = x + shift * math.cos(shape.yaw), y + shift * math.sin(shape.yaw)
    return Footprint(center, (kind.size_at(goal)[0] / 2, shape.half[1]), shape.yaw)


def pressing_grip(scene: Scene, item: SceneObject) -> HandPose:
    """Return closed fingers on the top of `item`, turned to where the hand has room.

    Raises SkillError (UNREACHABLE, NO_FREE_SPACE) if there is none.
    """
    x, y, _ = item.position
    check_reach(x, y, the(item.name), arm_shape(scene.arm))
    neutral, nearest = math.atan2(y, x), ""
    for turn in TURNS:
        grip = HandPose(x, y, top(item) + TIP, neutral + turn)
        gap, nearest = room(hand_slices(grip, 0.0), scene, {item.name})
        if gap >= ROOM_NEEDED:
            return grip
    raise SkillError(
        SkillErrorCode.NO_FREE_SPACE,
        f"the hand does not fit above {the(item.name)}: {the(nearest)} is in the way; move that away first",
    )

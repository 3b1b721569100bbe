"""Grasps and hand poses at furniture.

`choose_grasp` picks the grasp from above that leaves the hand the most room: sides between two fingers, or a level face
for a suction cup. Where there is none, `side_grasps` takes the object from the side. Further functions locate the
handle of a drawer and the top of a button and check the room around them.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace

from llm_planner.robots.arm_model import arm_shape
from llm_planner.robots.gripper import Gripper
from llm_planner.scene.geometry import bottom, compose, half_extents, rotation_matrix, top, yaw_of
from llm_planner.scene.names import the
from llm_planner.scene.places import Point2
from llm_planner.scene.predicates import contents, is_container, is_portable, is_solid, is_vessel
from llm_planner.scene.scene import Pose, Scene, SceneObject
from llm_planner.scene.zones import Zone
from llm_planner.simulation.objects import spec_of
from llm_planner.skills.arm_paths import check_line
from llm_planner.skills.contract import SkillError, SkillErrorCode
from llm_planner.skills.footprints import (
    Footprint,
    Part,
    footprint,
    is_upright,
    known_kind,
    parts_of,
    separation,
    turned,
)
from llm_planner.skills.hand_geometry import (
    FLOOR,
    PRESSED,
    HandPose,
    check_reach,
    clears,
    comfortable_yaw,
    gripper_of,
    hand_slices,
    room,
    wrap,
)
from llm_planner.skills.level_hand import Begins
from llm_planner.skills.side_grasps import OPENING_ROOMS, Grasp, side_grasp

ROOM_WANTED = 0.012  # [m] further room around the fingers does not count
ROOM_NEEDED = 0.001
OVERLAP = 0.001  # [m] least height of the object between the fingers
FACE_EDGE = 0.001  # [m] of a flat face around the suction cup, at least
RIM = 0.002  # [m] below the top of an object at which its walls end, at most
FLOOR_ROOM = FLOOR + 0.002  # [m] from below a vessel to the fingertips in it, at least
RAISED_IN_VESSELS = (0.0, 0.005, 0.010, 0.015)  # [m] above the lowest grip
HELD_BELOW = 0.008  # [m] from the top of an object down to a raised grip, at least
LIFT_LEAST = 0.03  # [m] least rise of the hand after a grasp
BEYOND = 0.015  # [m] beyond the reach at its height at which a hand still arrives: what is kept from the measured reach


def choose_grasp(scene: Scene, item: SceneObject, begins: Begins | None = None) -> Grasp:
    """Return the best grasp of `item`: from above where that is possible, otherwise from the side.

    Args:
        scene: Scene with the obstacles.
        item: What to grasp.
        begins: Where hand and joints are; at rest by default.

    Raises:
        SkillError: UNREACHABLE or NO_GRASP, with the obstacle's name.
    """
    check_reach(item.position[0], item.position[1], the(item.name), arm_shape(scene.arm))
    if not is_portable(item):
        raise SkillError(SkillErrorCode.NO_GRASP, f"{the(item.name)} stands there for good; it cannot be picked up")
    try:
        return _from_above(scene, item)
    except SkillError as above:
        try:
            return side_grasp(scene, item, begins)
        except SkillError as beside:
            raise SkillError(above.code, f"{above}; {beside}") from beside


def _from_above(scene: Scene, item: SceneObject) -> Grasp:
    gripper, vessel = gripper_of(scene), _vessel_of(scene, item)
    neutral = arm_shape(scene.arm).neutral
    candidates = [
        (replace(higher, yaw=comfortable_yaw(grip.x, grip.y, grip.yaw, neutral)), width)
        for grip, width in _candidates(item, gripper)
        for higher in (_raised(grip, width, item, gripper, vessel) if vessel and not gripper.is_suction else (grip,))
    ]
    if not candidates:
        raise SkillError(SkillErrorCode.NO_GRASP, f"{the(item.name)} {_unfit(item, gripper)}")
    low = [(grip, width) for grip, width in candidates if _is_low_enough(scene, grip)]
    if not low:
        raise SkillError(
            SkillErrorCode.NO_GRASP,
            f"{the(item.name)} is too tall to grasp from above: its top is at {top(item):.2f} m, where the arm reaches "
            "too little",
        )
    candidates = low
    rated = [rating for grip, width in candidates if (rating := _rate(scene, item, grip, width)) is not None]
    if not rated:
        hand = hand_slices(candidates[0][0], candidates[0][1] + OPENING_ROOMS[-1], gripper)
        _, nearest = room(hand, scene, {item.name})
        what = "does not fit onto" if gripper.is_suction else "do not fit around"
        raise SkillError(
            SkillErrorCode.NO_GRASP,
            f"{gripper.holder} {what} {the(item.name)}: {the(nearest)} is too close; move that away first",
        )
    return max(rated, key=lambda rating: rating[0])[1]


def _vessel_of(scene: Scene, item: SceneObject) -> SceneObject | None:
    """Return the upright vessel that the object lies in."""
    vessels = (one for one in scene.objects if is_vessel(one) and is_upright(one))
    return next((one for one in vessels if item.name in contents(scene, one.name)), None)


def _raised(
    grip: HandPose, width: float, item: SceneObject, gripper: Gripper, vessel: SceneObject
) -> Iterator[HandPose]:
    """Yield grips in a vessel that clear its floor: the higher, the more room for the fingers."""
    least = max(grip.z, bottom(vessel) + FLOOR_ROOM + gripper.tip)
    yield from (
        higher
        for raise_by in RAISED_IN_VESSELS
        if _fits(higher := grip.raised(least + raise_by), width, item, gripper)
        and (not raise_by or top(item) - higher.z >= HELD_BELOW)
    )


def _is_low_enough(scene: Scene, grip: HandPose) -> bool:
    """Return whether the hand reaches the grip, and can rise from there."""
    arm = arm_shape(scene.arm)
    ranges, radius = [arm.radius_range(z) for z in (grip.z, grip.z + LIFT_LEAST)], arm.radius(grip.x, grip.y)
    near = all(nearest - BEYOND <= radius <= farthest + BEYOND for nearest, farthest in ranges)
    return near and grip.z + LIFT_LEAST <= arm.heights.cruise_max


def thickness(item: SceneObject, gripper: Gripper) -> float:
    """Return the object's width between the fingers [m], or the widest graspable one if it cannot be grasped."""
    return min((width for _, width in _candidates(item, gripper)), default=gripper.widest_object)


def _unfit(item: SceneObject, gripper: Gripper) -> str:
    """Return why the gripper has no grasp of the object."""
    if gripper.is_suction:
        return f"has no flat face on top in which the suction cup of {200 * gripper.cup:.1f} cm fits"
    if not is_upright(item):
        return "has fallen over; the fingers do not get around it so"
    width = min((width for _, width in _grips(item, gripper)), default=min(item.size[:2]))
    if width < gripper.opening[0]:
        return f"is too thin to grasp: {width:.3f} m of at least {gripper.opening[0]:.3f} m"
    if width > gripper.widest_object:
        return f"is too wide to grasp: {width:.3f} m of at most {gripper.widest_object:.3f} m"
    return "is too low or too tall for the fingers, between their ends and the palm"


def _rate(scene: Scene, item: SceneObject, grip: HandPose, width: float) -> tuple[float, Grasp] | None:
    arm, gripper = arm_shape(scene.arm), gripper_of(scene)
    nearest, farthest = arm.table_range
    for extra in OPENING_ROOMS:
        opening = min(width + extra, gripper.widest)
        gap, _ = room(hand_slices(grip, opening, gripper), scene, {item.name})
        if gap >= ROOM_NEEDED:
            turn = abs(wrap(grip.yaw - math.atan2(grip.y, grip.x) - arm.neutral))
            radius = arm.radius(grip.x, grip.y)
            outside = max(0.0, radius - farthest, nearest - radius)
            tight = OPENING_ROOMS[0] - extra
            score = min(gap, ROOM_WANTED) / ROOM_WANTED - 0.25 * turn - 100.0 * outside - 10.0 * tight
            return score, Grasp(grip, opening, width)
    return None


def _candidates(item: SceneObject, gripper: Gripper) -> Iterator[tuple[HandPose, float]]:
    """Yield grips that fit the gripper, and the object's width between the fingers [m], 0 for suction."""
    if gripper.is_suction:
        yield from ((grip, 0.0) for grip in _faces(item, gripper))
        return
    fitting = [one for one in _grips(item, gripper) if _fits(*one, item, gripper)]
    yield from fitting or (one for one in _walls(item, gripper) if _fits(*one, item, gripper))


def _fits(grip: HandPose, width: float, item: SceneObject, gripper: Gripper) -> bool:
    overlap = top(item) - (grip.z - gripper.tip)
    return gripper.opening[0] <= width <= gripper.widest_object and overlap >= OVERLAP


def _grips(item: SceneObject, gripper: Gripper) -> Iterator[tuple[HandPose, float]]:
    """Yield grips and the object's width between the fingers [m], without a check of the width."""
    kind, least = known_kind(item), max(bottom(item) + gripper.tip + 0.001, top(item) - gripper.depth)
    if kind is None or not is_upright(item):
        yield from _box_grips(item, least)
        return
    yaw = yaw_of(item)
    for known in kind.grasps:
        x, y, z = compose(Pose(item.position, item.orientation), Pose(known.point)).position
        if is_container(item):  # keeps the inner finger off the floor
            z = max(z, bottom(item) + FLOOR_ROOM + gripper.tip)
        yield _grip(x, y, max(z, least), yaw + known.yaw), known.width


def _box_grips(item: SceneObject, least: float) -> Iterator[tuple[HandPose, float]]:
    """Yield grips across the sides of the object's box, as low as palm and table allow; `least` is their height [m]."""
    shape = footprint(item)
    height = max(least, item.position[2] - half_extents(item)[2] * 0.3)
    x, y, _ = item.position
    for axis in (0, 1):
        yield _grip(x, y, height, shape.yaw + axis * math.pi / 2), 2 * shape.half[axis]


def _walls(item: SceneObject, gripper: Gripper) -> Iterator[tuple[HandPose, float]]:
    """Yield grips across the upright walls of an object that is too wide as a whole, with their thickness [m]."""
    kind = known_kind(item)
    if kind is None or not is_upright(item):
        return
    parts, least = parts_of(item, kind), max(bottom(item) + FLOOR_ROOM + gripper.tip, top(item) - gripper.depth)
    for wall in parts:
        if wall.level and wall.high >= top(item) - RIM:
            width, grip = 2 * wall.shape.half[0], _grip(*wall.shape.center, least, wall.shape.yaw)
            others = [part for part in parts if part is not wall]
            if clears(hand_slices(grip, width + OPENING_ROOMS[0], gripper), others):
                yield grip, width


def _faces(item: SceneObject, gripper: Gripper) -> Iterator[HandPose]:
    """Yield grips of a suction cup at the middles of level faces that the object's own parts leave free."""
    kind = known_kind(item)
    if kind is None or len(kind.parts) == 1:
        box = footprint(item)
        parts: tuple[Part, ...] = () if is_vessel(item) or box.round else (Part(box, bottom(item), top(item)),)
    elif is_upright(item):
        parts = parts_of(item, kind)
    else:
        return
    for face in parts:
        if not face.level or min(face.shape.half) < gripper.cup + FACE_EDGE:
            continue
        for turn in (0.0, math.pi / 2):
            grip = _grip(*face.shape.center, face.high - PRESSED, face.shape.yaw + turn)
            if clears(hand_slices(grip, 0.0, gripper), parts):
                yield grip


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
        return turned((hand.x - self.grip.x, hand.y - self.grip.y), -self.heading)


def handle_of(item: SceneObject, state: float) -> Handle:
    """Return the handle of the drawer `item` at an extension of `state` [m]."""
    kind, rows = spec_of(item).shape, rotation_matrix(item.orientation)
    grasp, yaw = kind.grasps[0], yaw_of(item)
    along = grasp.point[0] - state - kind.middle_at(item.state)[0]
    x, y = (item.position[k] + rows[k][0] * along for k in (0, 1))
    z = item.position[2] + grasp.point[2]
    return Handle(HandPose(x, y, z, comfortable_yaw(x, y, yaw + grasp.yaw - math.pi / 2)), grasp.width, yaw)


def check_slide(scene: Scene, item: SceneObject, goal: float, opening: float, zones: tuple[Zone, ...]) -> None:
    """Check that hand and drawer have room to move the drawer `item` to an extension of `goal` [m].

    The fingers are `opening` [m] apart. Raises SkillError (UNREACHABLE, NO_GRASP, NO_FREE_SPACE).
    """
    start, end = handle_of(item, item.state).grip, handle_of(item, goal).grip
    check_reach(start.x, start.y, f"the handle of {the(item.name)}", arm_shape(scene.arm))
    check_reach(end.x, end.y, f"the end of the way of {the(item.name)}", arm_shape(scene.arm))
    gripper, width = gripper_of(scene), handle_of(item, goal).width
    if gripper.is_suction or not gripper.opening[0] < width < gripper.widest_object:
        raise SkillError(SkillErrorCode.NO_GRASP, f"the gripper cannot hold the handle of {the(item.name)}")
    gap, nearest = room(hand_slices(start, opening, gripper), scene, {item.name})
    if gap < ROOM_NEEDED:
        raise SkillError(
            SkillErrorCode.NO_GRASP,
            f"the fingers do not fit around the handle of {the(item.name)}: {the(nearest)} is too close; move that "
            "away first",
        )
    # Objects in the tray move with it; objects on the cabinet are above all moving parts.
    swept, along = _swept(item, goal), {item.name, *contents(scene, item.name)}
    gap, nearest = room(hand_slices(end, opening, gripper), scene, along)
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
    arm, nearest, gripper = arm_shape(scene.arm), "", gripper_of(scene)
    for turn in TURNS:
        grip = HandPose(x, y, top(item) + gripper.tip, math.atan2(y, x) + arm.neutral + turn)
        gap, nearest = room(hand_slices(grip, 0.0, gripper), scene, {item.name})
        if gap >= ROOM_NEEDED:
            return grip
    raise SkillError(
        SkillErrorCode.NO_FREE_SPACE,
        f"the hand does not fit above {the(item.name)}: {the(nearest)} is in the way; move that away first",
    )

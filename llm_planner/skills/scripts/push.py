"""Push: closed fingers behind the object, straight ahead, up again."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace

from llm_planner.skills.arm import Arm, Script
from llm_planner.skills.contract import Argument, SkillErrorCode
from llm_planner.skills.errors import SkillError
from llm_planner.skills.footprints import Footprint, footprint, separation
from llm_planner.skills.gripper_shape import TIP, Grip, comfortable_yaw, hand_slices, room
from llm_planner.skills.motion import Leg
from llm_planner.skills.reach import check_reach, into_reach
from llm_planner.skills.ways import check_line
from llm_planner.world.geometry import bottom, top
from llm_planner.world.names import the
from llm_planner.world.places import Point2, direction_vector
from llm_planner.world.scene import SceneObject

FINGER, PALM = 0.00875, 0.030  # [m] half the breadth of closed fingers and palm in the direction of pushing
UNDER_PALM = 0.034  # [m] from the grip point up to just below the palm
RUN_UP = 0.02  # [m] between fingers and object before they touch
LOW = 0.004  # [m] between the fingertips and the table
SPEED = 0.25  # of the full speed
CORRECTIONS, CLOSE = 2, 0.006  # so many times it is pushed on while it is farther than this from its goal [m]
MISSED = 0.02  # [m]


def push(arm: Arm, arguments: Mapping[str, Argument]) -> Script:
    """Slides `object` over the table by `distance` [m] in `direction`."""
    name, direction = str(arguments["object"]), str(arguments["direction"])
    distance = float(arguments["distance"])  # type: ignore[arg-type]  # checked against the manifest
    item = arm.find(name)
    ux, uy = direction_vector(direction)
    start, end = pushing_grips(item, (ux, uy), distance)
    _check_way(arm, item, start, end, (ux * distance, uy * distance))
    check_line(start, end, arm.observation.zones)
    yield from arm.fingers("close", 0.0)
    yield from arm.move("approach", arm.travel(start, arm.cruise_height()))
    yield from arm.move("push", [Leg(end, SPEED)], straight=True)
    for _ in range(CORRECTIONS):
        short = distance - _progress(arm, item, ux, uy)
        if short < CLOSE:
            break
        # It is not as wide where the fingers touched it as its box is: a little farther.
        end = replace(end, x=end.x + ux * min(short, RUN_UP), y=end.y + uy * min(short, RUN_UP))
        yield from arm.move("push", [Leg(end, SPEED)], straight=True)
    back = Grip(end.x - ux * 0.01, end.y - uy * 0.01, end.z, end.yaw)
    yield from arm.move("retreat", [Leg(back), Leg(into_reach(back.raised(arm.cruise_height())))])
    done = _progress(arm, item, ux, uy)
    if abs(done - distance) > MISSED:
        raise SkillError(
            SkillErrorCode.EFFECT_MISSING, f"{the(name)} moved {done * 100:.1f} cm instead of {distance * 100:.1f} cm"
        )


def pushing_grips(item: SceneObject, direction: Point2, distance: float) -> tuple[Grip, Grip]:
    """The hand, fingers closed, where it begins to push `item` along the unit vector `direction`, and where it ends.

    It begins `RUN_UP` away from the thing and goes `distance` [m] on after it touches.
    """
    (ux, uy), (x, y, _) = direction, item.position
    height, breadth = _contact(item)
    reach = _extent(item, math.atan2(uy, ux)) + breadth
    start = Grip(x - ux * (reach + RUN_UP), y - uy * (reach + RUN_UP), height, 0.0)
    start = replace(start, yaw=comfortable_yaw(start.x, start.y, math.atan2(uy, ux)))
    return start, replace(start, x=x + ux * (distance - reach), y=y + uy * (distance - reach))


def _progress(arm: Arm, item: SceneObject, ux: float, uy: float) -> float:
    """How far the thing has gone from where it was as `item` [m]."""
    x, y, _ = arm.find(item.name).position
    return (x - item.position[0]) * ux + (y - item.position[1]) * uy


def _contact(item: SceneObject) -> tuple[float, float]:
    """Height of the grip point, and half the breadth of what then touches first [m].

    Low, so that the thing does not topple; over its top with the palm, where that leaves the fingers in its lower half.
    """
    low, over = bottom(item) + TIP + LOW, top(item) - UNDER_PALM
    if over <= low:
        return low, FINGER
    if over - TIP <= item.position[2]:
        return over, FINGER
    return low, PALM


def _extent(item: SceneObject, direction: float) -> float:
    shape = footprint(item)
    if shape.round:
        return shape.half[0]
    turn = direction - shape.yaw
    return shape.half[0] * abs(math.cos(turn)) + shape.half[1] * abs(math.sin(turn))


def _check_way(arm: Arm, item: SceneObject, start: Grip, end: Grip, shift: tuple[float, float]) -> None:
    check_reach(start.x, start.y, f"the place behind {the(item.name)}")
    check_reach(end.x, end.y, f"the end of the way of {the(item.name)}")
    gap, nearest = room(hand_slices(start, 0.0), arm.scene, {item.name})
    if gap < 0.001:
        raise SkillError(
            SkillErrorCode.NO_FREE_SPACE,
            f"the fingers do not fit behind {the(item.name)} to push it that way: {the(nearest)} is in the way",
        )
    shape = footprint(item)
    steps = max(1, math.ceil(math.hypot(*shift) / 0.01))
    way = [
        Footprint((shape.center[0] + shift[0] * k / steps, shape.center[1] + shift[1] * k / steps), shape.half,
                  shape.yaw, shape.round)
        for k in range(1, steps + 1)
    ]  # fmt: skip
    for other in arm.scene.objects:
        if other.name != item.name and min(separation(body, footprint(other)) for body in way) < 0.0:
            raise SkillError(
                SkillErrorCode.NO_FREE_SPACE,
                f"{the(other.name)} stands in the way of {the(item.name)}; move it away or push another way",
            )

"""Straight pushes with closed fingers: start, length and free path of a stroke, by geometry without forces."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

from llm_planner.robots.arm_model import arm_shape
from llm_planner.robots.gripper import Gripper
from llm_planner.scene.geometry import bottom, top
from llm_planner.scene.names import the
from llm_planner.scene.places import TABLE, Point2
from llm_planner.scene.predicates import TABLE_KIND
from llm_planner.scene.scene import Scene, SceneObject
from llm_planner.scene.zones import Zone
from llm_planner.skills.arm_paths import check_line
from llm_planner.skills.contract import SkillError, SkillErrorCode
from llm_planner.skills.footprints import footprint, separation
from llm_planner.skills.hand_geometry import (
    HandPose,
    check_reach,
    comfortable_yaw,
    gripper_of,
    hand_slices,
    lies_on_table,
    room,
)

UNDER_PALM = 0.003  # [m] between the palm and the top of an object that is pushed under it
RUN_UP = 0.02  # [m] between fingers and object at the start
LOW = 0.004  # [m] between the fingertips and the table
NEARER = 0.003  # [m] that the object may approach a neighbour that it starts close to
WAY_STEP = 0.01  # [m] between the places checked on the object's path


@dataclass(frozen=True)
class Stroke:
    """Straight push of `item` along the unit vector `direction` by `distance` [m].

    The hand moves from `start`, `RUN_UP` away from the object, to `end`.
    """

    item: SceneObject
    direction: Point2
    distance: float
    start: HandPose
    end: HandPose

    @property
    def reach(self) -> float:
        """Distance [m] from the object's centre to the hand at the contact with the object's box."""
        return math.dist((self.start.x, self.start.y), self.item.position[:2]) - RUN_UP

    def check(self, scene: Scene, zones: tuple[Zone, ...], margin: float = 0.0) -> None:
        """Raise SkillError (UNREACHABLE, NO_FREE_SPACE) unless hand and object have a free path.

        `margin` [m] is the least gap between the object and others, unless it starts closer.
        """
        name = self.item.name
        check_reach(self.start.x, self.start.y, f"the place behind {the(name)}", arm_shape(scene.arm))
        gap, nearest = room(hand_slices(self.start, 0.0, gripper_of(scene)), scene, {name})
        if gap < 0.001:
            raise SkillError(
                SkillErrorCode.NO_FREE_SPACE,
                f"the fingers do not fit behind {the(name)} to push it that way: {the(nearest)} is in the way",
            )
        self.check_way(scene, zones, margin)

    def check_way(self, scene: Scene, zones: tuple[Zone, ...], margin: float = 0.0) -> None:
        """Check the path as `check` does, for a hand that is behind the object already."""
        name, shape = self.item.name, footprint(self.item)
        check_reach(self.end.x, self.end.y, f"the end of the way of {the(name)}", arm_shape(scene.arm))
        steps = max(1, math.ceil(self.distance / WAY_STEP))
        way = [shape.at(self.at(shape.center, k / steps), shape.yaw) for k in range(1, steps + 1)]
        if not lies_on_table(scene, *way[-1].center):
            raise SkillError(
                SkillErrorCode.UNREACHABLE,
                f"{the(name)} would fall off the table: that way it comes to ({way[-1].center[0]:.2f}, "
                f"{way[-1].center[1]:.2f}), and the table ends at x = {TABLE.x_max:g} and y = ±{TABLE.y_max:g}; push "
                "it less far or another way",
            )
        for other in scene.objects:
            # A neighbour that starts closer is allowed as long as the object does not approach it much.
            least = min(margin, separation(shape, footprint(other)) - NEARER)
            if (
                other.name != name
                and other.kind != TABLE_KIND
                and min(separation(body, footprint(other)) for body in way) < least
            ):
                raise SkillError(
                    SkillErrorCode.NO_FREE_SPACE,
                    f"{the(other.name)} stands in the way of {the(name)}; move it away or push another way",
                )
        check_line(self.start, self.end, zones)

    def at(self, point: Point2, share: float) -> Point2:
        """Return `point` moved by that share of the stroke [m]."""
        way = share * self.distance
        return point[0] + way * self.direction[0], point[1] + way * self.direction[1]


def stroke_to(item: SceneObject, goal: Point2, gripper: Gripper) -> Stroke:
    """Return the stroke that pushes `item` to another place `goal` [m]."""
    dx, dy = goal[0] - item.position[0], goal[1] - item.position[1]
    distance = math.hypot(dx, dy)
    direction = dx / distance, dy / distance
    return Stroke(item, direction, distance, *pushing_grips(item, direction, distance, gripper))


def pushing_grips(item: SceneObject, direction: Point2, distance: float, gripper: Gripper) -> tuple[HandPose, HandPose]:
    """Return the closed hand at the start and the end of a push of `item` along the unit vector `direction`.

    `distance` [m] is the travel after contact; the run-up of `RUN_UP` comes in addition.
    """
    (ux, uy), (x, y, _) = direction, item.position
    height, breadth = _contact(item, gripper)
    reach = footprint(item).extent(math.atan2(uy, ux)) + breadth
    start = HandPose(x - ux * (reach + RUN_UP), y - uy * (reach + RUN_UP), height, 0.0)
    start = replace(start, yaw=comfortable_yaw(start.x, start.y, math.atan2(uy, ux)))
    return start, replace(start, x=x + ux * (distance - reach), y=y + uy * (distance - reach))


def pushing_height(item: SceneObject, gripper: Gripper) -> float:
    """Return the height of the grip point [m] while pushing `item`."""
    return _contact(item, gripper)[0]


def _contact(item: SceneObject, gripper: Gripper) -> tuple[float, float]:
    """Return the height of the grip point and the half breadth of the part in contact [m].

    Low, so that the object does not topple; with the palm over its top if the fingers then touch its lower half.
    """
    low, over = bottom(item) + gripper.tip + LOW, top(item) - round(gripper.palm[2] - UNDER_PALM, 6)
    finger = gripper.fingers[0][1]
    if over <= low:
        return low, finger
    if over - gripper.tip <= item.position[2]:
        return over, finger
    return low, gripper.palm[0]

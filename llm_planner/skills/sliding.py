"""Where closed fingers push a thing from, how far, and whether it has a free way: geometry without forces."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

from llm_planner.scene.geometry import bottom, top
from llm_planner.scene.names import the
from llm_planner.scene.places import TABLE, Point2
from llm_planner.scene.scene import Scene, SceneObject
from llm_planner.scene.zones import Zone
from llm_planner.skills.arm_paths import check_line
from llm_planner.skills.contract import SkillError, SkillErrorCode
from llm_planner.skills.hand_geometry import (
    TIP,
    Grip,
    check_reach,
    comfortable_yaw,
    footprint,
    hand_slices,
    lies_on_table,
    room,
    separation,
)

FINGER, PALM = 0.00875, 0.030  # [m] half the breadth of closed fingers and palm in the direction of pushing
UNDER_PALM = 0.034  # [m] from the grip point up to just below the palm
RUN_UP = 0.02  # [m] between fingers and object before they touch
LOW = 0.004  # [m] between the fingertips and the table
NEARER = 0.003  # [m] that a thing may come nearer to what it nearly touches when it begins to slide
WAY_STEP = 0.01  # [m] between the places at which the way of the thing is looked at


@dataclass(frozen=True)
class Stroke:
    """A thing pushed straight: from `item` along the unit vector `direction` by `distance` [m]; the hand from `start`,
    `RUN_UP` away from the thing, to `end`."""

    item: SceneObject
    direction: Point2
    distance: float
    start: Grip
    end: Grip

    @property
    def reach(self) -> float:
        """From the thing's middle to the hand when it touches the thing's box [m]."""
        return math.dist((self.start.x, self.start.y), self.item.position[:2]) - RUN_UP

    def check(self, scene: Scene, zones: tuple[Zone, ...], margin: float = 0.0) -> None:
        """Raises SkillError (UNREACHABLE, NO_FREE_SPACE) where the hand, the thing or rules have no room for it.

        The thing is to pass `margin` [m] beside all others at least, if it is not nearer where it begins.
        """
        name = self.item.name
        check_reach(self.start.x, self.start.y, f"the place behind {the(name)}")
        gap, nearest = room(hand_slices(self.start, 0.0), scene, {name})
        if gap < 0.001:
            raise SkillError(
                SkillErrorCode.NO_FREE_SPACE,
                f"the fingers do not fit behind {the(name)} to push it that way: {the(nearest)} is in the way",
            )
        self.check_way(scene, zones, margin)

    def check_way(self, scene: Scene, zones: tuple[Zone, ...], margin: float = 0.0) -> None:
        """The same, for a hand that is behind the thing already."""
        name, shape = self.item.name, footprint(self.item)
        check_reach(self.end.x, self.end.y, f"the end of the way of {the(name)}")
        way = [shape.at(self.at(shape.center, share), shape.yaw) for share in self._shares()]
        if not lies_on_table(*way[-1].center):
            raise SkillError(
                SkillErrorCode.UNREACHABLE,
                f"{the(name)} would fall off the table: that way it comes to ({way[-1].center[0]:.2f}, "
                f"{way[-1].center[1]:.2f}), and the table ends at x = {TABLE.x_max:g} and y = ±{TABLE.y_max:g}; push "
                "it less far or another way",
            )
        for other in scene.objects:
            # What is nearer already may be left behind, as long as the thing does not come much nearer.
            least = min(margin, separation(shape, footprint(other)) - NEARER)
            if other.name != name and min(separation(body, footprint(other)) for body in way) < least:
                raise SkillError(
                    SkillErrorCode.NO_FREE_SPACE,
                    f"{the(other.name)} stands in the way of {the(name)}; move it away or push another way",
                )
        check_line(self.start, self.end, zones)

    def at(self, point: Point2, share: float) -> Point2:
        """Where `point` is after that share of the way [m]."""
        way = share * self.distance
        return point[0] + way * self.direction[0], point[1] + way * self.direction[1]

    def _shares(self) -> list[float]:
        steps = max(1, math.ceil(self.distance / WAY_STEP))
        return [k / steps for k in range(1, steps + 1)]


def stroke_to(item: SceneObject, goal: Point2) -> Stroke:
    """The stroke that pushes `item` to `goal` [m], which is somewhere else."""
    dx, dy = goal[0] - item.position[0], goal[1] - item.position[1]
    distance = math.hypot(dx, dy)
    direction = dx / distance, dy / distance
    return Stroke(item, direction, distance, *pushing_grips(item, direction, distance))


def pushing_grips(item: SceneObject, direction: Point2, distance: float) -> tuple[Grip, Grip]:
    """The hand, fingers closed, where it begins to push `item` along the unit vector `direction`, and where it ends.

    It begins `RUN_UP` away from the thing and goes `distance` [m] on after it touches.
    """
    (ux, uy), (x, y, _) = direction, item.position
    height, breadth = _contact(item)
    reach = extent(item, math.atan2(uy, ux)) + breadth
    start = Grip(x - ux * (reach + RUN_UP), y - uy * (reach + RUN_UP), height, 0.0)
    start = replace(start, yaw=comfortable_yaw(start.x, start.y, math.atan2(uy, ux)))
    return start, replace(start, x=x + ux * (distance - reach), y=y + uy * (distance - reach))


def pushing_height(item: SceneObject) -> float:
    """Of the grip point while it is pushed [m]."""
    return _contact(item)[0]


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


def extent(item: SceneObject, direction: float) -> float:
    """How far a thing reaches from its middle along `direction` [rad] [m]."""
    shape = footprint(item)
    if shape.round:
        return shape.half[0]
    turn = direction - shape.yaw
    return shape.half[0] * abs(math.cos(turn)) + shape.half[1] * abs(math.sin(turn))

"""Where a hand works at furniture: the handle of a drawer, the cap of a button, and whether there is room for it."""

from __future__ import annotations

import math
from dataclasses import dataclass

from llm_planner.control.zones import Zone
from llm_planner.simulation.objects import spec_of
from llm_planner.skills.contract import SkillErrorCode
from llm_planner.skills.errors import SkillError
from llm_planner.skills.footprints import Footprint, footprint, separation
from llm_planner.skills.gripper_shape import TIP, Grip, comfortable_yaw, hand_slices, room
from llm_planner.skills.reach import check_reach
from llm_planner.skills.ways import check_line
from llm_planner.world.geometry import rotation_matrix, top
from llm_planner.world.names import the
from llm_planner.world.places import Point2
from llm_planner.world.predicates import contents, is_solid
from llm_planner.world.scene import Scene, SceneObject

TURNS = tuple(math.radians(angle) for angle in (0.0, 30.0, -30.0, 60.0, -60.0, 90.0))
ROOM_NEEDED = 0.001  # [m] around the fingers


@dataclass(frozen=True)
class Handle:
    """A drawer's: `grip` takes its stem, `width` [m] thick; the drawer goes in along `heading` [rad]."""

    grip: Grip
    width: float
    heading: float

    def seen(self, hand: Grip) -> Point2:
        """The hand from the middle of the stem: along the heading and across it, to the left [m]."""
        dx, dy = hand.x - self.grip.x, hand.y - self.grip.y
        c, s = math.cos(self.heading), math.sin(self.heading)
        return c * dx + s * dy, c * dy - s * dx


def handle_of(item: SceneObject, state: float) -> Handle:
    """The handle of the drawer `item` where it is when that is `state` [m] out."""
    kind, rows = spec_of(item).shape, rotation_matrix(item.orientation)
    grasp, heading = kind.grasps[0], math.atan2(rows[1][0], rows[0][0])
    along = grasp.point[0] - state - kind.middle_at(item.state)[0]
    x, y = (item.position[k] + rows[k][0] * along for k in (0, 1))
    z = item.position[2] + grasp.point[2]
    return Handle(Grip(x, y, z, comfortable_yaw(x, y, heading + grasp.yaw - math.pi / 2)), grasp.width, heading)


def check_slide(scene: Scene, item: SceneObject, goal: float, opening: float, zones: tuple[Zone, ...]) -> None:
    """Raises SkillError (UNREACHABLE, NO_GRASP, NO_FREE_SPACE) where hand or tray have no room up to `goal` [m]."""
    start, end = handle_of(item, item.state).grip, handle_of(item, goal).grip
    check_reach(start.x, start.y, f"the handle of {the(item.name)}")
    check_reach(end.x, end.y, f"the end of the way of {the(item.name)}")
    gap, nearest = room(hand_slices(start, opening), scene, {item.name})
    if gap < ROOM_NEEDED:
        raise SkillError(
            SkillErrorCode.NO_GRASP,
            f"the fingers do not fit around the handle of {the(item.name)}: {the(nearest)} is too close; move that "
            "away first",
        )
    # What lies in the tray comes along, and what stands on the cabinet is above all that slides.
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
    """What the drawer covers when it is `goal` [m] out."""
    kind, shape = spec_of(item).shape, footprint(item)
    shift = kind.middle_at(goal)[0] - kind.middle_at(item.state)[0]
    x, y = shape.center
    center = x + shift * math.cos(shape.yaw), y + shift * math.sin(shape.yaw)
    return Footprint(center, (kind.size_at(goal)[0] / 2, shape.half[1]), shape.yaw)


def pressing_grip(scene: Scene, item: SceneObject) -> Grip:
    """Closed fingers on the top of `item`, the hand turned so that it has room; raises SkillError (UNREACHABLE,
    NO_FREE_SPACE)."""
    x, y, _ = item.position
    check_reach(x, y, the(item.name))
    neutral, nearest = math.atan2(y, x), ""
    for turn in TURNS:
        grip = Grip(x, y, top(item) + TIP, neutral + turn)
        gap, nearest = room(hand_slices(grip, 0.0), scene, {item.name})
        if gap >= ROOM_NEEDED:
            return grip
    raise SkillError(
        SkillErrorCode.NO_FREE_SPACE,
        f"the hand does not fit above {the(item.name)}: {the(nearest)} is in the way; move that away first",
    )

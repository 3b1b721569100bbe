"""Knock a standing mug or vase over.

Closed fingers push below its upper rim and roll it over its far lower edge. A straight push would make a mug slide,
because friction at the fingers holds its near side down. On the arc along which that side rises, friction lifts it.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace

from llm_planner import Arm, HandPose, Leg, Scene, SceneObject, Script, SkillError, SkillErrorCode
from llm_planner.robots.arm_model import arm_shape
from llm_planner.robots.gripper import Gripper
from llm_planner.scene.geometry import half_extents, rotation_matrix, top
from llm_planner.scene.names import the
from llm_planner.scene.places import Point2
from llm_planner.scene.predicates import toppled
from llm_planner.scene.zones import Zone
from llm_planner.skills.arm_paths import check_line
from llm_planner.skills.contract import Arguments
from llm_planner.skills.footprints import Footprint, footprint, separation
from llm_planner.skills.hand_geometry import Aim, check_reach, comfortable_yaw
from llm_planner.skills.paths import hover_over as plan
from llm_planner.skills.sliding import RUN_UP, Stroke, get_behind, is_behind, leave

__all__ = ["move", "plan"]

DEPTH = 0.012  # [m] fingertips below the rim that they push against
TILTS = tuple(map(math.radians, (10, 20, 30, 40, 50, 60)))  # [rad] tilts at which the fingers' path has its corners
SPEED = 0.5  # share of full speed
STROKES = 12
DIRECTIONS = 32
LEANING = math.radians(4)  # tilt beyond which the object balances on its edge or leans on another
OFF = 0.05  # [m] that a leaning object is pushed past its axis
LANDING = 0.01  # [m] free table around the place where the object falls


@dataclass(frozen=True)
class _Nudge(Stroke):
    """Push of a leaning object; neighbours are not checked, because the object may lean on one of them."""

    def check_way(self, scene: Scene, zones: tuple[Zone, ...], margin: float = 0.0) -> None:
        """Raise SkillError if the hand cannot reach the end of the push."""
        check_reach(self.end.x, self.end.y, f"the place where {the(self.item.name)} falls", arm_shape(scene.arm))
        check_line(self.start, self.end, zones)


def move(arm: Arm, arguments: Arguments) -> Script:
    """Knock `object` over; raises SkillError (NO_FREE_SPACE) if it has no room to fall, or (EFFECT_MISSING)."""
    name = str(arguments["object"])
    for _ in range(STROKES):
        if toppled(arm.scene, arm.find(name).name):
            yield from leave(arm, name)
            if toppled(arm.scene, name):  # still true without the hand
                return
        stroke = _stroke(arm, arm.find(name))
        if not isinstance(stroke, _Nudge):  # keeps the aim while the object is falling
            arm.aim = Aim(
                stroke.start, {"cruise": arm.cruise_height() - stroke.start.z}, math.atan2(*stroke.direction[::-1])
            )
        yield from _until_down(arm, name, _push(arm, stroke) if is_behind(arm, stroke) else get_behind(arm, stroke))
    yield from leave(arm, name)
    if not toppled(arm.scene, name):
        raise SkillError(SkillErrorCode.EFFECT_MISSING, f"{the(name)} still stands")


def _stroke(arm: Arm, item: SceneObject) -> Stroke:
    """Return the first stroke with room for the hand and the fall; raises SkillError if there is none."""
    refusal = SkillError(SkillErrorCode.NO_FREE_SPACE, f"there is no room for {the(item.name)} to fall over")
    for stroke in _strokes(item, arm.gripper):
        try:
            if not isinstance(stroke, _Nudge):
                _check_fall(arm, stroke)
            stroke.check(arm.scene, arm.observation.zones)
        except SkillError as error:
            refusal = error
            continue
        return stroke
    raise refusal


def _strokes(item: SceneObject, gripper: Gripper) -> Iterator[Stroke]:
    """Yield strokes, first those across the object's x axis (its handle) or, if it leans, across its lean."""
    rows = rotation_matrix(item.orientation)
    leans = rows[2][2] < math.cos(LEANING)
    across = math.atan2(rows[1][2], rows[0][2]) + math.pi / 2 if leans else math.atan2(rows[1][1], rows[0][1])
    angles = [across + 2 * math.pi * k / DIRECTIONS for k in range(DIRECTIONS)]
    for angle in sorted(angles, key=lambda angle: round(abs(math.sin(angle - across)), 3)):
        yield _aside(item, angle, gripper) if leans else _against_rim(item, angle, gripper)


def _against_rim(item: SceneObject, angle: float, gripper: Gripper) -> Stroke:
    direction = math.cos(angle), math.sin(angle)
    behind = _beside(item, direction, -RUN_UP, 0.0, gripper)
    start = replace(behind, yaw=comfortable_yaw(behind.x, behind.y, angle))
    end = replace(_beside(item, direction, 0.0, TILTS[-1], gripper), yaw=start.yaw)
    return Stroke(item, direction, math.dist((start.x, start.y), (end.x, end.y)) - RUN_UP, start, end)


def _aside(item: SceneObject, angle: float, gripper: Gripper) -> Stroke:
    """Return a push against the upper half of a leaning object, across its lean and off a possible support."""
    rows, up = rotation_matrix(item.orientation), item.size[2] / 4
    reach = min(item.size[:2]) / 2 + gripper.fingers[0][1]
    x, y, z = (at + up * row[2] for at, row in zip(item.position, rows, strict=True))
    ux, uy = math.cos(angle), math.sin(angle)
    start = HandPose(x - (reach + RUN_UP) * ux, y - (reach + RUN_UP) * uy, z + gripper.tip - DEPTH, 0.0)
    start = replace(start, yaw=comfortable_yaw(start.x, start.y, angle))
    end = replace(start, x=x + OFF * ux, y=y + OFF * uy)
    return _Nudge(replace(item, position=(x, y, z)), (ux, uy), OFF + reach, start, end)


def _beside(item: SceneObject, direction: Point2, ahead: float, tilt: float, gripper: Gripper) -> HandPose:
    """Return the grip below the near rim, moved by `ahead` [m], of an object tilted by `tilt` [rad]."""
    (ux, uy), (x, y), radius, high = direction, _axis(item), min(item.size[:2]) / 2, top(item) - DEPTH
    along = radius - 2 * radius * math.cos(tilt) + high * math.sin(tilt) - gripper.fingers[0][1] + ahead
    height = high * math.cos(tilt) + 2 * radius * math.sin(tilt)
    return HandPose(x + along * ux, y + along * uy, height + gripper.tip, 0.0)


def _axis(item: SceneObject) -> Point2:
    """Return the centre of the round body [m]; a handle extends the box at the positive end of its x axis."""
    rows, (x, y, _) = rotation_matrix(item.orientation), item.position
    handle = (item.size[0] - item.size[1]) / 2
    return x - handle * rows[0][0], y - handle * rows[1][0]


def _until_down(arm: Arm, name: str, script: Script) -> Script:
    """Run the script until the object lies."""
    for reference in script:
        yield reference
        if toppled(arm.scene, arm.find(name).name):
            break
    arm.grip = arm.hand


def _push(arm: Arm, stroke: Stroke) -> Script:
    """Push a standing object over, or a leaning one aside."""
    legs = [Leg(stroke.end, SPEED)]
    if not isinstance(stroke, _Nudge):
        grips = [_beside(stroke.item, stroke.direction, 0.0, tilt, arm.gripper) for tilt in (0.0, *TILTS)]
        legs = [Leg(replace(grip, yaw=stroke.start.yaw), SPEED) for grip in grips]
    try:
        yield from arm.move("push", legs, straight=True)
    except SkillError:  # the hand is stuck; another stroke may work
        return


def _check_fall(arm: Arm, stroke: Stroke) -> None:
    item, (ux, uy) = stroke.item, stroke.direction
    half = (item.size[2] + max(half_extents(item)[:2])) / 2
    x, y, _ = item.position
    lying = Footprint((x + ux * half, y + uy * half), (half, max(half_extents(item)[:2])), math.atan2(uy, ux))
    for other in arm.scene.objects:
        if other.name != item.name and separation(lying, footprint(other)) < LANDING:
            raise SkillError(
                SkillErrorCode.NO_FREE_SPACE,
                f"{the(item.name)} would fall on {the(other.name)}; move that away first",
            )

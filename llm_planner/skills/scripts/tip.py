"""Tip: closed fingers under the upper rim of what stands roll it over its far lower edge; then away from it.

Pushed straight ahead a mug slides: the friction of the fingers holds its near side down. On the arc on which that side
rises, the same friction lifts it.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from llm_planner.programs.values import Argument
from llm_planner.scene.geometry import half_extents, rotation_matrix, top
from llm_planner.scene.names import the
from llm_planner.scene.places import Point2
from llm_planner.scene.predicates import toppled
from llm_planner.scene.scene import Scene, SceneObject
from llm_planner.scene.zones import Zone
from llm_planner.skills.arm import Arm, Script
from llm_planner.skills.arm_paths import check_line
from llm_planner.skills.contract import SkillError, SkillErrorCode
from llm_planner.skills.hand_geometry import (
    TIP,
    Aim,
    Footprint,
    Grip,
    check_reach,
    comfortable_yaw,
    footprint,
    grip_of,
    separation,
)
from llm_planner.skills.motion import Leg
from llm_planner.skills.scripts.slide import get_behind, is_behind, leave
from llm_planner.skills.sliding import FINGER, RUN_UP, Stroke

DEPTH = 0.012  # [m] of the fingertips below the rim that they push against
TILTS = tuple(map(math.radians, (10, 20, 30, 40, 50, 60)))  # up to which the fingers go along with it
SPEED = 0.5  # of the full speed
STROKES = 12
DIRECTIONS = 32
LEANING = math.radians(4)  # farther off the vertical it balances on its edge, or leans on something
OFF = 0.05  # [m] past its axis that what leans is pushed
LANDING = 0.01  # [m] of free table around where the thing comes to lie


@dataclass(frozen=True)
class _Nudge(Stroke):
    """Of what leans already: that others stand close to it may be why it does not lie yet."""

    def check_way(self, scene: Scene, zones: tuple[Zone, ...], margin: float = 0.0) -> None:
        """Raises SkillError where the hand does not come to its end."""
        check_reach(self.end.x, self.end.y, f"the place where {the(self.item.name)} falls")
        check_line(self.start, self.end, zones)


def tip(arm: Arm, arguments: Mapping[str, Argument]) -> Script:
    """Leaves `object` lying; raises SkillError (NO_FREE_SPACE) where it has no room to fall, (EFFECT_MISSING)."""
    name = str(arguments["object"])
    for _ in range(STROKES):
        if toppled(arm.scene, arm.find(name).name):
            yield from leave(arm, name)
            if toppled(arm.scene, name):  # and the hand did not hold it down
                return
        stroke = _stroke(arm, arm.find(name))
        if not isinstance(stroke, _Nudge):  # of what is falling already, the aim stays
            arm.aim = Aim(stroke.start, {"cruise": arm.cruise_height() - stroke.start.z}, _heading(stroke))
        yield from _until_down(arm, name, _push(arm, stroke) if is_behind(arm, stroke) else get_behind(arm, stroke))
    yield from leave(arm, name)
    if not toppled(arm.scene, name):
        raise SkillError(SkillErrorCode.EFFECT_MISSING, f"{the(name)} still stands")


def _stroke(arm: Arm, item: SceneObject) -> Stroke:
    """The first that has room for the hand and for the fall."""
    refusal = SkillError(SkillErrorCode.NO_FREE_SPACE, f"there is no room for {the(item.name)} to fall over")
    for stroke in _strokes(item):
        try:
            if not isinstance(stroke, _Nudge):
                _check_fall(arm, stroke)
            stroke.check(arm.scene, arm.observation.zones)
        except SkillError as error:
            refusal = error
            continue
        return stroke
    raise refusal


def _strokes(item: SceneObject) -> Iterator[Stroke]:
    """Those that push most across the thing's own x axis, its handle, first; across its lean, where it leans."""
    rows = rotation_matrix(item.orientation)
    leans = rows[2][2] < math.cos(LEANING)
    across = math.atan2(rows[1][2], rows[0][2]) + math.pi / 2 if leans else math.atan2(rows[1][1], rows[0][1])
    angles = [across + 2 * math.pi * k / DIRECTIONS for k in range(DIRECTIONS)]
    for angle in sorted(angles, key=lambda angle: round(abs(math.sin(angle - across)), 3)):
        yield _aside(item, angle) if leans else _against_rim(item, angle)


def _heading(stroke: Stroke) -> float:
    return math.atan2(stroke.direction[1], stroke.direction[0])


def _against_rim(item: SceneObject, angle: float) -> Stroke:
    direction = math.cos(angle), math.sin(angle)
    behind = _beside(item, direction, -RUN_UP, 0.0)
    start = replace(behind, yaw=comfortable_yaw(behind.x, behind.y, angle))
    end = replace(_beside(item, direction, 0.0, TILTS[-1]), yaw=start.yaw)
    return Stroke(item, direction, math.dist((start.x, start.y), (end.x, end.y)) - RUN_UP, start, end)


def _aside(item: SceneObject, angle: float) -> Stroke:
    """Against the upper half of what leans, across its lean: off what it leans on, where there is something."""
    rows, up, reach = rotation_matrix(item.orientation), item.size[2] / 4, min(item.size[:2]) / 2 + FINGER
    x, y, z = (at + up * row[2] for at, row in zip(item.position, rows, strict=True))
    ux, uy = math.cos(angle), math.sin(angle)
    start = Grip(x - (reach + RUN_UP) * ux, y - (reach + RUN_UP) * uy, z + TIP - DEPTH, 0.0)
    start = replace(start, yaw=comfortable_yaw(start.x, start.y, angle))
    end = replace(start, x=x + OFF * ux, y=y + OFF * uy)
    return _Nudge(replace(item, position=(x, y, z)), (ux, uy), OFF + reach, start, end)


def _beside(item: SceneObject, direction: Point2, ahead: float, tilt: float) -> Grip:
    """The fingers under its near rim, or so much `ahead` of that [m], when it is tilted by `tilt` [rad]."""
    (ux, uy), (x, y), radius, high = direction, _axis(item), min(item.size[:2]) / 2, top(item) - DEPTH
    along = radius - 2 * radius * math.cos(tilt) + high * math.sin(tilt) - FINGER + ahead
    height = high * math.cos(tilt) + 2 * radius * math.sin(tilt)
    return Grip(x + along * ux, y + along * uy, height + TIP, 0.0)


def _axis(item: SceneObject) -> Point2:
    """The middle of its round body [m]: a handle makes its box longer along its own x axis, at the far end."""
    rows, (x, y, _) = rotation_matrix(item.orientation), item.position
    handle = (item.size[0] - item.size[1]) / 2
    return x - handle * rows[0][0], y - handle * rows[1][0]


def _until_down(arm: Arm, name: str, script: Script) -> Script:
    """The script, up to the moment at which the thing lies: then nothing else is to be done to it."""
    for reference in script:
        yield reference
        if toppled(arm.scene, arm.find(name).name):
            break
    arm.grip = grip_of(arm.observation.T_base_gripper)


def _push(arm: Arm, stroke: Stroke) -> Script:
    """Over, or aside what leans."""
    legs = [Leg(stroke.end, SPEED)]
    if not isinstance(stroke, _Nudge):
        grips = [_beside(stroke.item, stroke.direction, 0.0, tilt) for tilt in (0.0, *TILTS)]
        legs = [Leg(replace(grip, yaw=stroke.start.yaw), SPEED) for grip in grips]
    try:
        yield from arm.move("push", legs, straight=True)
    except SkillError:  # the hand is wedged in: another stroke may do
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

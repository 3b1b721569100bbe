"""Wipe a stain off the table with the sponge in the gripper, which must be picked up before and remains held.

Parallel strokes, back and forth, cover the stain in a direction in which the hand has room. Passes with more strokes
follow until it is gone.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from dataclasses import dataclass, replace

from llm_planner import Arm, HandPose, Leg, Scene, SceneObject, Script, SkillError, SkillErrorCode
from llm_planner.robots.arm_model import arm_shape
from llm_planner.scene.geometry import bottom
from llm_planner.scene.names import the
from llm_planner.scene.places import Point2
from llm_planner.scene.predicates import clean
from llm_planner.scene.zones import Zone
from llm_planner.skills.arm import hanging
from llm_planner.skills.arm_paths import in_funnel, keeps_out
from llm_planner.skills.contract import Arguments
from llm_planner.skills.footprints import distance_to_segment, footprint, turned
from llm_planner.skills.hand_geometry import Aim, Slice, room, wrap
from llm_planner.skills.paths import operate as plan
from llm_planner.skills.placement import Held, held_in

__all__ = ["move", "plan"]

DEEP = 0.001  # [m] commanded depth of the load below the table top, which keeps it in contact
OVERLAP = 0.85  # share of the load's breadth that counts as wiped by a stroke
BEYOND = 0.010  # [m] past the patch, so that a hand that cuts corners still covers it
ROUND = 0.6  # share of the radius of a round load that counts as its half size
ROOM_NEEDED = 0.001  # [m] around the hand and its load
ON_STROKE = 0.008  # [m] distance from a stroke within which the hand follows it


@dataclass(frozen=True)
class Strokes:
    """Corners of the hand's path over the patch, and the direction of the strokes [rad]."""

    grips: tuple[HandPose, ...]
    heading: float

    def ahead_of(self, hand: HandPose) -> tuple[HandPose, ...]:
        """Return the remaining corners for a hand on a stroke; all corners if it is elsewhere or at the end."""
        pairs = list(itertools.pairwise(self.grips))
        off = [distance_to_segment((hand.x, hand.y), (a.x, a.y), (b.x, b.y)) for a, b in pairs]
        nearest = min(range(len(pairs)), key=off.__getitem__)
        last = self.grips[-1]
        at_end = math.dist((hand.x, hand.y), (last.x, last.y)) <= ON_STROKE
        return self.grips if at_end or off[nearest] > ON_STROKE else self.grips[nearest + 1 :]


def choose_strokes(scene: Scene, held: Held, patch: SceneObject, extra: int, zones: tuple[Zone, ...]) -> Strokes:
    """Return the smallest set of strokes that covers `patch`, plus `extra` strokes, for which the hand has room.

    Raises SkillError (UNREACHABLE, NO_FREE_SPACE).
    """
    ways = sorted(_ways(held, patch, extra), key=lambda way: len(way.grips))
    shape = arm_shape(scene.arm)
    within = [way for way in ways if all(shape.reaches(grip.x, grip.y) for grip in way.grips)]
    if not within:
        raise SkillError(SkillErrorCode.UNREACHABLE, f"the hand does not reach all of {the(patch.name)}")
    nearest = ""
    for way in within:
        gap, nearest = _room(scene, held, way)
        if gap >= ROOM_NEEDED and all(keeps_out((grip.x, grip.y, grip.z), zones) for grip in way.grips):
            return way
    blocked = f"{the(nearest)} is in the way; move that away first" if gap < ROOM_NEEDED else "rules forbid it"
    raise SkillError(SkillErrorCode.NO_FREE_SPACE, f"the hand has no room over {the(patch.name)}: {blocked}")


def parts_of(held: Held, grip: HandPose) -> tuple[Slice, ...]:
    """Return the slices of the hand at `grip` and of its load."""
    return held.parts(grip, min(held.width, held.gripper.widest))


def _room(scene: Scene, held: Held, way: Strokes) -> tuple[float, str]:
    return min((room(parts_of(held, grip), scene, {held.item.name}) for grip in way.grips), key=lambda found: found[0])


def _ways(held: Held, patch: SceneObject, extra: int) -> Iterator[Strokes]:
    """Yield strokes along either side of the patch, with either side of the load ahead."""
    shape = footprint(patch)
    halves = held.shape.half if not held.shape.round else (held.shape.half[0] * ROUND,) * 2
    for along in (0, 1):
        heading = shape.yaw + along * math.pi / 2
        length, breadth = shape.half[along], shape.half[1 - along]
        for ahead, turn in ((0, 0.0), (1, math.pi / 2)):
            corners = _corners(length, breadth, halves[ahead], halves[1 - ahead], extra)
            yaw = held.aligned(shape.center, heading + turn)
            middle = held.grip_at(shape.center, yaw, 0.0)
            yield Strokes(tuple(_shifted(middle, corner, heading, held.below - DEEP) for corner in corners), heading)


def _corners(length: float, breadth: float, ahead: float, aside: float, extra: int) -> list[Point2]:
    """Return corners, along and across the strokes [m], over a patch of half sizes `length` and `breadth`.

    `ahead` and `aside` are the half sizes of the load.
    """
    count = max(1, math.ceil(breadth / (OVERLAP * aside))) + extra
    outer = max(0.0, breadth + BEYOND - aside)
    lanes = [0.0] if count == 1 else [outer * (2 * k / (count - 1) - 1) for k in range(count)]
    end = max(length + BEYOND - ahead, 0.5 * ahead)
    return [(side * end, lane) for k, lane in enumerate(lanes) for side in ((-1, 1) if k % 2 == 0 else (1, -1))]


def _shifted(grip: HandPose, by: Point2, heading: float, height: float) -> HandPose:
    dx, dy = turned(by, heading)
    return replace(grip, x=grip.x + dx, y=grip.y + dy, z=height)


SPEED = 0.5  # share of full speed
PASSES = (0, 0, 0, 1, 2)  # additional strokes of the successive passes
ON_TABLE = 0.004  # [m] height up to which the load counts as lying on the table
TURNED = 0.2  # [rad] tolerance of the yaw for a straight approach to the first stroke
NEAR = 0.15  # [m] greatest distance for a straight approach
LIFT = 0.05  # [m] above the table at the end


def move(arm: Arm, arguments: Arguments) -> Script:
    """Wipe away the stain `object` with the held object; raises SkillError (EFFECT_MISSING) if some of it is left."""
    name, carried = str(arguments["object"]), arm.scene.held
    for extra in PASSES:
        if clean(arm.scene, name):
            break
        held = held_in(arm.scene, arm.grip, arm.observation.gripper_width)
        patch = arm.find(name)
        strokes = choose_strokes(arm.scene, held, patch, extra, arm.observation.zones)
        arm.aim = _aim(arm, held, strokes)
        yield from _wiped(arm, name, held, strokes)
        arm.require_held(carried)
    yield from _leave(arm, carried)
    if not clean(arm.scene, name):
        left = 100 * arm.find(name).state
        raise SkillError(SkillErrorCode.EFFECT_MISSING, f"{left:.0f} % of {the(name)} are left")


def _aim(arm: Arm, held: Held, strokes: Strokes) -> Aim:
    first, last = strokes.grips[0], strokes.grips[-1]
    middle = replace(first, x=(first.x + last.x) / 2, y=(first.y + last.y) / 2)
    reach = math.dist((first.x, first.y), (strokes.grips[1].x, strokes.grips[1].y)) / 2
    numbers = {"reach": reach, "strokes": len(strokes.grips) / 2, "cruise": _cruise(arm, held) - first.z}
    return Aim(middle, numbers, strokes.heading, first)


def _cruise(arm: Arm, held: Held) -> float:
    return arm.cruise_height(hanging(arm, held.item.name), ignore=held.item.name)


def _wiped(arm: Arm, name: str, held: Held, strokes: Strokes) -> Script:
    """Execute the strokes, from the first or the current one, until the stain is gone."""
    for movement in _movements(arm, held, strokes):
        yield from movement
        arm.grip = arm.hand
        # Only between strokes: a policy that learns from this must not take a place on the way as the reason to leave.
        if clean(arm.scene, name):
            break


def _movements(arm: Arm, held: Held, strokes: Strokes) -> Iterator[Script]:
    first, straight = strokes.grips[0], _goes_straight(arm, held, strokes)
    ahead = strokes.ahead_of(arm.grip) if straight and bottom(held.item) <= ON_TABLE else strokes.grips
    if ahead == strokes.grips:
        way = [Leg(first, SPEED)] if straight else arm.travel(first, _cruise(arm, held))
        yield arm.move("approach", way, stop_early=True, straight=straight)
        ahead = ahead[1:]
    for corner in ahead:
        yield arm.move("wipe", [Leg(corner, SPEED)], stop_early=True, straight=True)


def _goes_straight(arm: Arm, held: Held, strokes: Strokes) -> bool:
    """Return whether the path to the first stroke is free and the load lies on the table near it or is above it."""
    first, hand = strokes.grips[0], arm.grip
    near = math.dist((hand.x, hand.y), (first.x, first.y)) <= NEAR and abs(wrap(hand.yaw - first.yaw)) <= TURNED
    lies = near and bottom(held.item) <= ON_TABLE
    if not lies and not in_funnel(hand, first, first.z):
        return False
    return arm.is_clear([first], lambda grip: parts_of(held, grip), {held.item.name})


def _leave(arm: Arm, carried: str) -> Script:
    """Rise from the table, unless the hand is high enough already."""
    arm.grip = arm.hand
    height = LIFT + (hanging(arm, carried) if carried else 0.0)
    if arm.grip.z < height:
        yield from arm.move("lift", [arm.rise(height)])

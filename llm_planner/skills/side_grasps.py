"""Grasps from the side with a level hand, of what cannot be taken from above.

Candidates follow from the shapes of object and gripper: at each height, the outline of the object's parts between the
fingers gives the directions in which the fingers lie flat on it, its width across them, and how far it reaches into the
hand. They are ordered by how near the middle of the object and the front of the arm they are. The first one is taken
whose way there and back is free, and which the arm follows by inverse kinematics.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np

from llm_planner.robots.arm_model import arm_shape
from llm_planner.robots.gripper import Gripper
from llm_planner.scene.geometry import bottom, top
from llm_planner.scene.scene import Scene, SceneObject
from llm_planner.skills.arm_paths import too_tall
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
    LEVEL,
    HandPose,
    Slice,
    clears,
    grip_of,
    gripper_of,
    hand_slices,
    room,
    solids,
    wrap,
)
from llm_planner.skills.level_hand import Begins, coming, followed, leaving, level_cruise, standoff
from llm_planner.skills.motion import Leg, MotionLimits, plan_path

OPENING_ROOMS = (0.030, 0.020, 0.012, 0.008)  # [m] opening beyond the object's width, widest that fits
ROOM_NEEDED = 0.002
OVER_TABLE = 0.006  # [m] between the table and the hand
RAISED = 0.02  # [m] by which the hand rises before it goes back
RAISED_LEAST = 0.004
UNDER = 0.004  # [m] between the raised object and what is above it
GRID = 0.01  # [m] between the heights tried
SIDEWAYS = math.radians(100.0)  # greatest angle between the hand and the direction from the base to the object
FLAT = math.radians(12.0)  # greatest angle between a finger and a flat side
FARTHER, STEP = 0.2, 0.02  # [m] by which a hand comes from farther away, where something is above the object
MOST = 40  # candidates whose motion is computed


@dataclass(frozen=True)
class Grasp:
    """Hand at an object.

    Attributes:
        grip: Hand with the object between its fingers.
        opening: Distance between the fingertips on approach [m].
        width: Of the object, between the fingers [m].
        back: Distance by which a level hand comes forward to it [m].
        lift: Height by which a level hand rises before it goes back [m].
    """

    grip: HandPose
    opening: float
    width: float
    back: float = 0.0
    lift: float = 0.0


def side_grasp(scene: Scene, item: SceneObject, begins: Begins | None = None) -> Grasp:
    """Return the best grasp of `item` from the side.

    Raises SkillError (NO_GRASP) with the reason for which the last candidates were left out.
    """
    still = replace(scene, time=0.0, robot=None, speed=0.0, reports=())
    found = _best(still, item, begins or Begins.at_rest(scene))
    if isinstance(found, str):
        raise SkillError(SkillErrorCode.NO_GRASP, found)
    return found


@lru_cache(maxsize=256)  # plans and their forecasts ask for the same grasps again and again
def _best(scene: Scene, item: SceneObject, begins: Begins) -> Grasp | str:
    """Return the best grasp, or why there is none."""
    gripper = gripper_of(scene)
    if gripper.is_suction:
        return "a suction cup takes things from above only"
    if not is_upright(item):
        return "nothing that lies is taken from the side"
    outlines = list(_outlines(item, gripper))
    if not outlines:
        low = max(gripper.palm[0], _half_breadth(gripper)) + OVER_TABLE
        return f"from the side it is too low: the fingers of a level hand are {100 * low:.1f} cm above the table"
    fitting = [one for one in outlines if gripper.opening[0] <= one.width <= gripper.widest_object]
    if not fitting:
        least = min(one.width for one in outlines)
        return f"from the side it is {least:.3f} m wide of {gripper.opening[0]:g} to {gripper.widest_object:.3f} m"
    wanted = sorted(fitting, key=lambda one: _cost(scene, item, one))
    free = [grasp for one in wanted for roll in (1, -1) if (grasp := _free(scene, item, one, roll)) is not None]
    if not free:
        return "from the side there is no room for a level hand; move away what is around it"
    for grasp in _varied(free)[:MOST]:
        found = _possible(scene, item, grasp, begins)
        if found is not None:
            return found
    return "from the side the arm does not bring a level hand to it; put it where the arm reaches around it"


def _varied(grasps: Sequence[Grasp]) -> list[Grasp]:
    """Return the best grasp of each orientation, then the second ones, and so on: heights alone seldom matter."""
    seen: Counter[tuple[float, float]] = Counter()
    ranks = []
    for grasp in grasps:
        orientation = round(grasp.grip.yaw, 2), grasp.grip.tilt
        ranks.append(seen[orientation])
        seen[orientation] += 1
    return [grasps[index] for index in sorted(range(len(grasps)), key=lambda index: ranks[index])]


@dataclass(frozen=True)
class _Outline:
    """Part of an object between level fingers: grip height, direction of the hand, place and width [m], [rad]."""

    z: float
    heading: float
    center: tuple[float, float]  # of the grip
    width: float


def _outlines(item: SceneObject, gripper: Gripper) -> Iterator[_Outline]:
    parts = _parts(item)
    half = _half_breadth(gripper)
    low = max(bottom(item) + half, max(gripper.palm[0], half) + OVER_TABLE)
    for z in np.arange(low, top(item) - half + 1e-9, GRID).tolist():
        band = [part for part in parts if part.low < z + half and part.high > z - half]
        if any(part.low <= z - half / 2 and part.high >= z + half / 2 for part in band):
            for heading in _headings(band):
                yield _outline(band, z, heading, gripper)


def _parts(item: SceneObject) -> Sequence[Part]:
    kind = known_kind(item)
    return parts_of(item, kind) if kind else (Part(footprint(item), bottom(item), top(item)),)


def _half_breadth(gripper: Gripper) -> float:
    return max(half for _, half, _ in gripper.fingers)


def _headings(band: Sequence[Part]) -> list[float]:
    """Return directions [rad] in which fingers lie flat on a side of the parts, every 15 degrees of a disc."""
    if any(part.shape.round for part in band):
        return [k * math.pi / 12 for k in range(24)]
    sides = {round(wrap(part.shape.yaw, math.pi / 2), 3) for part in band}
    turns = (0.0, FLAT, -FLAT) if len(sides) > 1 else (0.0,)  # between many sides, as of a prism, others do as well
    return [side + k * math.pi / 2 + turn for side in sides for k in range(4) for turn in turns]


def _outline(band: Sequence[Part], z: float, heading: float, gripper: Gripper) -> _Outline:
    along = [_extent(part.shape, heading) for part in band]
    across = [_extent(part.shape, heading + math.pi / 2) for part in band]
    front, back = min(low for low, _ in along), max(high for _, high in along)
    left, right = min(low for low, _ in across), max(high for _, high in across)
    deep, aside = min((front + back) / 2, front + gripper.depth), (left + right) / 2
    return _Outline(z, heading, turned((deep, aside), heading), right - left)


def _extent(shape: Footprint, direction: float) -> tuple[float, float]:
    """Return the least and largest coordinate of a footprint along a direction [m]."""
    middle, half = turned(shape.center, -direction)[0], shape.extent(direction)
    return middle - half, middle + half


def _cost(scene: Scene, item: SceneObject, outline: _Outline) -> float:
    """Return what makes a grasp worse: a height off the object's middle, and a direction off that of the arm."""
    (base_x, base_y), (x, y) = arm_shape(scene.arm).axis, outline.center
    turn = abs(wrap(outline.heading - math.atan2(y - base_y, x - base_x)))
    if turn > SIDEWAYS:
        return math.inf
    return abs(outline.z - item.position[2]) / item.size[2] + 0.2 * turn


def _free(scene: Scene, item: SceneObject, outline: _Outline, roll: int) -> Grasp | None:
    """Return the grasp with the fingers as wide open as the neighbours allow; `roll` is the sign of the tilt."""
    if math.isinf(_cost(scene, item, outline)):
        return None
    gripper = gripper_of(scene)
    back = standoff(item, gripper)
    yaw = wrap(outline.heading if roll > 0 else outline.heading + math.pi)
    grip = HandPose(*outline.center, outline.z, yaw, roll * LEVEL)
    own = [part for part in _parts(item) if not _is_between(part, outline.z, gripper)]
    lift = min(RAISED, _headroom(scene, item) - UNDER)
    if lift < RAISED_LEAST:
        return None
    for extra in OPENING_ROOMS:
        opening = min(outline.width + extra, gripper.widest)
        hand = hand_slices(grip, opening, gripper)
        if clears(hand, own) and room(hand, scene, {item.name})[0] >= ROOM_NEEDED:
            return Grasp(grip, opening, outline.width, back, lift)
    return None


def _is_between(part: Part, z: float, gripper: Gripper) -> bool:
    half = _half_breadth(gripper)
    return part.low < z + half and part.high > z - half


def _headroom(scene: Scene, item: SceneObject) -> float:
    """Return the height [m] that is free above an object, infinite if nothing is there."""
    above = [
        low - top(item)
        for other in scene.objects
        if other.name != item.name
        for shape, low, _ in solids(other)
        if low >= item.position[2] and separation(shape, footprint(item)) < UNDER
    ]
    return min(above, default=math.inf)


def _possible(scene: Scene, item: SceneObject, grasp: Grasp, begins: Begins) -> Grasp | None:
    """Return the grasp from as near as the way there and back with the object is free, if the arm follows it."""
    gripper, grip = gripper_of(scene), grasp.grip
    height = level_cruise(scene, grip.z - bottom(item), item.name)
    body, lifted = footprint(item), grip.raised(grip.z + grasp.lift)

    def hand(at: HandPose) -> tuple[Slice, ...]:
        return hand_slices(at, grasp.opening, gripper)

    def load(at: HandPose) -> tuple[Slice, ...]:
        shape, up = body.at((body.center[0] + at.x - grip.x, body.center[1] + at.y - grip.y), body.yaw), at.z - grip.z
        return *hand(at), Slice(shape, bottom(item) + up, top(item) + up)

    def is_free(parts: Sequence[Slice]) -> bool:
        return room(parts, scene, {item.name})[0] >= ROOM_NEEDED

    for back in np.arange(0.0, grasp.back + FARTHER, STEP).tolist():
        parts = *hand(grip.advanced(-back)), *load(lifted.advanced(-back))
        if not is_free(parts):
            return None
        if back >= grasp.back and is_free([replace(part, ends=math.inf) for part in parts]):  # all the way up
            there, away = coming(begins.hand, grip, back, height, scene), leaving(grip, back, height, grasp.lift)
            if _meets_tall(scene, begins.hand, there, grasp.opening):
                return None
            arrived = followed(scene, begins, there)
            again = followed(scene, arrived, away, item.name) if arrived else None
            return replace(grasp, back=back) if again else None
    return None


def _meets_tall(scene: Scene, start: HandPose, legs: Sequence[Leg], opening: float) -> bool:
    """Return whether the hand meets something on its way that is too tall to pass over."""
    tall = [part for item in too_tall(scene) for part in _parts(item)]
    if not tall:
        return False
    hands = (hand_slices(grip_of(pose), opening, gripper_of(scene)) for pose in plan_path(start, legs, MotionLimits()))
    return not all(clears(hand, tall) for hand in hands)

"""Geometry of the hand: poses, footprints, hand slices, clearances, aims and what is in reach.

The gripper points straight down, or is level to take things from the side. Its configuration is a `HandPose` (x, y, z,
yaw, tilt). The fingers close along the gripper's y axis, which is level, at the angle yaw + pi/2 in the base frame. An
`Aim` is what a script decides before it moves, and all that a learned skill takes from its demonstrator. Lengths in
metres.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache

from llm_planner.robots.arm_model import ArmShape, arm_shape
from llm_planner.robots.gripper import Gripper
from llm_planner.scene.driven_base import on_area
from llm_planner.scene.geometry import (
    bottom,
    product,
    rotation_matrix,
    straight_down,
    top,
    yaw_of,
)
from llm_planner.scene.places import TABLE
from llm_planner.scene.predicates import DRAWER, SHELF, TABLE_KIND, is_solid, is_vessel
from llm_planner.scene.scene import Pose, Scene, SceneObject
from llm_planner.simulation.objects import spec_of
from llm_planner.skills.contract import SkillError, SkillErrorCode
from llm_planner.skills.footprints import (
    Footprint,
    Part,
    footprint,
    is_upright,
    known_kind,
    parts_of,
    reach_from,
    separation,
)

PRESSED = 0.001  # [m] by which a suction cup is pressed onto a face
CLEAR_OF_PARTS = 0.001  # [m]
TWISTED = 0.3  # [rad] of wrist yaw beyond a right angle to the arm that is still in range
WALL = {"bowl": 0.014, "plate": 0.010}  # [m] from the outermost edge to the inside of a container's foot
_OTHER_WALL = 0.007
FLOOR = 0.006  # [m] thickness of a container's floor; walls and floor are for an object of its kind's standard size


LEVEL = math.pi / 2  # [rad] tilt of a hand that points to a side
LEANING = 0.45  # [rad] tilt up to which a hand counts as pointing down: arms of five joints lean by up to 0.4


@dataclass(frozen=True)
class HandPose:
    """T_base_gripper of a hand whose closing axis is level.

    Attributes:
        x, y, z: Position [m, base frame].
        yaw: Direction of the gripper's x axis while the hand points down [rad].
        tilt: Angle of the gripper's z axis from straight down towards `yaw`, or away from it if negative [rad].
    """

    x: float
    y: float
    z: float
    yaw: float
    tilt: float = 0.0

    def pose(self) -> Pose:
        """Return the pose: `tilt` about y, a half turn about x, then `yaw` about z."""
        down = straight_down(self.x, self.y, self.z, self.yaw)
        if not self.tilt:
            return down
        tilted = 0.0, math.sin(self.tilt / 2), 0.0, math.cos(self.tilt / 2)
        return Pose(down.position, product(down.orientation, tilted))

    def raised(self, z: float) -> HandPose:
        """Return the grip at height `z` [m]."""
        return replace(self, z=z)

    def advanced(self, distance: float) -> HandPose:
        """Return the grip of a level hand moved by `distance` [m] in the direction in which it points."""
        heading = self.heading
        return replace(self, x=self.x + distance * math.cos(heading), y=self.y + distance * math.sin(heading))

    @property
    def heading(self) -> float:
        """Direction in which a level hand points, seen from above [rad]."""
        return self.yaw if self.tilt >= 0.0 else self.yaw + math.pi

    @property
    def is_level(self) -> bool:
        """Whether the hand points to a side rather than down."""
        return abs(self.tilt) > LEVEL / 2


def grip_of(pose: Pose) -> HandPose:
    """Return the grip nearest to `pose`; a hand that leans by less than `LEANING` [rad] points down."""
    rows = rotation_matrix(pose.orientation)
    if -rows[2][2] > math.cos(LEANING):
        return HandPose(*pose.position, yaw_of(pose))
    yaw = math.atan2(rows[0][1], -rows[1][1])
    forward = math.cos(yaw) * rows[0][2] + math.sin(yaw) * rows[1][2]
    return HandPose(*pose.position, yaw, math.atan2(forward, -rows[2][2]))


def wrap(angle: float, period: float = 2 * math.pi) -> float:
    """Return the equivalent angle in [-period/2, period/2)."""
    return (angle + period / 2) % period - period / 2


def nearer_half_turn(yaw: float, other: float) -> float:
    """Return `yaw` or its half turn, whichever is nearer to `other`; the fingers are symmetric."""
    return other + wrap(yaw - other, math.pi)


def comfortable_yaw(x: float, y: float, yaw: float, neutral: float = 0.0) -> float:
    """Return `yaw` or its half turn, whichever keeps the wrist nearer to its `neutral` angle (see `ArmShape`)."""
    return nearer_half_turn(yaw, math.atan2(y, x) + neutral)


def nearest_yaw(x: float, y: float, yaw: float, hand: float, neutral: float = 0.0) -> float:
    """Return `yaw` or its half turn, whichever is nearer to the yaw `hand` without twisting the wrist too far."""
    near, middle = nearer_half_turn(yaw, hand), math.atan2(y, x) + neutral
    return near if abs(wrap(near - middle)) <= math.pi / 2 + TWISTED else nearer_half_turn(yaw, middle)


@dataclass(frozen=True)
class Slice:
    """Part of the hand: its footprint, and the heights of its lower and upper end [m]; above a hand is its arm."""

    shape: Footprint
    begins: float
    ends: float = math.inf


def gripper_of(scene: Scene) -> Gripper:
    """Return the gripper of the arm that the scene shows."""
    return arm_shape(scene.arm).gripper


def hand_slices(grip: HandPose, opening: float, gripper: Gripper) -> tuple[Slice, ...]:
    """Return the palm at `grip` and the fingers, with their tips `opening` [m] apart, or the suction cup."""
    if grip.is_level:
        return _level_slices(grip, opening, gripper)
    ux, uy = -math.sin(grip.yaw), math.cos(grip.yaw)
    half_x, half_y, begins = gripper.palm
    slices = [Slice(Footprint((grip.x, grip.y), (half_x, half_y), grip.yaw), grip.z + begins)]
    if gripper.is_suction:
        return (*slices, Slice(Footprint((grip.x, grip.y), (gripper.cup,) * 2, grip.yaw), grip.z))
    for thickness, half_breadth, begins in gripper.fingers:
        offset = (opening + thickness) / 2
        for side in (offset, -offset):
            shape = Footprint((grip.x + side * ux, grip.y + side * uy), (half_breadth, thickness / 2), grip.yaw)
            slices.append(Slice(shape, grip.z + begins))
    return tuple(slices)


def _level_slices(grip: HandPose, opening: float, gripper: Gripper) -> tuple[Slice, ...]:
    """Return palm and fingers of a level jaw; what is above the grip of a hand that points down is behind it here."""

    def part(begins: float, ends: float, half_height: float, aside: float, half_across: float) -> Slice:
        middle = grip.advanced(-(begins + ends) / 2)
        center = middle.x - aside * math.sin(grip.yaw), middle.y + aside * math.cos(grip.yaw)
        shape = Footprint(center, ((ends - begins) / 2, half_across), grip.yaw)
        return Slice(shape, grip.z - half_height, grip.z + half_height)

    half_x, half_y, palm = gripper.palm
    slices = [part(palm, gripper.length, half_x, 0.0, half_y)]
    ends = [*(begins for _, _, begins in gripper.fingers[1:]), palm]
    for (thickness, half_breadth, begins), end in zip(gripper.fingers, ends, strict=True):
        for side in (1, -1):
            slices.append(part(begins, end, half_breadth, side * (opening + thickness) / 2, thickness / 2))
    return tuple(slices)


def clears(hand: Iterable[Slice], parts: Iterable[Part]) -> bool:
    """Return whether the hand keeps clear of parts of the object itself, which the cup may press on from above."""
    slices = tuple(hand)
    return all(
        separation(one.shape, part.shape) >= CLEAR_OF_PARTS
        for part in parts
        for one in slices
        if part.high > one.begins + PRESSED and part.low < one.ends
    )


def inner_radius(container: SceneObject) -> float:
    """Return the radius of a container's floor [m]."""
    return min(container.size[:2]) / 2 - spec_of(container).scale * WALL.get(container.kind, _OTHER_WALL)


def rim_radius(container: SceneObject) -> float:
    """Return the radius of a container's opening at its rim [m]."""
    return min(container.size[:2]) / 2 - spec_of(container).scale * _OTHER_WALL


def room(slices: Iterable[Slice], scene: Scene, ignore: Collection[str] = ()) -> tuple[float, str]:
    """Return the smallest gap [m] between slices of the hand and objects, and the object's name.

    Only objects tall enough to meet a slice count; (inf, "") if there is none. A vessel around a slice counts by its
    wall, a drawer by its parts.
    """
    best, nearest = math.inf, ""
    solid = [item for item in scene.objects if item.name not in ignore and is_solid(item)]
    shapes = [(item, *part) for item in solid for part in solids(item)]
    for part in slices:
        for item, shape, low, high in shapes:
            if high > part.begins and low < part.ends:
                gap = wall_gap(part, item, shape)
                if gap < best:
                    best, nearest = gap, item.name
    return best, nearest


@lru_cache(maxsize=512)
def solids(item: SceneObject) -> tuple[tuple[Footprint, float, float], ...]:
    """Return footprints, lower and upper heights [m] of the solids of an object; furniture has one for each part."""
    if item.kind not in (DRAWER, SHELF):
        return ((footprint(item), bottom(item), top(item)),)
    return tuple((part.shape, part.low, part.high) for part in parts_of(item, spec_of(item).shape))


def wall_gap(part: Slice, item: SceneObject, shape: Footprint) -> float:
    """Return the gap [m] between a slice and an object; inside an upright vessel, to its wall and floor."""
    hollow = is_vessel(item) and is_upright(item) and part.begins > bottom(item) + FLOOR
    if hollow:
        inside = _radius_at(item, part.begins - bottom(item)) - reach_from(shape.center, part.shape)
        if inside > 0.0 or math.dist(part.shape.center, shape.center) < inner_radius(item):
            return inside
    return separation(part.shape, shape)


def _radius_at(vessel: SceneObject, height: float) -> float:
    """Return the radius [m] inside a vessel `height` [m] above its bottom: exact for leaning walls of a known kind."""
    kind, height = known_kind(vessel), min(height, vessel.size[2])
    walls = [part for part in kind.parts if part.tilt] if kind is not None else []
    if not walls:
        floor = inner_radius(vessel)
        return floor + height / vessel.size[2] * (rim_radius(vessel) - floor)
    above = height - vessel.size[2] / 2
    return min(
        math.hypot(*wall.center[:2]) - wall.half[0] / math.cos(wall.tilt)
        + (above - wall.center[2]) * math.tan(wall.tilt)
        for wall in walls
    )  # fmt: skip


HEIGHTS = ("cruise", "lift", "retreat")  # [m] above the grip; names among the numbers of an aim
HIGHER = 0.02  # [m] above them that the hand may rise


@dataclass(frozen=True)
class Aim:
    """What a script decides before it moves: where the hand acts (`grip`), and the numbers with which it acts.

    `numbers` are named lengths [m], such as openings and heights above the grip; `depth` is how far the hand goes below
    it. `heading` [rad, base frame] is the direction that matters there, None for that from the base to the grip.
    `start` is where the hand must be before it acts, if anywhere. `room` is how far beside the grip [m] a held object
    still lies where it is to lie.
    """

    grip: HandPose
    numbers: Mapping[str, float] = field(default_factory=dict)
    heading: float | None = None
    start: HandPose | None = None
    room: float = math.inf

    @property
    def slack(self) -> float:
        """How far the hand may be off the grip [m]: with open fingers around an object, until one of them meets it."""
        if "opening" not in self.numbers or "width" not in self.numbers:
            return self.room
        return max(0.0, (self.numbers["opening"] - self.numbers["width"]) / 2 - FINGER_ROOM)

    @property
    def lowest(self) -> float:
        """Lowest height [m] at which the hand acts."""
        return self.grip.z - self.numbers.get("depth", 0.0)

    @property
    def highest(self) -> float:
        """Greatest height [m] of the hand; infinite if the numbers do not include `cruise`."""
        heights = [self.numbers[name] for name in HEIGHTS if name in self.numbers]
        return self.grip.z + max(heights) + HIGHER if "cruise" in self.numbers else math.inf


FINGER_ROOM = 0.002  # [m] between a finger and an object that it is about to take
EDGE = 0.03  # [m] from the edge of the table to the centre of an object, at least


def rest_pose(shape: ArmShape) -> HandPose:
    """Return the gripper in the rest posture of the arm."""
    return HandPose(*shape.rest, 0.0)


def into_reach(grip: HandPose, shape: ArmShape) -> HandPose:
    """Return the nearest grip at the same height and azimuth that an arm of this shape reaches.

    A level hand stays: its path is found by inverse kinematics, not from the reach of one that points down.
    """
    if grip.is_level:
        return grip
    (x, y), radius = shape.axis, shape.radius(grip.x, grip.y)
    nearest, farthest = shape.radius_range(grip.z)
    wanted = min(max(radius, nearest), farthest)
    if radius == wanted or radius == 0.0:
        return grip
    return replace(grip, x=x + (grip.x - x) * wanted / radius, y=y + (grip.y - y) * wanted / radius)


def lies_on_table(scene: Scene, x: float, y: float) -> bool:
    """Return whether an object centred at (x, y) [m] stays on a table, even if it slides a little."""
    if scene.base is None:
        return TABLE.contains(x, y, margin=-EDGE)
    return any(item.kind == TABLE_KIND and on_area(item, (x, y), EDGE) for item in scene.objects)


def check_reach(x: float, y: float, what: str, shape: ArmShape) -> None:
    """Raise SkillError (UNREACHABLE) if the hand cannot point straight down at (x, y) [m]; `what` is there."""
    if not shape.reaches(x, y):
        nearest, farthest = shape.table_range
        raise SkillError(
            SkillErrorCode.UNREACHABLE,
            f"{what} at ({x:.2f}, {y:.2f}) is out of reach: the arm reaches {nearest:g} to {farthest:g} m from its"
            f" base in front of it, and that is {shape.radius(x, y):.2f} m away",
        )

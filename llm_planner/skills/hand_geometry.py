"""Geometry of the downward-pointing hand: footprints, hand slices, clearances, aims and what is in reach.

The gripper points straight down, so its configuration is a `HandPose` (x, y, z, yaw). The fingers close along the
gripper's y axis, at the angle yaw + pi/2 in the base frame. An `Aim` is what a script decides before it moves, and
all that a learned skill takes from its demonstrator. Lengths in metres.
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
    ROUND_KINDS,
    UPRIGHT,
    bottom,
    half_extents,
    heading,
    rotation_matrix,
    straight_down,
    top,
)
from llm_planner.scene.places import TABLE
from llm_planner.scene.predicates import DRAWER, TABLE_KIND, is_solid, is_vessel
from llm_planner.scene.scene import Pose, Scene, SceneObject
from llm_planner.simulation.objects import spec_of
from llm_planner.skills.contract import SkillError, SkillErrorCode

Point2 = tuple[float, float]


@dataclass(frozen=True)
class Footprint:
    """Area seen from above: a rectangle of half sizes `half` turned by `yaw` [rad], or a disc of radius `half[0]`."""

    center: Point2
    half: Point2
    yaw: float = 0.0
    round: bool = False

    def at(self, center: Point2, yaw: float) -> Footprint:
        """Return the same shape at another place."""
        return Footprint(center, self.half, yaw, self.round)

    @property
    def radius(self) -> float:
        """Radius of the enclosing disc [m]."""
        return self.half[0] if self.round else math.hypot(*self.half)


def is_upright(item: SceneObject) -> bool:
    """Return whether the object's z axis points up, as its grasps and its opening require."""
    return rotation_matrix(item.orientation)[2][2] >= UPRIGHT


def footprint(item: SceneObject) -> Footprint:
    """Return the footprint of an object: exact if one of its axes is vertical, otherwise its upright box."""
    rows = rotation_matrix(item.orientation)
    vertical = max(range(3), key=lambda k: abs(rows[2][k]))
    x, y, _ = item.position
    if abs(rows[2][vertical]) < UPRIGHT:
        reach = half_extents(item)
        return Footprint((x, y), (reach[0], reach[1]))
    first, second = (k for k in range(3) if k != vertical)
    if item.kind in ROUND_KINDS and vertical == 2:
        return Footprint((x, y), (max(item.size[:2]) / 2,) * 2, round=True)
    yaw = math.atan2(rows[1][first], rows[0][first])
    return Footprint((x, y), (item.size[first] / 2, item.size[second] / 2), yaw)


def separation(a: Footprint, b: Footprint) -> float:
    """Return the gap between two footprints [m], negative where they overlap.

    For two rectangles this is the widest gap over their four axes (separating axis theorem): exact if they overlap or
    face each other, otherwise a lower bound of the distance.
    """
    if a.round and b.round:
        return math.dist(a.center, b.center) - a.half[0] - b.half[0]
    if a.round:
        return _point_to_rectangle(a.center, b) - a.half[0]
    if b.round:
        return _point_to_rectangle(b.center, a) - b.half[0]
    dx, dy = b.center[0] - a.center[0], b.center[1] - a.center[1]
    turn = b.yaw - a.yaw
    c, s = abs(math.cos(turn)), abs(math.sin(turn))
    ca, sa, cb, sb = math.cos(a.yaw), math.sin(a.yaw), math.cos(b.yaw), math.sin(b.yaw)
    return max(
        abs(dx * ca + dy * sa) - a.half[0] - b.half[0] * c - b.half[1] * s,
        abs(dy * ca - dx * sa) - a.half[1] - b.half[0] * s - b.half[1] * c,
        abs(dx * cb + dy * sb) - b.half[0] - a.half[0] * c - a.half[1] * s,
        abs(dy * cb - dx * sb) - b.half[1] - a.half[0] * s - a.half[1] * c,
    )


def reach_from(point: Point2, shape: Footprint) -> float:
    """Return the largest distance [m] from `point` to any point of `shape`."""
    if shape.round:
        return math.dist(point, shape.center) + shape.half[0]
    along, across = _in_frame(point, shape)
    return math.hypot(abs(along) + shape.half[0], abs(across) + shape.half[1])


def _in_frame(point: Point2, shape: Footprint) -> Point2:
    dx, dy = point[0] - shape.center[0], point[1] - shape.center[1]
    c, s = math.cos(shape.yaw), math.sin(shape.yaw)
    return dx * c + dy * s, dy * c - dx * s


def _point_to_rectangle(point: Point2, shape: Footprint) -> float:
    along, across = _in_frame(point, shape)
    outside = (abs(along) - shape.half[0], abs(across) - shape.half[1])
    if max(outside) <= 0.0:
        return max(outside)
    return math.hypot(max(outside[0], 0.0), max(outside[1], 0.0))


TWISTED = 0.3  # [rad] of wrist yaw beyond a right angle to the arm that is still in range
WALL = {"bowl": 0.014, "plate": 0.010}  # [m] from the outermost edge to the inside of a container's foot
_OTHER_WALL = 0.007
FLOOR = 0.006  # [m] thickness of a container's floor; walls and floor are for an object of its kind's standard size


@dataclass(frozen=True)
class HandPose:
    """T_base_gripper of a downward-pointing hand: position [m] and yaw of its x axis in the base frame [rad]."""

    x: float
    y: float
    z: float
    yaw: float

    def pose(self) -> Pose:
        """Return the pose: a half turn about x, then `yaw` about z."""
        return straight_down(self.x, self.y, self.z, self.yaw)

    def raised(self, z: float) -> HandPose:
        """Return the grip at height `z` [m]."""
        return HandPose(self.x, self.y, z, self.yaw)


def grip_of(pose: Pose) -> HandPose:
    """Return the downward-pointing grip nearest to `pose`."""
    return HandPose(*pose.position, heading(pose.orientation))


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
    """Part of the hand: its footprint and the height of its lower end [m]; it extends upwards."""

    shape: Footprint
    begins: float


def gripper_of(scene: Scene) -> Gripper:
    """Return the gripper of the arm that the scene shows."""
    return arm_shape(scene.arm).gripper


def hand_slices(grip: HandPose, opening: float, gripper: Gripper) -> tuple[Slice, ...]:
    """Return the palm at `grip` and the fingers, with their tips `opening` [m] apart, or the suction cup."""
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
    shapes = [(item, shape, height) for item in solid for shape, height in _solids(item)]
    for part in slices:
        for item, shape, height in shapes:
            if height > part.begins:
                gap = wall_gap(part, item, shape)
                if gap < best:
                    best, nearest = gap, item.name
    return best, nearest


@lru_cache(maxsize=512)
def _solids(item: SceneObject) -> tuple[tuple[Footprint, float], ...]:
    """Return footprints and top heights [m] of the solids of an object; a drawer has one for each part."""
    if item.kind != DRAWER:
        return ((footprint(item), top(item)),)
    (x, y, z), rows = item.position, rotation_matrix(item.orientation)
    yaw = math.atan2(rows[1][0], rows[0][0])
    c, s = math.cos(yaw), math.sin(yaw)
    solids = []
    for part in spec_of(item).shape.parts_at(item.state):
        px, py, pz = part.center
        center = x + c * px - s * py, y + s * px + c * py
        solids.append((Footprint(center, part.half[:2], yaw + part.yaw), z + pz + part.half[2]))
    return tuple(solids)


def wall_gap(part: Slice, item: SceneObject, shape: Footprint) -> float:
    """Return the gap [m] between a slice and an object; inside an upright vessel, to its wall and floor."""
    hollow = is_vessel(item) and is_upright(item) and part.begins > bottom(item) + FLOOR
    if hollow:
        floor, rim = inner_radius(item), rim_radius(item)
        share = min(1.0, (part.begins - bottom(item)) / item.size[2])
        inside = floor + share * (rim - floor) - reach_from(shape.center, part.shape)
        if inside > 0.0 or math.dist(part.shape.center, shape.center) < floor:
            return inside
    return separation(part.shape, shape)


HEIGHTS = ("cruise", "lift", "retreat")  # [m] above the grip; names among the numbers of an aim
HIGHER = 0.02  # [m] above them that the hand may rise


@dataclass(frozen=True)
class Aim:
    """What a script decides before it moves: where the hand acts (`grip`), and the numbers with which it acts.

    `numbers` are named lengths [m], such as openings and heights above the grip; `depth` is how far the hand goes below
    it. `heading` [rad, base frame] is the direction that matters there, None for that from the base to the grip.
    `start` is where the hand must be before it acts, if anywhere.
    """

    grip: HandPose
    numbers: Mapping[str, float] = field(default_factory=dict)
    heading: float | None = None
    start: HandPose | None = None

    @property
    def lowest(self) -> float:
        """Lowest height [m] at which the hand acts."""
        return self.grip.z - self.numbers.get("depth", 0.0)

    @property
    def highest(self) -> float:
        """Greatest height [m] of the hand; infinite if the numbers do not include `cruise`."""
        heights = [self.numbers[name] for name in HEIGHTS if name in self.numbers]
        return self.grip.z + max(heights) + HIGHER if "cruise" in self.numbers else math.inf


EDGE = 0.03  # [m] from the edge of the table to the centre of an object, at least


def rest_pose(shape: ArmShape) -> HandPose:
    """Return the gripper in the rest posture of the arm."""
    return HandPose(*shape.rest, 0.0)


def into_reach(grip: HandPose, shape: ArmShape) -> HandPose:
    """Return the nearest grip at the same height and azimuth that an arm of this shape reaches."""
    (x, y), radius = shape.axis, shape.radius(grip.x, grip.y)
    nearest, farthest = shape.radius_range(grip.z)
    wanted = min(max(radius, nearest), farthest)
    if radius == wanted or radius == 0.0:
        return grip
    return replace(grip, x=x + (grip.x - x) * wanted / radius, y=y + (grip.y - y) * wanted / radius)


def reachable(x: float, y: float, shape: ArmShape) -> bool:
    """Return whether the hand of an arm of this shape can pick or place on the table at (x, y) [m]."""
    return shape.reaches(x, y)


def lies_on_table(scene: Scene, x: float, y: float) -> bool:
    """Return whether an object centred at (x, y) [m] stays on a table, even if it slides a little."""
    if scene.base is None:
        return TABLE.contains(x, y, margin=-EDGE)
    return any(item.kind == TABLE_KIND and on_area(item, (x, y), EDGE) for item in scene.objects)


def check_reach(x: float, y: float, what: str, shape: ArmShape) -> None:
    """Raise SkillError (UNREACHABLE) if the hand cannot point straight down at (x, y) [m]; `what` is there."""
    if not reachable(x, y, shape):
        nearest, farthest = shape.table_range
        raise SkillError(
            SkillErrorCode.UNREACHABLE,
            f"{what} at ({x:.2f}, {y:.2f}) is out of reach: the arm reaches {nearest:g} to {farthest:g} m from its"
            f" base in front of it, and that is {shape.radius(x, y):.2f} m away",
        )

"""The hand seen from above, in slices, and how much room there is around it.

The gripper always points straight down here: its configuration is a `Grip` (x, y, z, yaw). The fingers close along the
gripper's y axis, which at `yaw` lies at the angle yaw + pi/2 in the base frame.

What a script has decided before it moves: where the hand is to go, and the numbers with which it will act there.

A learned skill asks its demonstrator for this alone: where is geometry, how is learned.

What things cover of the table, seen from above, and how far apart two of them are. Lengths in metres.

Where the arm reaches with the hand pointing straight down.

Measured with the controller's inverse kinematics, less a few millimetres; a test holds it against the arm.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache
from itertools import pairwise

from llm_planner.scene.geometry import ROUND_KINDS, UPRIGHT, bottom, half_extents, rotation_matrix, top
from llm_planner.scene.places import TABLE
from llm_planner.scene.predicates import DRAWER, is_solid, is_vessel
from llm_planner.scene.scene import Pose, Scene, SceneObject
from llm_planner.simulation.objects import spec_of
from llm_planner.skills.contract import SkillError, SkillErrorCode

Point2 = tuple[float, float]


@dataclass(frozen=True)
class Footprint:
    """A rectangle of half sizes `half` turned by `yaw` [rad], or, where `round`, a disc of radius `half[0]`."""

    center: Point2
    half: Point2
    yaw: float = 0.0
    round: bool = False

    def at(self, center: Point2, yaw: float) -> Footprint:
        """The same shape elsewhere."""
        return Footprint(center, self.half, yaw, self.round)

    @property
    def radius(self) -> float:
        """Of the smallest disc around it."""
        return self.half[0] if self.round else math.hypot(*self.half)


def is_upright(item: SceneObject) -> bool:
    """Whether the object's own z axis points up, as its grasps and its opening suppose."""
    return rotation_matrix(item.orientation)[2][2] >= UPRIGHT


def footprint(item: SceneObject) -> Footprint:
    """The footprint of an object, however it lies: exact when one of its axes is vertical, else its upright box."""
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
    """The gap between two footprints [m], negative where they overlap.

    Between two rectangles this is the widest gap over their four axes (the separating axis theorem): exact when they
    overlap or face each other, and never more than the distance.
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
    """The largest distance from `point` to any point of `shape`."""
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


TIP = 0.0095  # [m] the fingertips end this far below the point between them
OPENING_MAX = 0.08  # [m]
TWISTED = 0.3  # [rad] beyond a right angle to the arm that the wrist still reaches
# Of each finger: thickness along the closing axis, half its breadth, and where it begins above the grip point [m].
_FINGER_SLICES = ((0.0152, 0.00875, -TIP), (0.020, 0.00875, 0.009), (0.026, 0.010, 0.024))
_PALM_HALF, _PALM_BEGINS = (0.030, 0.100), 0.037
WALL = {"bowl": 0.014, "plate": 0.010}  # [m] from the outermost edge to the inside of a container's foot
_OTHER_WALL = 0.007
FLOOR = 0.006  # [m] thickness of a container's floor; all three where it is as large as its kind


@dataclass(frozen=True)
class Grip:
    """T_base_gripper of a hand pointing down: position [m] and the angle of its x axis from the base's [rad]."""

    x: float
    y: float
    z: float
    yaw: float

    def pose(self) -> Pose:
        """As a pose: a half turn about x, then `yaw` about z."""
        return Pose((self.x, self.y, self.z), (math.cos(self.yaw / 2), math.sin(self.yaw / 2), 0.0, 0.0))

    def raised(self, z: float) -> Grip:
        """The same, at the height `z` [m]."""
        return Grip(self.x, self.y, z, self.yaw)


def grip_of(pose: Pose) -> Grip:
    """The hand-down grip nearest to `pose`."""
    x, y, z, w = pose.orientation
    # The heading of the gripper's x axis: first column of the rotation matrix.
    yaw = math.atan2(2 * (x * y + z * w), 1 - 2 * (y * y + z * z))
    return Grip(*pose.position, yaw)


def wrap(angle: float, period: float = 2 * math.pi) -> float:
    """The equal angle in [-period/2, period/2)."""
    return (angle + period / 2) % period - period / 2


def nearer_half_turn(yaw: float, other: float) -> float:
    """`yaw` or its half turn, whichever is nearer to `other`; the fingers are symmetric."""
    return other + wrap(yaw - other, math.pi)


def comfortable_yaw(x: float, y: float, yaw: float) -> float:
    """`yaw` or its half turn, whichever leaves the wrist nearer to its middle at (x, y)."""
    return nearer_half_turn(yaw, math.atan2(y, x))


def nearest_yaw(x: float, y: float, yaw: float, hand: float) -> float:
    """`yaw` or its half turn, whichever is nearer to the `hand`'s, unless that twists the wrist too far at (x, y)."""
    near = nearer_half_turn(yaw, hand)
    return near if abs(wrap(near - math.atan2(y, x))) <= math.pi / 2 + TWISTED else comfortable_yaw(x, y, yaw)


@dataclass(frozen=True)
class Slice:
    """A part of the hand: what it covers, and the height at which it begins [m]; it extends upwards."""

    shape: Footprint
    begins: float


def hand_slices(grip: Grip, opening: float) -> tuple[Slice, ...]:
    """Fingertips, fingers and palm of the hand at `grip` with the fingertips `opening` [m] apart."""
    ux, uy = -math.sin(grip.yaw), math.cos(grip.yaw)
    slices = [Slice(Footprint((grip.x, grip.y), _PALM_HALF, grip.yaw), grip.z + _PALM_BEGINS)]
    for thickness, half_breadth, begins in _FINGER_SLICES:
        offset = (opening + thickness) / 2
        for side in (offset, -offset):
            shape = Footprint((grip.x + side * ux, grip.y + side * uy), (half_breadth, thickness / 2), grip.yaw)
            slices.append(Slice(shape, grip.z + begins))
    return tuple(slices)


def inner_radius(container: SceneObject) -> float:
    """Of the free floor of a container [m]."""
    return min(container.size[:2]) / 2 - spec_of(container).scale * WALL.get(container.kind, _OTHER_WALL)


def rim_radius(container: SceneObject) -> float:
    """Of a container's opening at its upper edge [m]."""
    return min(container.size[:2]) / 2 - spec_of(container).scale * _OTHER_WALL


def room(slices: Iterable[Slice], scene: Scene, ignore: Collection[str] = ()) -> tuple[float, str]:
    """The smallest gap between the slices and the objects tall enough to meet them [m], and the object it is to.

    A vessel around a slice counts by its wall, a drawer by its parts. (inf, "") where nothing is near.
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
    """What of a thing is in the way of a hand from above, and up to which height [m]: all its box, but of a drawer each
    part, since its tray is open where it is out."""
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
    """The gap between a slice and an object; inside an upright container's opening, to its wall and floor."""
    hollow = is_vessel(item) and is_upright(item) and part.begins > bottom(item) + FLOOR
    if hollow:
        floor, rim = inner_radius(item), rim_radius(item)
        share = min(1.0, (part.begins - bottom(item)) / item.size[2])
        inside = floor + share * (rim - floor) - reach_from(shape.center, part.shape)
        if inside > 0.0 or math.dist(part.shape.center, shape.center) < floor:
            return inside
    return separation(part.shape, shape)


HEIGHTS = ("cruise", "lift", "retreat")  # over the grip [m], among the numbers of an aim
HIGHER = 0.02  # [m] above them that a hand may come


@dataclass(frozen=True)
class Aim:
    """`grip` is where the hand does what it is for. `heading` [rad] is the direction that counts there, in the base
    frame; that from the base to the grip where it is None. `numbers` are named: openings, heights over the grip [m];
    a `depth` is how far the hand goes below it. `start` is where the hand must be before it does that, if anywhere.
    """

    grip: Grip
    numbers: Mapping[str, float] = field(default_factory=dict)
    heading: float | None = None
    start: Grip | None = None

    @property
    def lowest(self) -> float:
        """The height [m] below which the hand has nothing to do."""
        return self.grip.z - self.numbers.get("depth", 0.0)

    @property
    def highest(self) -> float:
        """The height [m] above which it has nothing to do either; no limit where none is said."""
        heights = [self.numbers[name] for name in HEIGHTS if name in self.numbers]
        return self.grip.z + max(heights) + HIGHER if "cruise" in self.numbers else math.inf


REACH_MIN, REACH_MAX = 0.275, 0.79  # [m] from the base's axis, for a grip point near the table
EDGE = 0.03  # [m] from the edge of the table that the middle of a thing is kept
# (height of the grip point, smallest radius, largest radius) [m]; linear in between
_PROFILE = (
    (0.00, 0.275, 0.79), (0.03, 0.280, 0.79), (0.08, 0.300, 0.79), (0.20, 0.300, 0.79), (0.25, 0.280, 0.785),
    (0.30, 0.250, 0.775), (0.35, 0.230, 0.760), (0.40, 0.230, 0.740), (0.50, 0.230, 0.690),
)  # fmt: skip


def radius_range(z: float) -> tuple[float, float]:
    """Smallest and largest distance from the base's axis at which the hand can be at height `z` [m]."""
    z = min(max(z, _PROFILE[0][0]), _PROFILE[-1][0])
    for (low, low_min, low_max), (high, high_min, high_max) in pairwise(_PROFILE):
        if z <= high:
            share = (z - low) / (high - low)
            return low_min + share * (high_min - low_min), low_max + share * (high_max - low_max)
    return _PROFILE[-1][1:]


def into_reach(grip: Grip) -> Grip:
    """The nearest grip at the same height and azimuth that the arm reaches."""
    radius = math.hypot(grip.x, grip.y)
    nearest, farthest = radius_range(grip.z)
    wanted = min(max(radius, nearest), farthest)
    if radius == wanted or radius == 0.0:
        return grip
    return replace(grip, x=grip.x * wanted / radius, y=grip.y * wanted / radius)


def reachable(x: float, y: float) -> bool:
    """Whether the hand can take or leave something on the table there."""
    return x > 0.0 and REACH_MIN <= math.hypot(x, y) <= REACH_MAX


def lies_on_table(x: float, y: float) -> bool:
    """Whether what has its middle there stays on the table, also if it slides on a little."""
    return TABLE.contains(x, y, margin=-EDGE)


def check_reach(x: float, y: float, what: str) -> None:
    """Raises SkillError (UNREACHABLE) for a place where the hand cannot point straight down."""
    if not reachable(x, y):
        raise SkillError(
            SkillErrorCode.UNREACHABLE,
            f"{what} at ({x:.2f}, {y:.2f}) is out of reach: the arm reaches {REACH_MIN:g} to {REACH_MAX:g} m from its"
            f" base in front of it, and that is {math.hypot(x, y):.2f} m away",
        )

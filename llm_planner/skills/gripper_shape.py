"""The hand seen from above, in slices, and how much room there is around it.

The gripper always points straight down here: its configuration is a `Grip` (x, y, z, yaw). The fingers close along the
gripper's y axis, which at `yaw` lies at the angle yaw + pi/2 in the base frame.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from functools import lru_cache

from llm_planner.simulation.objects import spec_of
from llm_planner.skills.footprints import Footprint, footprint, is_upright, reach_from, separation
from llm_planner.world.geometry import bottom, rotation_matrix, top
from llm_planner.world.predicates import DRAWER, is_solid, is_vessel
from llm_planner.world.scene import Pose, Scene, SceneObject

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

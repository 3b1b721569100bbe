"""Box geometry of scene objects, and completion of a scene from the one before. Pure Python, lengths in metres.

Completion keeps objects whose latest measurement cannot be read, and adds a held object that is not listed. Collision
avoidance must not lose an obstacle because of one bad measurement.
"""

from __future__ import annotations

import math
from collections.abc import Collection
from dataclasses import replace
from functools import lru_cache

from llm_planner.errors import InputError
from llm_planner.scene.scene import Pose, Quaternion, Scene, SceneObject, Vector3

Matrix3 = tuple[Vector3, Vector3, Vector3]

ROUND_KINDS = frozenset({"bowl", "plate", "vase", "cup", "pot", "pan"})  # equally wide at every yaw
UPRIGHT = math.cos(math.radians(12.0))  # cosine of the largest tilt of an upright axis


def rotation_matrix(orientation: Quaternion) -> Matrix3:
    """Return R with v_base = R v_object for a unit quaternion (x, y, z, w)."""
    x, y, z, w = orientation
    return (
        (1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w)),
        (2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w)),
        (2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)),
    )


def yaw_of(placed: Pose | SceneObject) -> float:
    """Return the direction of the x axis of a pose or an object, seen from above [rad], in (-pi, pi]."""
    x, y, z, w = placed.orientation
    yaw = math.atan2(2 * (x * y + z * w), 1 - 2 * (y * y + z * z))
    return yaw if yaw > -math.pi + 1e-9 else math.pi  # noise does not turn half a turn the other way


def upright_pose(x: float, y: float, yaw: float) -> Pose:
    """Return the pose at (x, y, 0) [m] with z up and x in the direction `yaw` [rad], as of a base on the floor."""
    return Pose((x, y, 0.0), (0.0, 0.0, math.sin(yaw / 2), math.cos(yaw / 2)))


def wxyz(orientation: Quaternion) -> Quaternion:
    """Return a quaternion (x, y, z, w) in MuJoCo's order (w, x, y, z)."""
    x, y, z, w = orientation
    return w, x, y, z


def straight_down(x: float, y: float, z: float, yaw: float) -> Pose:
    """Return T_base_gripper of a hand at (x, y, z) [m] that points straight down: half a turn about x, `yaw` [rad]."""
    return Pose((x, y, z), (math.cos(yaw / 2), math.sin(yaw / 2), 0.0, 0.0))


def product(a: Quaternion, b: Quaternion) -> Quaternion:
    """Return the quaternion (x, y, z, w) of the rotation `b` followed by `a`."""
    ax, ay, az, aw = a
    bx, by, bz, bw = b
    return (
        aw * bx + ax * bw + ay * bz - az * by,
        aw * by - ax * bz + ay * bw + az * bx,
        aw * bz + ax * by - ay * bx + az * bw,
        aw * bw - ax * bx - ay * by - az * bz,
    )


def compose(frame: Pose, pose: Pose) -> Pose:
    """Return `pose`, given in `frame`, in the frame in which `frame` is given."""
    rows = rotation_matrix(frame.orientation)
    x, y, z = (a + sum(map(float.__mul__, row, pose.position)) for a, row in zip(frame.position, rows, strict=True))
    return Pose((x, y, z), product(frame.orientation, pose.orientation))


def inverse(frame: Pose) -> Pose:
    """Return the pose of the outer frame in `frame`."""
    x, y, z, w = frame.orientation
    back = Pose((0.0, 0.0, 0.0), (-x, -y, -z, w))
    px, py, pz = frame.position
    return compose(back, Pose((-px, -py, -pz)))


def half_extents(item: SceneObject) -> Vector3:
    """Return the half extents of the axis-aligned box (base frame) that encloses `item`."""
    return _half_extents(item.kind in ROUND_KINDS, item.orientation, item.size)


@lru_cache(maxsize=4096)
def _half_extents(is_round: bool, orientation: Quaternion, size: Vector3) -> Vector3:
    """Compute `half_extents`. Cached, since objects seldom turn and callers ask often."""
    rows = rotation_matrix(orientation)
    if is_round and abs(rows[2][2]) >= UPRIGHT:
        radius = max(size[:2]) / 2
        return radius, radius, sum(abs(rows[2][k]) * size[k] for k in range(3)) / 2
    x, y, z = (sum(abs(row[k]) * size[k] for k in range(3)) / 2 for row in rows)
    return x, y, z


def bottom(item: SceneObject) -> float:
    """Return the height of the lowest point of the object's box."""
    return item.position[2] - half_extents(item)[2]


def top(item: SceneObject) -> float:
    """Return the height of the highest point of the object's box."""
    return item.position[2] + half_extents(item)[2]


def distance_in_plane(a: Vector3 | tuple[float, float], b: Vector3 | tuple[float, float]) -> float:
    """Return the horizontal distance between two points."""
    return math.hypot(a[0] - b[0], a[1] - b[1])


def distance_to_box(point: tuple[float, float], item: SceneObject) -> float:
    """Return the horizontal distance from a point to the object's box [m]; 0 inside."""
    reach = half_extents(item)
    return math.hypot(*(max(0.0, abs(point[k] - item.position[k]) - reach[k]) for k in (0, 1)))


def is_above(item: SceneObject, x: float, y: float) -> bool:
    """Return whether the vertical line through (x, y) meets the object's oriented box (slab test in its own frame)."""
    rows = rotation_matrix(item.orientation)
    dx, dy = x - item.position[0], y - item.position[1]
    low, high = -math.inf, math.inf
    for k in range(3):
        origin, slope, half = rows[0][k] * dx + rows[1][k] * dy, rows[2][k], item.size[k] / 2
        if abs(slope) < 1e-9:
            if abs(origin) > half:
                return False
            continue
        ends = sorted(((-half - origin) / slope, (half - origin) / slope))
        low, high = max(low, ends[0]), min(high, ends[1])
    return low <= high


UNKNOWN_SIZE: Vector3 = (0.2, 0.2, 0.2)  # [m] of a held object that was never seen; larger than the fingers can hold


def completed(scene: Scene, unreadable: Collection[str], before: Scene | None) -> Scene:
    """Add objects to a scene that the current measurement lacks but the previous scene has.

    Args:
        scene: Current scene.
        unreadable: Names of objects that the measurement lists but that cannot be read. They keep their previous pose.
        before: Previous scene, if any.

    Returns:
        The completed scene. A held object that is not listed moves with the gripper. If it was not held before, it is
        placed at the gripper's centre, with its last known size or `UNKNOWN_SIZE`.

    Raises:
        InputError: An object is held but not listed, and the gripper's pose is not measured.
    """
    known = {item.name: item for item in before.objects} if before else {}
    lost = [known[name] for name in unreadable if name in known and name != scene.held]
    if scene.held and scene.held not in scene.names:
        lost.append(_in_hand(scene, known.get(scene.held), before))
    return replace(scene, objects=(*scene.objects, *lost)) if lost else scene


def _in_hand(scene: Scene, known: SceneObject | None, before: Scene | None) -> SceneObject:
    hand = scene.robot
    if hand is None:
        raise InputError(
            f"held is {scene.held!a}, which is not among the objects ({', '.join(scene.names) or 'none'}), and robot "
            "is not measured: name one of the objects, or say where the robot is"
        )
    if known is None:
        kind = scene.held.rpartition(" ")[2]
        return SceneObject(scene.held, kind, "", hand.position, hand.orientation, UNKNOWN_SIZE)
    if before is None or before.robot is None or before.held != scene.held:
        return replace(known, position=hand.position)
    x, y, z, w = before.robot.orientation
    turn = product(hand.orientation, (-x, -y, -z, w))  # of the gripper since then
    apart = [a - b for a, b in zip(known.position, before.robot.position, strict=True)]
    x, y, z = (
        a + sum(b * c for b, c in zip(row, apart, strict=True))
        for a, row in zip(hand.position, rotation_matrix(turn), strict=True)
    )
    return replace(known, position=(x, y, z), orientation=product(turn, known.orientation))

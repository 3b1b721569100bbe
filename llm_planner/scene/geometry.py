"""Boxes in space: the extents of scene objects and the surfaces they offer. Pure Python, lengths in metres.

What a scene leaves open and the one before it tells: things that cannot be read, and what is held but not listed.

A robot that keeps out of things must not lose one because a measurement of it was odd for a moment.
"""

from __future__ import annotations

import math
from collections.abc import Collection
from dataclasses import replace
from functools import lru_cache

from llm_planner.errors import InputError
from llm_planner.scene.scene import Pose, Quaternion, Scene, SceneObject, Vector3

Matrix3 = tuple[Vector3, Vector3, Vector3]

ROUND_KINDS = frozenset({"bowl", "plate", "vase", "cup", "pot", "pan"})  # as wide whichever way they are turned
UPRIGHT = math.cos(math.radians(12.0))  # an axis this close to the vertical counts as upright


def rotation_matrix(orientation: Quaternion) -> Matrix3:
    """R with v_base = R v_object, for a unit quaternion (x, y, z, w)."""
    x, y, z, w = orientation
    return (
        (1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w)),
        (2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w)),
        (2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)),
    )


def half_extents(item: SceneObject) -> Vector3:
    """Half the size of the upright box, aligned with the base frame, that encloses `item`."""
    return _half_extents(item.kind in ROUND_KINDS, item.orientation, item.size)


@lru_cache(maxsize=4096)
def _half_extents(is_round: bool, orientation: Quaternion, size: Vector3) -> Vector3:
    """Asked for again and again, of things that are seldom turned."""
    rows = rotation_matrix(orientation)
    if is_round and abs(rows[2][2]) >= UPRIGHT:
        radius = max(size[:2]) / 2
        return radius, radius, sum(abs(rows[2][k]) * size[k] for k in range(3)) / 2
    x, y, z = (sum(abs(row[k]) * size[k] for k in range(3)) / 2 for row in rows)
    return x, y, z


def bottom(item: SceneObject) -> float:
    """Height of the lowest point of the object's box."""
    return item.position[2] - half_extents(item)[2]


def top(item: SceneObject) -> float:
    """Height of the highest point of the object's box."""
    return item.position[2] + half_extents(item)[2]


def distance_in_plane(a: Vector3 | tuple[float, float], b: Vector3 | tuple[float, float]) -> float:
    """Distance seen from above."""
    return math.hypot(a[0] - b[0], a[1] - b[1])


def distance_to_box(point: tuple[float, float], item: SceneObject) -> float:
    """From a point to the object's box, both seen from above [m]; 0 inside."""
    reach = half_extents(item)
    return math.hypot(*(max(0.0, abs(point[k] - item.position[k]) - reach[k]) for k in (0, 1)))


def is_above(item: SceneObject, x: float, y: float) -> bool:
    """Whether the vertical line through (x, y) meets the object's box, however it lies (slab test in its own frame)."""
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


UNKNOWN_SIZE: Vector3 = (0.2, 0.2, 0.2)  # [m] of a held thing that was never seen: more than the fingers can hold


def completed(scene: Scene, unreadable: Collection[str], before: Scene | None) -> Scene:
    """`scene` with the things of these names, which it lacks, where they were `before`, and what is held in the hand.

    What is held and not among the things goes with the hand as it did before; where it was not held then, it counts as
    being in the middle of the hand, as large as it was seen or, never seen, as `UNKNOWN_SIZE`. Raises InputError where
    nobody can tell where the hand is.
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
    there = _between(before.robot, Pose(known.position, known.orientation))
    now = _along(hand, there)
    return replace(known, position=now.position, orientation=now.orientation)


def _between(frame: Pose, pose: Pose) -> Pose:
    """`pose` as it is seen from `frame`."""
    x, y, z, w = frame.orientation
    back: Quaternion = (-x, -y, -z, w)
    apart = tuple(a - b for a, b in zip(pose.position, frame.position, strict=True))
    return Pose(_turned(back, apart), _product(back, pose.orientation))


def _along(frame: Pose, pose: Pose) -> Pose:
    """`pose`, which is told in `frame`, in the frame of that."""
    x, y, z = (a + b for a, b in zip(frame.position, _turned(frame.orientation, pose.position), strict=True))
    return Pose((x, y, z), _product(frame.orientation, pose.orientation))


def _turned(by: Quaternion, vector: tuple[float, ...]) -> Vector3:
    x, y, z = (sum(a * b for a, b in zip(row, vector, strict=True)) for row in rotation_matrix(by))
    return x, y, z


def _product(a: Quaternion, b: Quaternion) -> Quaternion:
    ax, ay, az, aw = a
    bx, by, bz, bw = b
    return (
        aw * bx + ax * bw + ay * bz - az * by,
        aw * by - ax * bz + ay * bw + az * bx,
        aw * bz + ax * by - ay * bx + az * bw,
        aw * bw - ax * bx - ay * by - az * bz,
    )

"""What a scene leaves open and the one before it tells: things that cannot be read, and what is held but not listed.

A robot that keeps out of things must not lose one because a measurement of it was odd for a moment.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

from llm_planner.errors import InputError
from llm_planner.world.geometry import rotation_matrix
from llm_planner.world.scene import Pose, Quaternion, Scene, SceneObject, Vector3

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

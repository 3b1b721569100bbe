"""Offsets in the frame of a thing: what was a bit beside its handle is so when the thing lies otherwise."""

from __future__ import annotations

from math import atan2, cos, pi, remainder, sin

from llm_planner.plan.edits import Frame, Shift
from llm_planner.world.geometry import ROUND_KINDS, rotation_matrix
from llm_planner.world.scene import SceneObject, Vector3

SQUARE = 1.05  # sides whose lengths differ by a smaller factor are alike


def heading(item: SceneObject) -> float:
    """By how much the thing is turned about the vertical [rad], as far as one can tell: round things are never turned,
    square ones by an eighth at most."""
    if item.kind in ROUND_KINDS:
        return 0.0
    rows = rotation_matrix(item.orientation)
    yaw = atan2(rows[1][0], rows[0][0])
    long, short = max(item.size[:2]), min(item.size[:2])
    return remainder(yaw, pi / 2) if long < SQUARE * short else yaw


def in_frame_of(item: SceneObject | None, offset: Vector3) -> Shift:
    """A shift of the robot's frame [m] in that of the thing; it stays as it is where there is none."""
    return Shift(_turned(offset, -heading(item)), Frame.OBJECT) if item else Shift(offset, Frame.ROBOT)


def in_frame_of_robot(shift: Shift, item: SceneObject | None) -> Shift:
    """What `in_frame_of` gave, for the thing as it lies now."""
    angle = heading(item) if shift.frame is Frame.OBJECT and item else 0.0
    return Shift(_turned(shift.offset, angle), Frame.ROBOT)


def _turned(offset: Vector3, angle: float) -> Vector3:
    x, y, z = offset
    turned = x * cos(angle) - y * sin(angle), x * sin(angle) + y * cos(angle)
    return round(turned[0], 4) + 0.0, round(turned[1], 4) + 0.0, z

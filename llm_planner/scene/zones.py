"""Keep-out zones: solids that the robot or its gripper must not enter."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum

from llm_planner.errors import InputError
from llm_planner.scene.scene import Pose


class Shape(Enum):
    """Shape of a zone in the frame of its pose, with half sizes in the order of MuJoCo's geoms."""

    SPHERE = "sphere"  # (radius,)
    CAPSULE = "capsule"  # (radius, half length of the axis), along z
    CYLINDER = "cylinder"  # (radius, half height), along z
    BOX = "box"  # (half x, half y, half z)


SIZES = {Shape.SPHERE: 1, Shape.CAPSULE: 2, Shape.CYLINDER: 2, Shape.BOX: 3}
LARGEST = 100.0  # [m] limit of half sizes and clearances


class Subject(Enum):
    """Part of the robot that must stay out."""

    ROBOT = "robot"  # every link and the held object
    GRIPPER = "gripper"  # the point between the fingertips, as in the propositions `near`, `over`, `distance`


@dataclass(frozen=True)
class Zone:
    """Solid from which `subject` keeps `clearance` [m].

    `pose` is T_base_zone, or T_map_zone for a mobile robot. `name` describes it to people ("the vase"). Raises
    InputError for sizes, clearances or poses that are not valid.
    """

    name: str
    shape: Shape
    size: tuple[float, ...]
    pose: Pose
    clearance: float = 0.0
    subject: Subject = Subject.ROBOT

    def __post_init__(self) -> None:
        check_solid(f"the zone {self.name!r}", self.shape, self.size, self.pose)
        if not 0 <= self.clearance <= LARGEST:
            raise InputError(f"the clearance of {self.name!r} must lie between 0 and {LARGEST:g} m: {self.clearance}")


def check_solid(what: str, shape: Shape, size: Sequence[float], pose: Pose) -> None:
    """Raise InputError if the size does not fit the shape, or the pose is not a finite position and rotation."""
    wanted = SIZES[shape]
    if len(size) != wanted or not all(math.isfinite(half) and 0 < half <= LARGEST for half in size):
        raise InputError(
            f"{what} is a {shape.value}, which has {wanted} half sizes between 0 and {LARGEST:g} m, not {size}"
        )
    if not all(map(math.isfinite, pose.position)) or not abs(math.hypot(*pose.orientation) - 1.0) <= 0.01:
        raise InputError(f"the pose of {what} is not a finite position and rotation: {pose}")


def half_sides(shape: Shape, size: Sequence[float]) -> tuple[float, float, float]:
    """Return half the sides of the box around a solid in its own frame [m]; `size` is that of a `Zone`."""
    if shape is Shape.BOX:
        return size[0], size[1], size[2]
    along = {Shape.SPHERE: size[0], Shape.CAPSULE: size[0] + size[-1], Shape.CYLINDER: size[-1]}[shape]
    return size[0], size[0], along

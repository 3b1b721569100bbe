"""What skills know of an arm: how far its hand reaches, and where the hand rests."""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import pairwise

from llm_planner.errors import InputError

Point3 = tuple[float, float, float]


@dataclass(frozen=True)
class ArmShape:
    """Reach and rest of an arm with a hand that points straight down, in the base frame [m].

    Attributes:
        name: Name of the robot.
        profile: Height of the grip point, with the least and the largest distance from the base axis that the hand
            reaches there, the lowest first; linear in between.
        rest: Position of the gripper in the arm's rest posture.
    """

    name: str
    profile: tuple[Point3, ...]
    rest: Point3

    def __post_init__(self) -> None:
        heights = [height for height, _, _ in self.profile]
        if len(heights) < 2 or heights != sorted(set(heights)) or any(low >= far for _, low, far in self.profile):
            raise InputError(f"the reach of {self.name} needs rising heights, each with a least and a larger distance")

    def radius_range(self, z: float) -> tuple[float, float]:
        """Return the smallest and largest distance from the base axis [m] that the hand reaches at height `z` [m]."""
        z = min(max(z, self.profile[0][0]), self.profile[-1][0])
        for (low, low_min, low_max), (high, high_min, high_max) in pairwise(self.profile):
            if z <= high:
                share = (z - low) / (high - low)
                return low_min + share * (high_min - low_min), low_max + share * (high_max - low_max)
        return self.profile[-1][1:]

    @property
    def table_range(self) -> tuple[float, float]:
        """Smallest and largest distance from the base axis [m] that the hand reaches near the table."""
        return self.profile[0][1:]

    def reaches(self, x: float, y: float) -> bool:
        """Return whether the hand can pick or place on the table at (x, y) [m], in front of the base."""
        nearest, farthest = self.table_range
        return x > 0.0 and nearest <= math.hypot(x, y) <= farthest


# Measured with the controller's inverse kinematics, less a few millimetres; a test compares it with the arm.
PANDA_SHAPE = ArmShape(
    "panda",
    (
        (0.00, 0.275, 0.79), (0.03, 0.280, 0.79), (0.08, 0.300, 0.79), (0.20, 0.300, 0.79), (0.25, 0.280, 0.785),
        (0.30, 0.250, 0.775), (0.35, 0.230, 0.760), (0.40, 0.230, 0.740), (0.50, 0.230, 0.690),
    ),
    (0.307, 0.0, 0.487),
)  # fmt: skip


def arm_shape(name: str) -> ArmShape:
    """Return the shape of an arm by its name or folder; raises InputError for an unknown one."""
    if name == PANDA_SHAPE.name:
        return PANDA_SHAPE
    from llm_planner.robots.arm_model import arm_model

    return arm_model(name).shape

"""What a motion has to keep at one moment, beyond the robot's own limits: what the MPC and the safety filter read."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field

from llm_planner.control.zones import Zone
from llm_planner.errors import InputError


@dataclass(frozen=True)
class MotionConstraints:
    """The constraints in force; `version` rises with every change, ramps included.

    `speed` [m/s] bounds the gripper point, or the middle of a mobile base; `joint_share` in (0, 1] scales the joint
    velocities that the controller uses; `weights` multiplies weights of its cost, by name. Raises InputError.
    """

    speed: float = math.inf
    joint_share: float = 1.0
    zones: tuple[Zone, ...] = ()
    version: int = 0
    weights: Mapping[str, float] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if not self.speed > 0:
            raise InputError(f"a speed limit must be positive, not {self.speed} m/s; to stand still, stop the robot")
        if not 0 < self.joint_share <= 1:
            raise InputError(f"joint_share must lie in (0, 1], not {self.joint_share}")


FREE = MotionConstraints()

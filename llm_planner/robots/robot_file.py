"""Operator's robot file, which gives the names and limits of the arm's joints."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from pydantic import Field

from llm_planner.errors import InputError
from llm_planner.robots.robots import ARM_JOINTS, FINGER_JOINTS, PANDA_LIMITS, RobotLimits
from llm_planner.strict_yaml import FileModel, Interval, LocatedError, Positive, Text, read_file


class RobotFile(FileModel):
    """Names and limits of the arm's joints, from the base to the hand.

    The link lengths and axes are always those of the Panda. The node parameter `robot_file` takes the path.
    """

    joints: tuple[Text, ...] = Field(description="names in `joint_states`")
    fingers: tuple[Text, ...] = Field((), description="names of the two finger joints, if `joint_states` has them")
    position: tuple[Interval, ...] = Field(description="range [least, largest] of each joint [rad]")
    velocity: tuple[Positive, ...] = Field(description="largest speed of each joint [rad/s]")
    acceleration: tuple[Positive, ...] = Field(description="largest acceleration of each joint [rad/s^2]")


@dataclass(frozen=True)
class ArmDescription:
    """Joint names from the base to the hand, names of the finger joints (two or none), and joint limits.

    The link lengths and axes are always those of the Panda.

    Raises:
        InputError: The number of joints is not that of the Panda, or a joint name occurs twice.
    """

    joints: tuple[str, ...]
    fingers: tuple[str, ...]
    limits: RobotLimits

    def __post_init__(self) -> None:
        names = (*self.joints, *self.fingers)
        if len(self.joints) != len(ARM_JOINTS):
            raise InputError(
                f"an arm needs {len(ARM_JOINTS)} joints, not {len(self.joints)}: lengths and axes are those of the "
                "Franka Panda and FR3, the only arm whose model there is"
            )
        if len(self.fingers) not in (0, len(FINGER_JOINTS)):
            raise InputError(f"an arm has {len(FINGER_JOINTS)} finger joints or none, not {len(self.fingers)}")
        if len(set(names)) != len(names):
            raise InputError(f"each joint needs a name of its own: {', '.join(names)}")


PANDA = ArmDescription(ARM_JOINTS, FINGER_JOINTS, PANDA_LIMITS)


def read_arm(path: Path) -> ArmDescription:
    """Read an arm description from the file `path`.

    Raises:
        InputError: The file is invalid. The message names the file, line, key, value and valid choices.
    """
    return read_file(path, RobotFile, arm_of)


def arm_of(content: RobotFile) -> ArmDescription:
    """Build the arm that `content` describes; raises InputError for lists that do not fit together."""
    for key in ("position", "velocity", "acceleration"):
        count = len(getattr(content, key))
        if count != len(content.joints):
            raise LocatedError(f"has {count} entries for {len(content.joints)} joints; give one for each", key)
    lower, upper = np.array(content.position).T
    limits = replace(
        PANDA_LIMITS,
        qpos_min=lower,
        qpos_max=upper,
        qvel_max=np.array(content.velocity),
        qacc_max=np.array(content.acceleration),
    )
    return ArmDescription(content.joints, content.fingers, limits)

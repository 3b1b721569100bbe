"""Strict reader of the operator's robot file, which gives the names and limits of the arm's joints.

joints: [fr3_joint1, fr3_joint2, ...]        # from the base to the hand
fingers: [fr3_finger_joint1, fr3_finger_joint2]   # omitted if the joint states do not contain them
position: [[-2.74, 2.74], ...]               # [rad] range of each joint
velocity: [2.0, ...]                         # [rad/s]
acceleration: [10.0, ...]                    # [rad/s^2]
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from llm_planner.errors import InputError
from llm_planner.robots.motion import Array
from llm_planner.robots.robots import ARM_JOINTS, FINGER_JOINTS, PANDA_LIMITS, RobotLimits
from llm_planner.strict_yaml import Entry, read_strict

_KEYS = ("joints", "fingers", "position", "velocity", "acceleration")
_NEEDED = ("joints", "position", "velocity", "acceleration")


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
    return arm_of(read_strict(path))


def arm_of(document: Entry) -> ArmDescription:
    """Parse an arm description from `document`; raises the errors of `read_arm`."""
    table = document.table(_KEYS)
    for key in _NEEDED:
        if key not in table:
            document.wrong(f"has no key {key!r}; it needs: {', '.join(_NEEDED)}")
    joints = tuple(item.text() for item in table["joints"].items())
    fingers = tuple(item.text() for item in table["fingers"].items()) if "fingers" in table else ()
    lower, upper = _ranges(table["position"], len(joints)).T
    limits = replace(
        PANDA_LIMITS,
        qpos_min=lower,
        qpos_max=upper,
        qvel_max=_positive(table["velocity"], len(joints)),
        qacc_max=_positive(table["acceleration"], len(joints)),
    )
    try:
        return ArmDescription(joints, fingers, limits)
    except InputError as error:
        raise InputError(f"{document.file}: {error}") from error


def _ranges(entry: Entry, count: int) -> Array:
    rows = [[number.number() for number in item.items()] for item in _each(entry, count)]
    for item, row in zip(entry.items(), rows, strict=True):
        if len(row) != 2 or not row[0] < row[1]:
            item.wrong("must be [least, largest], the smaller one first")
    return np.array(rows)


def _positive(entry: Entry, count: int) -> Array:
    numbers = [item.number() for item in _each(entry, count)]
    if min(numbers) <= 0:
        entry.wrong(f"must hold positive numbers, not {min(numbers):g}")
    return np.array(numbers)


def _each(entry: Entry, count: int) -> tuple[Entry, ...]:
    items = entry.items()
    if len(items) != count:
        entry.wrong(f"has {len(items)} entries for {count} joints; give one for each")
    return items

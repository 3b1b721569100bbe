"""The safety filter's own reader of a gripper: the capsules that cover it, from its data in a file.

It shares no code with the controller and the simulator, which read the same file.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np
import yaml

from llm_planner.control.safety_filter.urdf import Capsule, box, cover
from llm_planner.errors import InputError

CAPSULES = 3  # most for the palm, and for the range of the fingers


@dataclass(frozen=True)
class Hand:
    """Gripper in the frame of its mounting: distance to the grip point [m], and capsules that cover all its motion."""

    length: float
    capsules: tuple[Capsule, ...]


@cache
def read_hand(path: Path) -> Hand:
    """Read the gripper of a `robot.yaml`, or a file of a gripper; raises InputError if a value is missing or no size.

    The palm reaches from the mounting to its lower end, the fingers from there to their ends.
    """
    try:
        found = yaml.safe_load(path.read_text(encoding="utf-8"))
        data = found.get("gripper", found)
        length, (palm_x, palm_y, height) = data["length"], data["palm"]
        if data["kind"] == "suction":
            half = across = data["cup"]
            end = 0.0
        else:
            half, end = max(part[1] for part in data["fingers"]), max(-part[2] for part in data["fingers"])
            across = data["opening"][1] / 2 + max(part[0] for part in data["fingers"])
        sizes = [float(one) for one in (length, palm_x, palm_y, height, across, half)]
    except (OSError, yaml.YAMLError, AttributeError, KeyError, TypeError, ValueError) as error:
        raise InputError(
            f"the safety filter cannot read the gripper in {path}: {type(error).__name__} {error}"
        ) from error
    if not all(math.isfinite(one) and one > 0.0 for one in sizes) or not 0.0 <= end < length or height >= length:
        raise InputError(
            f"the gripper in {path} has sizes that are not positive, or a palm above its mounting: {sizes}"
        )
    palm = _covered(palm_x, palm_y, 0.0, length - height)
    return Hand(length, (*palm, *_covered(half, across, length - height, length + end)))


def _covered(half_x: float, half_y: float, low: float, high: float) -> list[Capsule]:
    """Cover a box between two distances from the mounting [m]."""
    middle = np.array([0.0, 0.0, (low + high) / 2])
    found = cover(box(np.array([2 * half_x, 2 * half_y, high - low])), CAPSULES)
    return [(start + middle, end + middle, radius) for start, end, radius in found]

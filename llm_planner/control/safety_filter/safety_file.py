"""The safety filter's own readers: of a file with an arm's Denavit-Hartenberg parameters and capsules, and of grippers.

    joints: [[0.0, 0.333, 0.0], ...]  # a [m], d [m], alpha [rad] of each, from the base, in Craig's convention
    rods:                             # capsules that cover the solids of each link; the first link is 0, the base -1
      - {link: 1, start: [0.0, 0.0, -0.06], end: [0.0, 0.0, 0.06], radius: 0.065}
    hand: {turn: 0.0, offset: 0.107}  # mounting of the hand, about [rad] and along [m] the last joint's axis

A `robot.yaml` names the file with the key `safety`, because the filter reads no MJCF. A gripper
is covered by capsules from the data that the controller and the simulator read, without code of theirs.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np
import yaml

from llm_planner.control.safety_filter.bodies import Rod, craig
from llm_planner.control.safety_filter.covering import Capsule
from llm_planner.errors import InputError
from llm_planner.robots.motion import Array
from llm_planner.strict_yaml import FileModel, LocatedError, Positive, read_file


class RodEntry(FileModel):
    """Capsule on a link: ends of its axis in the frame of the link, and radius [m]."""

    link: int
    start: tuple[float, float, float]
    end: tuple[float, float, float]
    radius: Positive


class MountEntry(FileModel):
    """How the hand is mounted on the last link: turned about its z axis [rad], and shifted along it [m]."""

    turn: float
    offset: float


class SafetyFile(FileModel):
    """Content of the file."""

    joints: tuple[tuple[float, float, float], ...]
    rods: tuple[RodEntry, ...]
    hand: MountEntry


@dataclass(frozen=True)
class WrittenArm:
    """Joint frames (4, 4) at rest, each in the one before, capsules, and the mounting of the hand [rad, m]."""

    frames: tuple[Array, ...]
    rods: tuple[Rod, ...]
    turn: float
    offset: float


@cache
def read_safety_file(path: Path, nq: int) -> WrittenArm:
    """Read the description of an arm with `nq` joints.

    Raises:
        InputError: The file is missing or invalid; the message names file, line, key and what is expected.
    """
    return read_file(path, SafetyFile, lambda content: _written(content, nq))


def _written(content: SafetyFile, nq: int) -> WrittenArm:
    if len(content.joints) != nq:
        raise LocatedError(f"lists {len(content.joints)} joints, but the robot has {nq}", "joints")
    for index, rod in enumerate(content.rods):
        if not -1 <= rod.link < nq:
            raise LocatedError(f"is {rod.link}; the links are 0 to {nq - 1}, and -1 is the base", "rods", index, "link")
    rods = tuple(Rod(one.link, one.start, one.end, one.radius) for one in content.rods)
    return WrittenArm(tuple(craig(content.joints)), rods, content.hand.turn, content.hand.offset)


WIDER = 1.06  # radius of a capsule in that of the cylinder around its box; more makes the capsule shorter


@dataclass(frozen=True)
class Hand:
    """Gripper in the frame of its mounting: distance to the grip point [m], and capsules around palm and fingers."""

    length: float
    capsules: tuple[Capsule, ...]


# The capsules contain a box of 6 x 20 x 6.6 cm for the palm, and the range of fingers of 2 x 5.5 cm; heights above the
# mounting, half lengths across the hand, and radii [m].
DEFAULT_HAND = Hand(
    0.1034,
    tuple(
        (np.array([0.0, -half, height]), np.array([0.0, half, height]), radius)
        for height, half, radius in ((0.033, 0.0803, 0.0485), (0.0857, 0.052, 0.0325))
    ),
)


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
    palm = _capsule(palm_x, palm_y, 0.0, length - height)
    return Hand(length, (palm, _capsule(half, across, length - height, length + end)))


def _capsule(half_x: float, half_y: float, low: float, high: float) -> Capsule:
    """Return a capsule that contains a box between two distances from the mounting [m].

    Its axis lies along the longer of y and z. The corners of the box are `corner` away from the axis and `along` from
    the middle, so a sphere of `radius` around an end at `half` contains them, as it reaches `cap` further there.
    """
    half_z = (high - low) / 2
    across, along = min(half_y, half_z), max(half_y, half_z)
    corner = math.hypot(half_x, across)
    radius = WIDER * corner
    cap = math.sqrt(radius**2 - corner**2)
    half = max(0.0, along - cap)
    axis = np.array([0.0, half, 0.0] if half_y > half_z else [0.0, 0.0, half])
    middle = np.array([0.0, 0.0, (low + high) / 2])
    return middle - axis, middle + axis, radius

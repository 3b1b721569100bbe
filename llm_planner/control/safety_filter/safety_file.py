"""The safety filter's own description of an arm: a file with Denavit-Hartenberg parameters and capsules.

    joints: [[0.0, 0.333, 0.0], ...]  # a [m], d [m], alpha [rad] of each, from the base, in Craig's convention
    rods:                             # capsules that cover the solids of each link; the first link is 0, the base -1
      - {link: 1, start: [0.0, 0.0, -0.06], end: [0.0, 0.0, 0.06], radius: 0.065}
    hand: {turn: 0.0, offset: 0.107}  # mounting of the hand, about [rad] and along [m] the last joint's axis

A `robot.yaml` names the file with the key `safety`, because the filter reads no MJCF.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from pathlib import Path

from llm_planner.control.safety_filter.bodies import Rod, craig
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

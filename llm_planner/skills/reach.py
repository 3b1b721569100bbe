"""Where the arm reaches with the hand pointing straight down.

Measured with the controller's inverse kinematics, less a few millimetres; a test holds it against the arm.
"""

from __future__ import annotations

import math
from dataclasses import replace
from itertools import pairwise

from llm_planner.skills.contract import SkillErrorCode
from llm_planner.skills.errors import SkillError
from llm_planner.skills.gripper_shape import Grip
from llm_planner.world.places import TABLE

REACH_MIN, REACH_MAX = 0.275, 0.79  # [m] from the base's axis, for a grip point near the table
EDGE = 0.03  # [m] from the edge of the table that the middle of a thing is kept
# (height of the grip point, smallest radius, largest radius) [m]; linear in between
_PROFILE = (
    (0.00, 0.275, 0.79), (0.03, 0.280, 0.79), (0.08, 0.300, 0.79), (0.20, 0.300, 0.79), (0.25, 0.280, 0.785),
    (0.30, 0.250, 0.775), (0.35, 0.230, 0.760), (0.40, 0.230, 0.740), (0.50, 0.230, 0.690),
)  # fmt: skip


def radius_range(z: float) -> tuple[float, float]:
    """Smallest and largest distance from the base's axis at which the hand can be at height `z` [m]."""
    z = min(max(z, _PROFILE[0][0]), _PROFILE[-1][0])
    for (low, low_min, low_max), (high, high_min, high_max) in pairwise(_PROFILE):
        if z <= high:
            share = (z - low) / (high - low)
            return low_min + share * (high_min - low_min), low_max + share * (high_max - low_max)
    return _PROFILE[-1][1:]


def into_reach(grip: Grip) -> Grip:
    """The nearest grip at the same height and azimuth that the arm reaches."""
    radius = math.hypot(grip.x, grip.y)
    nearest, farthest = radius_range(grip.z)
    wanted = min(max(radius, nearest), farthest)
    if radius == wanted or radius == 0.0:
        return grip
    return replace(grip, x=grip.x * wanted / radius, y=grip.y * wanted / radius)


def reachable(x: float, y: float) -> bool:
    """Whether the hand can take or leave something on the table there."""
    return x > 0.0 and REACH_MIN <= math.hypot(x, y) <= REACH_MAX


def lies_on_table(x: float, y: float) -> bool:
    """Whether what has its middle there stays on the table, also if it slides on a little."""
    return TABLE.contains(x, y, margin=-EDGE)


def check_reach(x: float, y: float, what: str) -> None:
    """Raises SkillError (UNREACHABLE) for a place where the hand cannot point straight down."""
    if not reachable(x, y):
        raise SkillError(
            SkillErrorCode.UNREACHABLE,
            f"{what} at ({x:.2f}, {y:.2f}) is out of reach: the arm reaches {REACH_MIN:g} to {REACH_MAX:g} m from its"
            f" base in front of it, and that is {math.hypot(x, y):.2f} m away",
        )

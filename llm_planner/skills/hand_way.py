"""Ways of the hand that were not planned here, but recorded or asked for by a server: whether and how it goes them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from llm_planner.control.zones import Zone
from llm_planner.skills.contract import SkillErrorCode
from llm_planner.skills.errors import SkillError
from llm_planner.skills.gripper_shape import Grip
from llm_planner.skills.motion import PATH_DT
from llm_planner.skills.reach import radius_range
from llm_planner.skills.ways import check_line
from llm_planner.world.scene import Pose

BEYOND = 0.005  # [m] out of reach that counts as within
LOWEST, HIGHEST = 0.0, 0.6  # [m] of the grip point over the table


def check_way(grips: Sequence[Grip], zones: tuple[Zone, ...], what: str) -> None:
    """Raises SkillError, which says `what` leads there, for a way out of the arm's reach or into one of the zones."""
    for grip in grips:
        radius, (nearest, farthest) = math.hypot(grip.x, grip.y), radius_range(grip.z)
        if not (nearest - BEYOND <= radius <= farthest + BEYOND and LOWEST <= grip.z <= HIGHEST):
            raise SkillError(
                SkillErrorCode.UNREACHABLE,
                f"{what} leads out of the arm's reach, to ({grip.x:.2f}, {grip.y:.2f}, {grip.z:.2f})",
            )
    for start, end in pairwise([grips[0], *grips]):
        try:
            check_line(start, end, zones)
        except SkillError as refusal:
            raise SkillError(refusal.code, f"{what} leads where the hand may not be: {refusal}") from refusal


def timed(
    grips: Sequence[Grip], widths: Sequence[float], dt: float, limit: float
) -> tuple[tuple[Pose, ...], tuple[float, ...]]:
    """Poses and widths [m] each `PATH_DT` s of a hand that is to be at a grip each `dt` s, from the first on.

    It takes longer where it would be faster than `limit` [m/s].
    """
    places = np.array([(grip.x, grip.y, grip.z, grip.yaw) for grip in grips])
    places[:, 3] = np.unwrap(places[:, 3])
    steps = [max(dt, math.dist(a[:3], b[:3]) / limit) for a, b in pairwise(places.tolist())]
    times = np.concatenate([[0.0], np.cumsum(steps)])
    moments = PATH_DT * np.arange(1, max(1, math.ceil(times[-1] / PATH_DT - 1e-9)) + 1)
    rows = np.stack([np.interp(moments, times, column) for column in (*places.T, widths)], axis=1).tolist()
    return tuple(Grip(*row[:4]).pose() for row in rows), tuple(row[4] for row in rows)

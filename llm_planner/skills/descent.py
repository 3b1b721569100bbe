"""When a hand goes straight down to its goal: from inside a funnel above it, where nothing is in the way.

Outside the funnel it rises and comes from above. What is decided follows from where hand and things are alone, so that
a movement that was broken off goes on from wherever the hand has been left. The funnel lies within the way up, over and
down that is forecast: it only cuts that corner.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Sequence
from itertools import pairwise

from llm_planner.control.zones import Zone
from llm_planner.skills.errors import SkillError
from llm_planner.skills.gripper_shape import Grip, Slice, room, wrap
from llm_planner.skills.ways import check_line
from llm_planner.world.scene import Scene

ASIDE, SLOPE = 0.005, 0.5  # [m] off the goal's axis at the apex, and more by that for each metre above it
TURNED, TURN_SLOPE = 0.12, 6.0  # [rad] the same of the hand's yaw, and [rad/m]
BELOW = 0.006  # [m] under its goal a hand has arrived rather than come too low
CLEAR = 0.002  # [m] of room beside what stands around; less where the goal itself has less
STEP = 0.01  # [m] between the places at which the room is looked at

Parts = Callable[[Grip], Sequence[Slice]]


def in_funnel(hand: Grip, goal: Grip, apex: float) -> bool:
    """Whether the hand is above `goal` within the funnel, which is a narrow shaft up to the height `apex` [m]."""
    over = max(0.0, hand.z - apex)
    aside, turned = math.dist((hand.x, hand.y), (goal.x, goal.y)), abs(wrap(hand.yaw - goal.yaw))
    return hand.z >= goal.z - BELOW and aside <= ASIDE + SLOPE * over and turned <= TURNED + TURN_SLOPE * over


def is_clear(
    corners: Sequence[Grip], parts: Parts, scene: Scene, ignore: Collection[str], zones: tuple[Zone, ...]
) -> bool:
    """Whether `parts` of the hand and its load keep clear of everything but `ignore` on the lines along `corners`."""
    try:
        for start, end in pairwise(corners):
            check_line(start, end, zones)
    except SkillError:
        return False
    enough = min(CLEAR, room(parts(corners[-1]), scene, ignore)[0] - 1e-6)
    return all(room(parts(grip), scene, ignore)[0] >= enough for a, b in pairwise(corners) for grip in _between(a, b))


def _between(a: Grip, b: Grip) -> list[Grip]:
    count = max(1, math.ceil(math.dist((a.x, a.y, a.z), (b.x, b.y, b.z)) / STEP))
    turn = wrap(b.yaw - a.yaw)
    return [
        Grip(a.x + s * (b.x - a.x), a.y + s * (b.y - a.y), a.z + s * (b.z - a.z), a.yaw + s * turn)
        for s in (k / count for k in range(count))
    ]

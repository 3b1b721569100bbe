"""The robots that come with the package, as the filter sees them: from their makers' drawings, not a simulation."""

from __future__ import annotations

import math

import numpy as np

from llm_planner.control.carried import Carried
from llm_planner.control.safety_filter.bodies import FlatBase, Rod, SerialArm
from llm_planner.control.safety_filter.holding import rods_of
from llm_planner.simulation.rooms.base import BASE_HEIGHT, BASE_RADIUS

QUARTER = math.pi / 2
# a [m], d [m], alpha [rad] of each joint: Franka Emika, "Denavit-Hartenberg parameters", Craig's convention.
PANDA_LINKS = (
    (0.0, 0.333, 0.0),
    (0.0, 0.0, -QUARTER),
    (0.0, 0.316, QUARTER),
    (0.0825, 0.0, QUARTER),
    (-0.0825, 0.384, -QUARTER),
    (0.0, 0.0, QUARTER),
    (0.088, 0.0, QUARTER),
)
FLANGE = 0.107  # [m] beyond the last joint, where the hand begins
PANDA_TIP = (0.0, 0.0, FLANGE + 0.1034)
# Everything that can move: the pedestal and the first link only turn about their own axis.
PANDA_RODS = (
    Rod(1, (0.0, 0.0, -0.06), (0.0, 0.0, 0.06), 0.065),
    Rod(1, (0.0, -0.06, 0.0), (0.0, -0.14, 0.0), 0.06),
    Rod(2, (0.0, 0.0, -0.14), (0.0, 0.0, -0.03), 0.06),
    Rod(2, (0.06, 0.02, 0.0), (0.0825, 0.06, 0.0), 0.055),
    Rod(3, (0.0, 0.0, -0.05), (0.0, 0.0, 0.05), 0.06),
    Rod(3, (-0.07, 0.04, 0.0), (-0.0825, 0.12, 0.0), 0.058),
    Rod(4, (0.0, 0.0, -0.24), (0.0, 0.01, -0.16), 0.058),
    Rod(4, (0.0, 0.075, -0.17), (0.0, 0.075, 0.0), 0.028),
    Rod(4, (0.0, 0.01, -0.05), (0.0, 0.05, 0.0), 0.05),
    Rod(5, (0.0, 0.0, -0.05), (0.0, 0.0, 0.02), 0.05),
    Rod(5, (0.088, 0.01, 0.0), (0.088, 0.03, 0.0), 0.05),
    Rod(6, (0.0, 0.0, 0.05), (0.0, 0.0, 0.08), 0.045),
)
# The hand and its fingers lie across: along y of a frame turned by an eighth about the axis of the last joint.
_ACROSS = (math.sin(math.pi / 4), math.cos(math.pi / 4))


# The gripper point's frame in that of the last link: x along the palm, y across the hand, z out of it.
_GRIPPER = np.array(
    [
        [_ACROSS[1], _ACROSS[0], 0.0, PANDA_TIP[0]],
        [-_ACROSS[0], _ACROSS[1], 0.0, PANDA_TIP[1]],
        [0.0, 0.0, 1.0, PANDA_TIP[2]],
        [0.0, 0.0, 0.0, 1.0],
    ]
)


def _crosswise(z: float, half: float, radius: float) -> Rod:
    """A rod across the hand, `z` [m] beyond the flange, its axis `half` [m] to both sides."""
    x, y = half * _ACROSS[0], half * _ACROSS[1]
    return Rod(6, (-x, -y, FLANGE + z), (x, y, FLANGE + z), radius)


# A box of 6 x 20 x 6.6 cm, and all that open fingers of 2 x 5.5 cm fill on their way: corners lie within the rods.
PANDA_HAND = (_crosswise(0.033, 0.0803, 0.0485), _crosswise(0.0857, 0.052, 0.0325))


def panda_body(carried: Carried | None = None) -> SerialArm:
    """The Franka Panda with its hand, and what that holds; frames are those of `panda_link0`."""
    held = () if carried is None else rods_of(carried, len(PANDA_LINKS) - 1, _GRIPPER)
    return SerialArm(PANDA_LINKS, (*PANDA_RODS, *PANDA_HAND, *held), PANDA_TIP, excess=0.006)


def base_body() -> FlatBase:
    """The mobile robot, in the map."""
    return FlatBase(BASE_RADIUS, BASE_HEIGHT)

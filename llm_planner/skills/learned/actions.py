"""A learned skill's actions: ten a second, each a place for the hand, a width for the fingers, and whether it is done.

Places are in the frame of the aim, so that what matters most, to be there, is the same small numbers each time;
given as ways from the hand, they missed the rim of a plate five times as often. These sizes are the library's, not a
skill's: policies that are composed share them.
"""

from __future__ import annotations

import numpy as np

from llm_planner.skills.learned.frame import Frame
from llm_planner.skills.motion import PATH_DT
from llm_planner.skills.policies.conditioning import Array
from llm_planner.skills.policies.normaliser import Normaliser
from llm_planner.world.scene import Pose

STEP = 2 * PATH_DT  # [s] from one action to the next
HORIZON = 16
N_ACTION_STEPS = 4
NAMES = ("x", "y", "z", "turn", "width", "done")
ACTIONS = Normaliser(
    np.array([0.0, 0.0, 0.0, 0.0, 0.04, 0.5], np.float32), np.array([0.1, 0.1, 0.1, 0.5, 0.04, 0.5], np.float32)
)


def same_actions(normaliser: Normaliser) -> bool:
    """Whether a policy's actions are in the library's units."""
    pairs = ((normaliser.mean, ACTIONS.mean), (normaliser.scale, ACTIONS.scale))
    return all(bool(np.array_equal(ours, theirs)) for ours, theirs in pairs)


def poses_of(chunk: Array, frame: Frame) -> tuple[Pose, ...]:
    """T_base_gripper along a chunk (horizon, 6)."""
    return tuple(frame.grip_at((x, y, z, turn)).pose() for x, y, z, turn in chunk[:, :4].tolist())

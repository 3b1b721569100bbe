"""A learned skill's actions: ten a second, each a place for the hand, a width for the fingers, and whether it is done.

The network gives the way of the hand from where it is, so that a chunk begins there. These sizes are the library's, not
a skill's: policies that are composed share them.
"""

from __future__ import annotations

import numpy as np

from llm_planner.skills.learned.frame import Frame, Place
from llm_planner.skills.motion import PATH_DT
from llm_planner.skills.policies.conditioning import Array
from llm_planner.skills.policies.normaliser import Normaliser
from llm_planner.world.scene import Pose

STEP = 2 * PATH_DT  # [s] from one action to the next
HORIZON = 16
N_ACTION_STEPS = 4
NAMES = ("x", "y", "z", "turn", "width", "done")
PLACE = 4  # of these are the hand's place
ACTIONS = Normaliser(
    np.array([0.0, 0.0, 0.0, 0.0, 0.04, 0.5], np.float32), np.array([0.1, 0.1, 0.1, 0.5, 0.04, 0.5], np.float32)
)


def same_actions(normaliser: Normaliser) -> bool:
    """Whether a policy's actions are in the library's units."""
    pairs = ((normaliser.mean, ACTIONS.mean), (normaliser.scale, ACTIONS.scale))
    return all(bool(np.array_equal(ours, theirs)) for ours, theirs in pairs)


def relative(actions: Array, hands: Array) -> Array:
    """Chunks of `actions` (N, horizon, 6) seen from where the hand was, `hands` (N, 4)."""
    chunks = actions.copy()
    chunks[:, :, :PLACE] -= hands[:, None]
    return chunks


def poses_of(chunk: Array, hand: Place, frame: Frame) -> tuple[Pose, ...]:
    """T_base_gripper along a chunk (horizon, 6) that the network gave for a hand at that place."""
    places = np.asarray(hand) + chunk[:, :PLACE]
    return tuple(frame.grip_at((x, y, z, turn)).pose() for x, y, z, turn in places.tolist())

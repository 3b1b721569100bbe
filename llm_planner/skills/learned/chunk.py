"""A chunk of a policy's actions as it is carried out: timed poses of the hand, and what is left of them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from llm_planner.control.reference import MotionReference
from llm_planner.skills.aim import Aim
from llm_planner.skills.arm import SQUEEZE
from llm_planner.skills.contract import Observation
from llm_planner.skills.gripper_shape import OPENING_MAX, Grip, grip_of
from llm_planner.skills.learned.actions import STEP, poses_of
from llm_planner.skills.learned.frame import Frame, frame_of
from llm_planner.skills.policies.conditioning import Array
from llm_planner.world.scene import Pose

VALID_FOR = 0.4  # [s] past its first action: a skill that dies stops the arm
AT_AIM = 0.03  # [m] from the aim
SLOWER = 0.9  # share of a speed limit at which a chunk is taken
TWIST = math.pi / 2 + 0.4  # [rad] of a hand against its azimuth: demonstrators stay below a right angle


@dataclass(frozen=True)
class HandChunk:
    """From `poses[0]`, where the hand was at `time`, on every `dt` s; each action has a width [m] and may be done.

    No faster than `speed_limit` [m/s].
    """

    aim: Aim
    time: float
    dt: float
    poses: tuple[Pose, ...]
    widths: tuple[float, ...]
    done: tuple[bool, ...]
    speed_limit: float

    def reference(self, time: float) -> MotionReference:
        """What is left of it."""
        index = self._index(time)
        start = self.time + index * self.dt
        return MotionReference(start, self.dt, self.poses[index:], self.widths[index], self.dt + VALID_FOR)

    def is_done(self, time: float) -> bool:
        """Whether the policy takes itself for done."""
        return self.done[self._index(time)]

    def followed(self, time: float) -> float:
        """How many actions are behind."""
        return (time - self.time) / self.dt

    def lag(self, observation: Observation) -> float:
        """How far the hand is from where it is to be [m]."""
        return math.dist(observation.T_base_gripper.position, self.poses[self._index(observation.time)].position)

    def _index(self, time: float) -> int:
        return min(int(self.followed(time) + 1e-6), len(self.done) - 1)


def chunk_from(actions: Array, aim: Aim, observation: Observation) -> HandChunk:
    """Of a policy's `actions` (horizon, 6) for what is observed: no faster than the speed limit allows, no lower or
    higher than the demonstrator would go, and twisted no farther. The few millimetres by which a policy errs would
    press what it takes into the table, and where it searches it would wind the arm up.
    """
    hand, frame = grip_of(observation.T_base_gripper), frame_of(aim)
    least, most = min(hand.z, aim.lowest), max(hand.z, aim.highest)
    wanted = (grip_of(pose) for pose in poses_of(_unwound(actions, frame, hand), frame))
    poses = (hand.pose(), *(grip.raised(min(max(grip.z, least), most)).pose() for grip in wanted))
    widths, done = np.clip(_firm(actions[:, 4], actions, observation), 0.0, OPENING_MAX), actions[:, 5] > 0.5
    pace = _paced(poses, observation.path_speed)
    return HandChunk(
        aim, observation.time, pace, poses, tuple(widths.tolist()), tuple(done.tolist()), observation.speed_limit
    )


def _unwound(actions: Array, frame: Frame, hand: Grip) -> Array:
    """The actions (horizon, 6), twisted no farther than demonstrators twist the arm, or than the hand is."""
    twist = frame.place_of(hand)[3] + frame.turn
    bounded: Array = actions.copy()
    bounded[:, 3] = np.clip(actions[:, 3] + frame.turn, min(twist, -TWIST), max(twist, TWIST)) - frame.turn
    return bounded


def _firm(widths: Array, actions: Array, observation: Observation) -> Array:
    """The widths (horizon,), squeezed on the way with something that is held: a plate of 6 mm is lost by an error of
    four. At the aim the policy lets go when it likes."""
    away = np.linalg.norm(actions[:, :3], axis=1) > AT_AIM
    hold = np.minimum(widths, observation.gripper_width - SQUEEZE)
    return np.where(away, hold, widths) if observation.scene.held else widths


def _paced(poses: Sequence[Pose], speed_limit: float) -> float:
    """[s] between the poses: `STEP`, or as much longer as a speed limit [m/s] asks for."""
    longest = max(math.dist(a.position, b.position) for a, b in pairwise(poses))
    return max(STEP, longest / (SLOWER * speed_limit))

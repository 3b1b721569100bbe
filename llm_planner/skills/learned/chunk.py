"""A chunk of a policy's actions as it is carried out: timed poses of the hand, and what is left of them.

Where a learned skill is to act: its demonstrator decides that, as it does when it acts by itself.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np

from llm_planner.errors import InputError
from llm_planner.programs.values import Argument
from llm_planner.robots.motion import MotionReference, Observation
from llm_planner.scene.scene import Pose, SceneObject
from llm_planner.skills.arm import SQUEEZE, Arm, ArmSettings
from llm_planner.skills.hand_geometry import OPENING_MAX, Aim, Grip, grip_of, wrap
from llm_planner.skills.learned.features import STEP, Frame, frame_of, poses_of
from llm_planner.skills.learned.velocity_field import Array
from llm_planner.skills.scripts import ScriptFunction

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


MOVED, TURNED = 0.008, 0.1  # [m], [rad] that a thing may move before where to act is decided again
SAME, SAME_TURN = 0.003, 0.03  # [m], [rad] by which two aims may differ that are one


@dataclass(frozen=True)
class _Looked:
    """What was decided upon: what is held, and where the things lay that the skill is about."""

    held: str
    things: tuple[SceneObject, ...]

    def still(self, other: _Looked) -> bool:
        """Whether the things lie as in `other`, and nothing was taken since; what was let go shows among the things."""
        kept = self.held in (other.held, "") and len(self.things) == len(other.things)
        return kept and all(_still(a, b) for a, b in zip(self.things, other.things, strict=True))


class Decision:
    """The aim of a demonstrator, decided anew when a thing that it speaks of has moved, or was taken or let go."""

    def __init__(
        self, script: ScriptFunction, settings: ArmSettings, arguments: Mapping[str, Argument], began: Observation
    ) -> None:
        self._script, self._settings, self._arguments, self._began = script, settings, arguments, began
        self._aim: Aim | None = None
        self._looked: _Looked | None = None

    def aim(self, observation: Observation) -> Aim:
        """The aim as things are now; the one before where only little has changed.

        Raises SkillError where the demonstrator refuses, InputError for a demonstrator that says no aim.
        """
        looked = self._look(observation)
        if self._aim is None or self._looked is None or not looked.still(self._looked):
            decided = self._decided(observation)
            # The same aim as before stays exactly the same: whoever follows it need not begin anew.
            same = self._aim is not None and _alike(self._aim, decided)
            self._aim = replace(self._aim, start=decided.start) if self._aim and same else decided
            self._looked = looked
        return self._aim

    def _decided(self, observation: Observation) -> Aim:
        arm = Arm(observation, self._settings, self._began)
        motion = self._script(arm, self._arguments)
        next(motion, None)
        motion.close()
        aim = arm.aim or self._aim  # one that only has to leave has none any more
        if aim is None:
            raise InputError(f"the script {self._script.__name__} says no aim before it moves; a skill cannot learn it")
        return aim

    def _look(self, observation: Observation) -> _Looked:
        scene, wanted = observation.scene, set(map(str, self._arguments.values()))
        things = tuple(item for item in scene.objects if item.name in wanted and item.name != scene.held)
        return _Looked(scene.held, things)


def _alike(a: Aim, b: Aim) -> bool:
    places = math.dist((a.grip.x, a.grip.y, a.grip.z), (b.grip.x, b.grip.y, b.grip.z)) <= SAME
    angles = [(a.grip.yaw, b.grip.yaw), (a.heading or 0.0, b.heading or 0.0)]
    turned = all(abs(wrap(p - q)) <= SAME_TURN for p, q in angles)
    numbers = a.numbers.keys() == b.numbers.keys() and all(abs(a.numbers[k] - b.numbers[k]) <= SAME for k in a.numbers)
    return places and turned and numbers


def _still(a: SceneObject, b: SceneObject) -> bool:
    same = abs(sum(p * q for p, q in zip(a.orientation, b.orientation, strict=True)))
    return math.dist(a.position, b.position) <= MOVED and same >= math.cos(TURNED / 2)

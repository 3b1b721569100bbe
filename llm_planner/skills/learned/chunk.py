"""Execution of a policy's action chunk as timed hand poses, and the aim of a learned skill.

The demonstrator script decides the aim, as it does when it runs itself.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np

from llm_planner.errors import InputError
from llm_planner.robots.motion import MotionReference, Observation
from llm_planner.scene.scene import Pose, SceneObject
from llm_planner.skills.arm import SQUEEZE, Arm, ArmSettings
from llm_planner.skills.contract import Arguments
from llm_planner.skills.hand_geometry import Aim, HandPose, grip_of, gripper_of, wrap
from llm_planner.skills.learned.features import STEP, Frame, frame_of, poses_of
from llm_planner.skills.learned.velocity_field import Array
from llm_planner.skills.skill_code import Mover

VALID_FOR = 0.4  # [s] validity past the first action: the arm stops if the skill dies
AT_AIM = 0.03  # [m] distance from the aim within which the policy may open the fingers
SLOWER = 0.9  # share of a speed limit at which a chunk is executed
TWIST = math.pi / 2 + 0.4  # [rad] greatest yaw relative to the azimuth; demonstrators stay below a right angle


@dataclass(frozen=True)
class HandChunk:
    """Action chunk: `poses` every `dt` s from `poses[0]` at `time`, with a width [m] and a done flag per action.

    `speed_limit` [m/s] is the limit that it was timed for.
    """

    aim: Aim
    time: float
    dt: float
    poses: tuple[Pose, ...]
    widths: tuple[float, ...]
    done: tuple[bool, ...]
    speed_limit: float

    def reference(self, time: float) -> MotionReference:
        """Return the reference for the rest of the chunk."""
        index = self._index(time)
        start = self.time + index * self.dt
        valid_for, slack = self.dt + VALID_FOR, self.aim.slack
        return MotionReference(start, self.dt, self.poses[index:], self.widths[index], valid_for, slack=slack)

    def is_done(self, time: float) -> bool:
        """Return whether the policy considers the skill complete at `time`."""
        return self.done[self._index(time)]

    def followed(self, time: float) -> float:
        """Return the number of actions that have passed."""
        return (time - self.time) / self.dt

    def lag(self, observation: Observation) -> float:
        """Return the distance [m] of the hand from its target."""
        return math.dist(observation.T_base_gripper.position, self.poses[self._index(observation.time)].position)

    def _index(self, time: float) -> int:
        return min(int(self.followed(time) + 1e-6), len(self.done) - 1)


def chunk_from(actions: Array, aim: Aim, observation: Observation) -> HandChunk:
    """Build a chunk from `actions` (horizon, 6) in the frame of `aim`, limited in speed, height and twist.

    The height limits are those of the demonstrator: a policy's error of a few millimetres would press the object into
    the table. The twist limit keeps a searching policy from winding up the arm.
    """
    hand, frame = grip_of(observation.T_base_gripper), frame_of(aim)
    widest = gripper_of(observation.scene).widest
    least, most = min(hand.z, aim.lowest), max(hand.z, aim.highest)
    wanted = (grip_of(pose) for pose in poses_of(_unwound(actions, frame, hand), frame))
    poses = (hand.pose(), *(grip.raised(min(max(grip.z, least), most)).pose() for grip in wanted))
    widths, done = np.clip(_firm(actions[:, 4], actions, observation), 0.0, widest), actions[:, 5] > 0.5
    longest = max(math.dist(a.position, b.position) for a, b in pairwise(poses))
    pace = max(STEP, longest / (SLOWER * observation.path_speed))  # longer under a speed limit
    return HandChunk(
        aim, observation.time, pace, poses, tuple(widths.tolist()), tuple(done.tolist()), observation.speed_limit
    )


def _unwound(actions: Array, frame: Frame, hand: HandPose) -> Array:
    """Limit the twist of actions (horizon, 6) to that of demonstrators, or of the hand if it is greater."""
    twist = frame.place_of(hand)[3] + frame.turn
    bounded: Array = actions.copy()
    bounded[:, 3] = np.clip(actions[:, 3] + frame.turn, min(twist, -TWIST), max(twist, TWIST)) - frame.turn
    return bounded


def _firm(widths: Array, actions: Array, observation: Observation) -> Array:
    """Squeeze a held object away from the aim: width errors of a policy (4 mm) would drop a 6 mm plate."""
    away = np.linalg.norm(actions[:, :3], axis=1) > AT_AIM
    hold = np.minimum(widths, observation.gripper_width - SQUEEZE)
    return np.where(away, hold, widths) if observation.scene.held else widths


MOVED, TURNED = 0.008, 0.1  # [m], [rad] motion of an object that triggers a new decision
SAME, SAME_TURN = 0.003, 0.03  # [m], [rad] tolerance within which two aims are the same


@dataclass(frozen=True)
class _Looked:
    """Basis of a decision: the held object and the poses of the objects in the arguments."""

    held: str
    things: tuple[SceneObject, ...]

    def still(self, other: _Looked) -> bool:
        """Return whether no object has moved or been picked up since `other`."""
        kept = self.held in (other.held, "") and len(self.things) == len(other.things)
        return kept and all(_still(a, b) for a, b in zip(self.things, other.things, strict=True))


class Decision:
    """Aim of a demonstrator, renewed when an object in the arguments moves or is picked up or released."""

    def __init__(self, script: Mover, settings: ArmSettings, arguments: Arguments, began: Observation) -> None:
        self._script, self._settings, self._arguments, self._began = script, settings, arguments, began
        self._aim: Aim | None = None
        self._looked: _Looked | None = None

    def aim(self, observation: Observation) -> Aim:
        """Return the current aim, unchanged after small changes.

        Raises SkillError if the demonstrator refuses, InputError if it sets no aim.
        """
        looked = self._look(observation)
        if self._aim is None or self._looked is None or not looked.still(self._looked):
            decided = self._decided(observation)
            # Keep an equal aim identical, so that its chunk remains valid.
            same = self._aim is not None and _alike(self._aim, decided)
            self._aim = replace(self._aim, start=decided.start) if self._aim and same else decided
            self._looked = looked
        return self._aim

    def _decided(self, observation: Observation) -> Aim:
        arm = Arm(observation, self._settings, self._began)
        motion = self._script(arm, self._arguments)
        next(motion, None)
        motion.close()
        aim = arm.aim or self._aim  # a script that only has to retreat sets no aim
        if aim is None:
            raise InputError(f"the script {self._script.__name__} sets no aim before it moves; a skill cannot learn it")
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

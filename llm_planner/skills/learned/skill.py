"""A skill whose motion was learned: its demonstrator decides where, a policy how, ten actions a second."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from llm_planner.control.reference import MotionReference
from llm_planner.skills.aim import Aim
from llm_planner.skills.contract import Argument, Observation, SkillErrorCode, SkillResult
from llm_planner.skills.errors import SkillError
from llm_planner.skills.gripper_shape import OPENING_MAX, grip_of
from llm_planner.skills.learned.actions import STEP, poses_of
from llm_planner.skills.learned.decision import Decision
from llm_planner.skills.learned.features import goal_numbers, observed, view_of
from llm_planner.skills.policies.conditioning import Array, Conditioning
from llm_planner.skills.policies.seams import ChunkSampler
from llm_planner.skills.scripted import FULL_SPEED
from llm_planner.world.scene import Pose

SURPRISED = 0.015  # [m] off where its chunk has it now, a hand is asked for anew
UNDONE = 2.0  # [s] that a policy may take itself for done while the scene does not show it
STUCK, STUCK_TIME = 0.03, 3.0  # [m] and [s] that a hand may lag behind its actions
SLOWER = 0.9  # share of a speed limit at which a chunk is taken

Achieved = Callable[[Observation], bool]


@dataclass(frozen=True)
class LearnedMotion:
    """What makes the motion of a skill: the policy behind its sampler, and what it observes and is told."""

    sampler: ChunkSampler
    observe: tuple[str, ...]
    goal: tuple[str, ...]


@dataclass(frozen=True)
class _Chunk:
    """Poses every `dt` s after `time`, with the width [m] and the "done" of each."""

    aim: Aim
    time: float
    dt: float
    start: Pose
    poses: tuple[Pose, ...]
    widths: tuple[float, ...]
    done: tuple[bool, ...]

    def index(self, time: float) -> int:
        """Of the action that is under way."""
        return min(int((time - self.time) / self.dt + 1e-6), len(self.poses) - 1)

    def reference(self, time: float) -> MotionReference:
        """What is left of it."""
        index = self.index(time)
        rest = (self.start, *self.poses)[index:]
        return MotionReference(self.time + index * self.dt, self.dt, rest, self.widths[index])

    def expected(self, time: float) -> Pose:
        """Where the hand is to be now."""
        return (self.start, *self.poses)[self.index(time)]


class LearnedRun:
    """One execution of a learned skill."""

    def __init__(
        self, name: str, motion: LearnedMotion, decision: Decision, arguments: Mapping[str, Argument],
        achieved: Achieved, timeout: float, noise: Array, began: Observation,
    ) -> None:  # fmt: skip
        self._name, self._motion, self._decision, self._arguments = name, motion, decision, arguments
        self._achieved, self._timeout, self._noise = achieved, timeout, noise
        self._chunk: _Chunk | None = None
        self._history: deque[Array] = deque(maxlen=motion.sampler.spec.n_obs_steps)
        self._last, self._left = began.time, timeout
        self._undone = self._stuck = 0.0

    @property
    def phase(self) -> str:
        return self._name

    def step(self, observation: Observation) -> MotionReference | SkillResult:
        """See `SkillRun`."""
        passed, self._last = observation.time - self._last, observation.time
        self._left -= passed * min(1.0, observation.speed_limit / FULL_SPEED)
        if self._left < 0:
            return SkillResult(SkillErrorCode.TIMEOUT, f"{self._name} was not done after {self._timeout:g} s")
        try:
            return self._moved(observation, passed)
        except SkillError as failure:
            return SkillResult(failure.code, str(failure))
        except KeyError as error:
            return SkillResult(SkillErrorCode.OBJECT_LOST, f"{self._name} lost sight of a thing: {error.args[0]}")

    def _moved(self, observation: Observation, passed: float) -> MotionReference | SkillResult:
        aim = self._decision.aim(observation)
        if self._chunk is not None and aim is not self._chunk.aim:
            self._chunk = None
            self._history.clear()
        self._history.append(observed(self._motion.observe, view_of(observation, aim, self._arguments)))
        chunk = self._chunk
        if chunk is None or self._is_over(chunk, observation):
            chunk = self._chunk = self._sampled(aim, observation)
        if chunk.done[chunk.index(observation.time)]:
            if self._achieved(observation):
                return SkillResult(SkillErrorCode.SUCCEEDED)
            self._undone += passed
        self._check(chunk, observation, passed)
        return chunk.reference(observation.time)

    def _is_over(self, chunk: _Chunk, observation: Observation) -> bool:
        """Whether it is time for the next chunk: this one was followed far enough, or the hand is elsewhere."""
        followed = (observation.time - chunk.time) / chunk.dt
        return followed > self._motion.sampler.spec.n_action_steps - 1e-3 or _lag(chunk, observation) > SURPRISED

    def _sampled(self, aim: Aim, observation: Observation) -> _Chunk:
        view = view_of(observation, aim, self._arguments)
        seen = [self._history[0]] * (self._history.maxlen or 1) + list(self._history)
        conditioning = Conditioning(
            np.stack(seen[-(self._history.maxlen or 1) :]), goal_numbers(self._motion.goal, aim)
        )
        actions = self._motion.sampler.sample(conditioning, self._noise)[0]
        hand = grip_of(observation.T_base_gripper)
        poses = poses_of(actions, view.frame)
        dt = _paced(observation.T_base_gripper, poses, observation.speed_limit)
        widths, done = np.clip(actions[:, 4], 0.0, OPENING_MAX).tolist(), (actions[:, 5] > 0.5).tolist()
        return _Chunk(aim, observation.time, dt, hand.pose(), poses, tuple(widths), tuple(done))

    def _check(self, chunk: _Chunk, observation: Observation, passed: float) -> None:
        """Raises SkillError where it is no use to go on."""
        self._stuck = self._stuck + passed if _lag(chunk, observation) > STUCK else 0.0
        if self._stuck > STUCK_TIME:
            raise SkillError(
                SkillErrorCode.UNREACHABLE, f"the hand does not follow during {self._name}: something is in the way"
            )
        if self._undone > UNDONE:
            raise SkillError(
                SkillErrorCode.EFFECT_MISSING, f"{self._name} ended, but the scene does not show its effect"
            )


class LearnedSkill:
    """`script` is the demonstrator, which decides where; `motion` was learned from it; see `Skill`."""

    def __init__(
        self, name: str, motion: LearnedMotion, decide: Callable[[Mapping[str, Argument], Observation], Decision],
        achieved: Callable[[Mapping[str, Argument], Observation], Achieved], timeout: float,
        draw_noise: Callable[[tuple[int, ...]], Array],
    ) -> None:  # fmt: skip
        self.name = name
        self._motion, self._decide, self._achieved, self._timeout = motion, decide, achieved, timeout
        self._draw_noise = draw_noise

    def start(self, arguments: Mapping[str, Argument], observation: Observation) -> LearnedRun:
        """Decide where, as the demonstrator would; raises SkillError as it does."""
        decision = self._decide(arguments, observation)
        decision.aim(observation)
        spec = self._motion.sampler.spec
        noise = self._draw_noise((1, spec.horizon, spec.action_dim))
        achieved = self._achieved(arguments, observation)
        return LearnedRun(
            self.name, self._motion, decision, arguments, achieved, self._timeout, noise, observation
        )  # fmt: skip


def _lag(chunk: _Chunk, observation: Observation) -> float:
    return math.dist(observation.T_base_gripper.position, chunk.expected(observation.time).position)


def _paced(start: Pose, poses: Sequence[Pose], speed_limit: float) -> float:
    """[s] between the poses: `STEP`, or as much longer as a speed limit [m/s] asks for."""
    places = [start.position, *(pose.position for pose in poses)]
    longest = max(math.dist(a, b) for a, b in pairwise(places))
    return max(STEP, longest / max(SLOWER * speed_limit, 1e-3)) if math.isfinite(speed_limit) else STEP

"""A skill whose motion was learned: its demonstrator decides where, a policy how, ten actions a second."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

from llm_planner.control.reference import MotionReference
from llm_planner.skills.aim import Aim
from llm_planner.skills.contract import Argument, Observation, SkillErrorCode, SkillResult
from llm_planner.skills.errors import SkillError
from llm_planner.skills.learned.chunk import HandChunk, chunk_from
from llm_planner.skills.learned.decision import Decision
from llm_planner.skills.learned.features import View, goal_numbers, observed
from llm_planner.skills.learned.frame import frame_of
from llm_planner.skills.learned.patience import Patience
from llm_planner.skills.policies.conditioning import Array, Conditioning
from llm_planner.skills.policies.seams import ChunkSampler
from llm_planner.skills.scripted import FULL_SPEED

SURPRISED = 0.015  # [m] off where its chunk has it now, a hand is asked for anew

Achieved = Callable[[Observation], bool]


@dataclass(frozen=True)
class LearnedMotion:
    """What makes the motion of a skill: the policy behind its sampler, and what it observes and is told.

    A run draws its noise once, from `seed`, and keeps it, so that it does not change its mind; `spread` 0 is what the
    policy is most sure of, 1 what was shown in all its variety.
    """

    sampler: ChunkSampler
    observe: tuple[str, ...]
    goal: tuple[str, ...]
    spread: float = 0.0
    seed: int = 0


class LearnedRun:
    """One execution of a learned skill."""

    def __init__(
        self, name: str, motion: LearnedMotion, decision: Decision, arguments: Mapping[str, Argument],
        achieved: Achieved, timeout: float, began: Observation,
    ) -> None:  # fmt: skip
        self._name, self._motion, self._decision, self._arguments = name, motion, decision, arguments
        self._achieved, self._timeout = achieved, timeout
        self._last, self._left = began.time, timeout
        self._patience = Patience(name)
        self._rng = np.random.default_rng(motion.seed)
        self._noise = self._drawn(motion.spread)
        self._history: deque[Array] = deque(maxlen=motion.sampler.spec.n_obs_steps)
        self._chunk: HandChunk | None = None
        self._steps = motion.sampler.spec.n_action_steps  # of the chunk that are carried out

    @property
    def phase(self) -> str:
        return self._name

    @property
    def spent(self) -> float:
        """The share of its time that has passed."""
        return 1.0 - self._left / self._timeout

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
        chunk = self._followed(self._decision.aim(observation), observation)
        done, achieved = chunk.is_done(observation.time), self._achieved(observation)
        # A hand that was thrown far from what is done already rests where no demonstration ever ended.
        if achieved and (done or self._patience.needs_nudge or self._patience.lingers):
            return SkillResult(SkillErrorCode.SUCCEEDED)
        undone = done and not achieved
        self._patience.see(observation.T_base_gripper.position, chunk.lag(observation), undone, achieved, passed)
        return chunk.reference(observation.time)

    def _followed(self, aim: Aim, observation: Observation) -> HandChunk:
        """The chunk before, or a new one: when that was followed far enough, or hand or aim are elsewhere."""
        chunk = self._chunk
        if chunk is not None and frame_of(aim) != frame_of(chunk.aim):
            chunk = None
            self._history.clear()
        self._history.append(observed(self._motion.observe, View(observation, aim, self._arguments)))
        if chunk is None or chunk.followed(observation.time) > self._steps - 1e-3 or (
            chunk.lag(observation) > SURPRISED or observation.speed_limit < chunk.speed_limit
        ):  # fmt: skip
            spec = self._motion.sampler.spec
            self._steps = spec.horizon - 1 if self._patience.is_slow else spec.n_action_steps
            chunk = chunk_from(self._sampled(aim), aim, observation)
        self._chunk = chunk
        return chunk

    def _sampled(self, aim: Aim) -> Array:
        """The policy's next actions (horizon, 6)."""
        missing = self._motion.sampler.spec.n_obs_steps - len(self._history)
        seen = np.stack([self._history[0]] * missing + list(self._history))
        # A regression knows no other noise than none.
        nudged = self._patience.needs_nudge and self._motion.sampler.spec.objective == "flow"
        noise = self._drawn(1.0) if nudged else self._noise
        actions: Array = self._motion.sampler.sample(Conditioning(seen, goal_numbers(self._motion.goal, aim)), noise)[0]
        return actions

    def _drawn(self, spread: float) -> Array:
        spec = self._motion.sampler.spec
        noise: Array = self._rng.standard_normal((1, spec.horizon, spec.action_dim), np.float32)
        scaled: Array = np.float32(spread) * noise
        return scaled


class LearnedSkill:
    """The demonstrator decides where, `motion` was learned from it; see `Skill`."""

    def __init__(
        self, name: str, motion: LearnedMotion, decide: Callable[[Mapping[str, Argument], Observation], Decision],
        achieved: Callable[[Mapping[str, Argument], Observation], Achieved], timeout: float,
    ) -> None:  # fmt: skip
        self.name = name
        self._motion, self._decide, self._achieved, self._timeout = motion, decide, achieved, timeout

    def is_done(self, arguments: Mapping[str, Argument], observation: Observation) -> bool:
        """Whether there is nothing to do."""
        return self._achieved(arguments, observation)(observation)

    def start(self, arguments: Mapping[str, Argument], observation: Observation) -> LearnedRun:
        """Decide where, as the demonstrator would; raises SkillError as it does."""
        decision, achieved = self._decide(arguments, observation), self._achieved(arguments, observation)
        decision.aim(observation)
        return LearnedRun(self.name, self._motion, decision, arguments, achieved, self._timeout, observation)

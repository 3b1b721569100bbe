"""Learned skills: the demonstrator decides where to act, a policy how, at ten actions a second.

`StallMonitor` detects a motion that is stuck or needs new noise. `LearnedOrScripted` falls back to the script where a
policy must not move or does not arrive.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

from llm_planner.robots.arm_model import arm_shape
from llm_planner.robots.motion import MotionReference, Observation
from llm_planner.scene.scene import Vector3
from llm_planner.skills.contract import Arguments, SkillError, SkillErrorCode, SkillResult, SkillRun
from llm_planner.skills.hand_geometry import Aim
from llm_planner.skills.learned.chunk import Decision, HandChunk, chunk_from
from llm_planner.skills.learned.features import View, frame_of, goal_numbers, observed
from llm_planner.skills.learned.samplers import ChunkSampler
from llm_planner.skills.learned.velocity_field import Array, Conditioning
from llm_planner.skills.scripted import FULL_SPEED, ScriptedSkill

LINGERS = 5.0  # [s] that a policy may continue once the scene shows its effect, to leave or to improve it
UNDONE = 3.0  # [s] that a policy may report done while the scene does not show the effect
BEHIND, BEHIND_TIME = 0.03, 3.0  # [m], [s] greatest lag of the hand behind its actions
RESTS, RESTS_TIME = 0.005, 1.2  # [m], [s] a hand that moves less than this, undone, needs new noise
SLOW, SLOW_TIME = 0.015, 0.6  # [m], [s] a hand that moves less than this is at rest or just starting


@dataclass
class _Stay:
    """How long [s] a hand has stayed within `radius` [m] of one place."""

    radius: float
    time: float = 0.0
    place: Vector3 | None = None

    def see(self, place: Vector3, passed: float) -> None:
        if self.place is None or math.dist(place, self.place) > self.radius:
            self.place, self.time = place, 0.0
        self.time += passed


class StallMonitor:
    """Watches a run and raises SkillError when it has been stuck for too long."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._undone = self._behind = self._lingers = 0.0
        self._rest, self._crawl = _Stay(RESTS), _Stay(SLOW)

    def see(self, place: Vector3, lag: float, undone: bool, achieved: bool, passed: float) -> None:
        """Record a step of `passed` [s]; raises SkillError (UNREACHABLE, EFFECT_MISSING) if the run is stuck.

        Args:
            place: Position of the hand [m].
            lag: Distance of the hand from its target [m].
            undone: The policy reports done, but the scene does not show the effect.
            achieved: The scene shows the effect.
            passed: Time since the last step [s].
        """
        self._lingers = self._lingers + passed if achieved else 0.0
        self._behind = self._behind + passed if lag > BEHIND else 0.0
        self._undone += passed if undone else 0.0
        if self._behind > BEHIND_TIME:
            message = f"the hand does not follow during {self._name}: something is in the way"
            raise SkillError(SkillErrorCode.UNREACHABLE, message)
        if self._undone > UNDONE:
            message = f"{self._name} ended, but the scene does not show its effect"
            raise SkillError(SkillErrorCode.EFFECT_MISSING, message)
        self._rest.see(place, passed)
        self._crawl.see(place, passed)

    @property
    def needs_nudge(self) -> bool:
        """Whether the hand has come to rest too early and needs a sample from new noise."""
        return self._rest.time > RESTS_TIME

    @property
    def lingers(self) -> bool:
        """Whether the hand keeps moving up and down although the effect is achieved."""
        return self._lingers > LINGERS

    @property
    def is_slow(self) -> bool:
        """Whether the hand should execute most of its chunk.

        Motion from rest starts slowly, and a new request before it gains speed would restart it forever.
        """
        return self._crawl.time > SLOW_TIME


SURPRISED = 0.015  # [m] deviation from the chunk that triggers a new request

Achieved = Callable[[Observation], bool]


@dataclass(frozen=True)
class LearnedMotion:
    """Policy of a skill: sampler, observed features and goal numbers.

    A run draws its noise once from `seed` and keeps it, so that it does not switch between solutions. `spread` scales
    the noise: 0 gives the most likely motion, 1 the variety of the demonstrations.
    """

    sampler: ChunkSampler
    observe: tuple[str, ...]
    goal: tuple[str, ...]
    spread: float = 0.0
    seed: int = 0


class LearnedRun:
    """One execution of a learned skill."""

    def __init__(
        self, name: str, motion: LearnedMotion, decision: Decision, arguments: Arguments,
        achieved: Achieved, timeout: float, began: Observation,
    ) -> None:  # fmt: skip
        self._name, self._motion, self._decision, self._arguments = name, motion, decision, arguments
        self._achieved, self._timeout = achieved, timeout
        self._last, self._left = began.time, timeout
        self._patience = StallMonitor(name)
        self._rng = np.random.default_rng(motion.seed)
        self._noise = self._drawn(motion.spread)
        self._history: deque[Array] = deque(maxlen=motion.sampler.spec.n_obs_steps)
        self._chunk: HandChunk | None = None
        self._steps = motion.sampler.spec.n_action_steps  # actions of the chunk to execute

    @property
    def phase(self) -> str:
        return self._name

    @property
    def spent(self) -> float:
        """Share of the time limit that has passed."""
        return 1.0 - self._left / self._timeout

    def step(self, observation: Observation) -> MotionReference | SkillResult:
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
        if aim.grip.is_level:
            raise SkillError(SkillErrorCode.UNREACHABLE, f"{self._name} was learned with a hand that points down")
        chunk = self._followed(aim, observation)
        done, achieved = chunk.is_done(observation.time), self._achieved(observation)
        # A hand displaced after the effect is achieved rests where no demonstration ended.
        if achieved and (done or self._patience.needs_nudge or self._patience.lingers):
            return SkillResult(SkillErrorCode.SUCCEEDED)
        undone = done and not achieved
        self._patience.see(observation.T_base_gripper.position, chunk.lag(observation), undone, achieved, passed)
        return chunk.reference(observation.time)

    def _followed(self, aim: Aim, observation: Observation) -> HandChunk:
        """Return the current chunk, or a new one if it is used up or hand or aim have moved."""
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
        """Return the policy's next actions (horizon, 6)."""
        missing = self._motion.sampler.spec.n_obs_steps - len(self._history)
        seen = np.stack([self._history[0]] * missing + list(self._history))
        # A regression policy is trained without noise.
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
    """Skill whose demonstrator decides the aim and whose `motion` was learned from it; see `Skill`."""

    def __init__(
        self, name: str, motion: LearnedMotion, decide: Callable[[Arguments, Observation], Decision],
        achieved: Callable[[Arguments, Observation], Achieved], timeout: float,
    ) -> None:  # fmt: skip
        self.name = name
        self._motion, self._decide, self._achieved, self._timeout = motion, decide, achieved, timeout

    def is_done(self, arguments: Arguments, observation: Observation) -> bool:
        """Return whether the scene already shows the effect."""
        return self._achieved(arguments, observation)(observation)

    def start(self, arguments: Arguments, observation: Observation) -> LearnedRun:
        """Decide the aim like the demonstrator, and raise SkillError like it."""
        decision, achieved = self._decide(arguments, observation), self._achieved(arguments, observation)
        decision.aim(observation)
        return LearnedRun(self.name, self._motion, decision, arguments, achieved, self._timeout, observation)


LONG = 0.3  # share of the time limit after which the script takes over; most runs need half of this
GETS_STUCK = (SkillErrorCode.TIMEOUT, SkillErrorCode.EFFECT_MISSING, SkillErrorCode.UNREACHABLE)


@dataclass(frozen=True)
class LearnedOrScripted:
    """Learned skill with its script as fallback.

    `learned` has a policy for each arm that one was trained on, by the arm's name. The script runs instead on other
    arms; where zones exist, because plans were judged by its path around them; where an argument names an object of an
    `unseen` kind; and where the effect is achieved already, because there is no aim. It also takes over from a policy
    that gets stuck, or whose hand has to act from the side.
    """

    learned: Mapping[str, LearnedSkill]
    scripted: ScriptedSkill
    unseen: frozenset[str] = frozenset()

    @property
    def name(self) -> str:
        return self.scripted.name

    def start(self, arguments: Arguments, observation: Observation) -> SkillRun:
        learned = self.learned.get(arm_shape(observation.scene.arm).name)
        unseen = any(item.kind in self.unseen for item in observation.scene.objects if item.name in arguments.values())
        if learned is None or observation.zones or unseen or learned.is_done(arguments, observation):
            return self.scripted.start(arguments, observation)
        return FallbackRun(learned.start(arguments, observation), self.scripted, arguments, observation)


class FallbackRun:
    """Learned run that continues as a scripted one if it gets stuck or takes too long."""

    def __init__(self, learned: LearnedRun, scripted: ScriptedSkill, arguments: Arguments, began: Observation) -> None:
        self._learned, self._scripted, self._arguments, self._began = learned, scripted, arguments, began
        self._run: SkillRun = learned

    @property
    def phase(self) -> str:
        return self._run.phase

    def step(self, observation: Observation) -> MotionReference | SkillResult:
        outcome = self._run.step(observation)
        stuck = outcome.code in GETS_STUCK if isinstance(outcome, SkillResult) else self._learned.spent > LONG
        if self._run is self._learned and stuck:
            self._run = self._scripted.go_on(self._arguments, observation, self._began)
            return self._run.step(observation)
        return outcome

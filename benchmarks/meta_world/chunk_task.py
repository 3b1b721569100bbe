"""A task a chunk at a time, as critics and steering learn from it."""

from __future__ import annotations

import numpy as np
from policy_methods.steering import ChunkOutcome

from llm_planner.skills.learned.samplers import ChunkSampler, Rollout
from llm_planner.skills.learned.velocity_field import Conditioning, PolicySpec
from meta_world.environment import STEPS_MAX, Array, Environment
from meta_world.episodes import split


class ChunkTask:
    """A `ChunkEnvironment` of a Meta-World task: reward 1 with success, which ends it; cut after `STEPS_MAX` steps."""

    def __init__(self, environment: Environment, spec: PolicySpec) -> None:
        self._environment, self._spec = environment, spec
        self._seen: list[Array] = []
        self._left = 0

    def reset(self, seed: int) -> Conditioning:
        """What is seen at the start of the episode of that seed."""
        self._seen, self._left = [self._environment.reset(seed)] * self._spec.n_obs_steps, STEPS_MAX
        return self._asked()

    def step(self, chunk: Array) -> ChunkOutcome:
        """See `ChunkEnvironment`."""
        success = False
        for action in chunk[: min(self._left, self._spec.n_action_steps)]:
            step = self._environment.step(action)
            self._seen = [*self._seen[1:], step.observation]
            self._left -= 1
            success = step.success
            if success:
                break
        return ChunkOutcome(self._asked(), float(success), ended=success, cut=self._left == 0)

    def _asked(self) -> Conditioning:
        state, goal = split(np.array(self._seen))
        return Conditioning(state, goal[-1])


def recorded(task: ChunkTask, sampler: ChunkSampler, seed: int) -> Rollout:
    """An episode from normal noise, for a critic to learn from."""
    rng, sizes = np.random.default_rng(seed), sampler.spec
    asked, conditionings, chunks = task.reset(seed), [], []
    while True:
        noise = rng.standard_normal((1, sizes.horizon, sizes.action_dim), dtype=np.float32)
        chunk = sampler.sample(asked, noise)[0]
        conditionings.append(asked)
        chunks.append(chunk)
        outcome = task.step(chunk)
        asked = outcome.conditioning
        if outcome.ended or outcome.cut:
            return Rollout(conditionings, np.array(chunks), outcome.ended)

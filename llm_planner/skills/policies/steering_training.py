"""Learns by trying which noise leads a frozen policy to success: soft actor-critic (arXiv:1801.01290) over the noise.

An action of the actor is the noise of one action, repeated over the chunk; a step of the environment is a chunk.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import torch

from llm_planner.errors import InputError
from llm_planner.skills.policies.conditioning import Array, Conditioning
from llm_planner.skills.policies.field import NetworkField, condition_vector
from llm_planner.skills.policies.perceptron_training import tensors_of
from llm_planner.skills.policies.replay import Replay
from llm_planner.skills.policies.seams import ChunkSampler
from llm_planner.skills.policies.soft_actor_critic import SoftActorCritic
from llm_planner.skills.policies.steering import NoiseActor, repeated


@dataclass(frozen=True)
class ChunkOutcome:
    """What is seen after a chunk, and what it brought; `ended`: nothing follows; `cut`: the time was up."""

    conditioning: Conditioning
    reward: float
    ended: bool
    cut: bool = False


class ChunkEnvironment(Protocol):
    """A task, a chunk at a time. A reward of 1 for success and 0 else is enough."""

    def reset(self, seed: int) -> Conditioning: ...

    def step(self, chunk: Array) -> ChunkOutcome:
        """Carries out the first `n_action_steps` of `chunk` (horizon, action_dim), in the actions' own units."""
        ...


@dataclass(frozen=True)
class SteeringSettings:
    """How an actor is trained: `chunks` are asked of the environment, the first `random_chunks` from normal noise.

    `entropy` is aimed at, for each number of the noise; `report_every` is in chunks.
    """

    chunks: int = 16000
    random_chunks: int = 500
    updates: int = 2
    batch: int = 256
    width: int = 256
    learning_rate: float = 1e-3
    discount: float = 0.97
    target_rate: float = 0.01
    entropy: float = -0.5
    bound: float = 2.0
    report_every: int = 1000

    def __post_init__(self) -> None:
        if not 1 <= self.random_chunks <= self.chunks:
            raise InputError(
                f"random_chunks lie between 1 and the {self.chunks} chunks of the training, not {self.random_chunks}"
            )


Report = Callable[[int, NoiseActor, float], None]  # chunks done, the actor so far, mean return of the last episodes


def train_steering(
    policy: NetworkField,
    sampler: ChunkSampler,
    environment: ChunkEnvironment,
    seed: int,
    settings: SteeringSettings = SteeringSettings(),
    report: Report = lambda chunks, actor, mean_return: None,
) -> NoiseActor:
    """An actor for `sampler`, which makes chunks of `policy` and is not changed. The same seed gives the same actor."""
    torch.manual_seed(seed)
    learner = SoftActorCritic(policy.spec.condition_dim, policy.spec.action_dim, settings)
    trial = _Trial(policy, sampler, environment, np.random.default_rng(seed), settings)
    for chunk in range(1, settings.chunks + 1):
        trial.step(learner, explore=chunk <= settings.random_chunks)
        if chunk >= settings.random_chunks:
            for _ in range(settings.updates):
                learner.update(trial.replay.draw(settings.batch))
        if chunk % settings.report_every == 0:
            report(chunk, _actor(policy, learner, settings), trial.mean_return)
    return _actor(policy, learner, settings)


def _actor(policy: NetworkField, learner: SoftActorCritic, settings: SteeringSettings) -> NoiseActor:
    return NoiseActor(policy.spec, tensors_of(learner.actor), policy.normalisers, settings.bound)


class _Trial:
    """The environment, and what has been tried in it."""

    def __init__(
        self,
        policy: NetworkField,
        sampler: ChunkSampler,
        environment: ChunkEnvironment,
        rng: np.random.Generator,
        settings: SteeringSettings,
    ) -> None:
        self._policy, self._sampler, self._environment = policy, sampler, environment
        self._rng, self._settings = rng, settings
        self.replay = Replay(settings.chunks, policy.spec.condition_dim, policy.spec.action_dim, rng)
        self._returns: list[float] = [0.0]
        self._asked = self._reset()

    @property
    def mean_return(self) -> float:
        """Of the last 20 episodes that came to their end."""
        return float(np.mean(self._returns[:-1][-20:] or [0.0]))

    def step(self, learner: SoftActorCritic, explore: bool) -> None:
        told = self._told(self._asked)
        choice = self._normal() if explore else learner.choose(told)
        noise = repeated(np.float32(self._settings.bound) * choice[None], self._policy.spec.horizon)
        outcome = self._environment.step(self._sampler.sample(self._asked, noise)[0])
        self.replay.add(told, choice, outcome.reward, self._told(outcome.conditioning), outcome.ended)
        self._returns[-1] += outcome.reward
        self._asked = outcome.conditioning
        if outcome.ended or outcome.cut:
            self._returns.append(0.0)
            self._asked = self._reset()

    def _reset(self) -> Conditioning:
        return self._environment.reset(int(self._rng.integers(2**31)))

    def _told(self, conditioning: Conditioning) -> Array:
        return condition_vector(conditioning, self._policy.observations, self._policy.goals)

    def _normal(self) -> Array:
        """Noise as the policy was trained with, as a share of the bound."""
        drawn = self._rng.standard_normal(self._policy.spec.action_dim, dtype=np.float32)
        share: Array = np.clip(drawn / np.float32(self._settings.bound), -0.99, 0.99)
        return share

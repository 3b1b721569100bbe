"""Steering by the noise (DSRL, arXiv:2506.15799): an actor chooses where a chunk begins; the policy stays.

Learns by trying which noise leads a frozen policy to success: soft actor-critic (arXiv:1801.01290) over the noise.

An action of the actor is the noise of one action, repeated over the chunk; a step of the environment is a chunk.

Soft actor-critic (arXiv:1801.01290, 1812.05905): two critics, an actor that stays as random as is asked of it.

What has been tried and what came of it, to learn from more than once.
"""

from __future__ import annotations

import copy
import json
import math
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Protocol

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional as F  # noqa: N812  (torch's own convention)

from llm_planner.errors import InputError
from llm_planner.learning.policy_training import layers, tensors_of
from llm_planner.skills.learned.samplers import ChunkSampler
from llm_planner.skills.learned.velocity_field import (
    Array,
    Conditioning,
    NetworkField,
    Normaliser,
    Perceptron,
    PolicySpec,
    condition_vector,
)
from llm_planner.skills.learned.weights_file import (
    normaliser_tensors,
    read_normalisers,
    read_spec,
    read_tensors,
    refuse_unknown,
    under,
    write_tensors,
)

LOG_DEVIATION = (-5.0, 2.0)  # least and most


class NoiseActor:
    """Chooses the noise of one action, which all actions of a chunk begin from, inside a bound on each number."""

    def __init__(
        self, spec: PolicySpec, tensors: Mapping[str, Array], normalisers: Mapping[str, Normaliser], bound: float
    ) -> None:
        """`normalisers` are those of the policy that is steered, by the names in its file."""
        if not bound > 0:
            raise InputError(f"the noise of an actor needs a bound above 0, not {bound!r}")
        self.spec, self.normalisers, self.bound = spec, dict(normalisers), bound
        self.network = Perceptron(tensors, spec.condition_dim, 2 * spec.action_dim)

    def noise(self, conditioning: Conditioning, given: Array) -> Array:
        """From `given` noise (K, horizon, action_dim) the actor's own: zero gives its mean, normal noise its spread."""
        told = condition_vector(conditioning, self.normalisers["observations"], self.normalisers["goals"])
        mean, deviation = np.split(self.network(told[None]), 2, axis=1)
        spread = np.exp(np.clip(deviation, *LOG_DEVIATION)) * given[:, 0]
        latent: Array = np.float32(self.bound) * np.tanh(mean + spread)
        return repeated(latent, self.spec.horizon)


class Steered:
    """A `ChunkSampler` whose noise an actor chooses."""

    def __init__(self, sampler: ChunkSampler, actor: NoiseActor) -> None:
        self._sampler, self._actor = sampler, actor

    @property
    def spec(self) -> PolicySpec:
        return self._sampler.spec

    def sample(self, conditioning: Conditioning, noise: Array) -> Array:
        """See `ChunkSampler`."""
        return self._sampler.sample(conditioning, self._actor.noise(conditioning, noise))


def repeated(latent: Array, horizon: int) -> Array:
    """The noise of whole chunks (K, horizon, action_dim) from that of one action each (K, action_dim)."""
    return np.repeat(latent[:, None], horizon, axis=1)


def save_actor(path: Path, actor: NoiseActor) -> None:
    """Write it to `path`, whole or not at all."""
    metadata = {"actor_of": json.dumps(asdict(actor.spec)), "bound": str(actor.bound)}
    write_tensors(path, _tensors_of(actor), metadata)


def load_actor(path: Path) -> NoiseActor:
    """The actor in `path`; raises InputError that says what is wrong with the file."""
    tensors, metadata = read_tensors(path)
    try:
        spec = read_spec(metadata, "actor_of")
        bound = _bound(metadata)
        actor = NoiseActor(spec, under("actor.", tensors), read_normalisers(tensors, spec), bound)
        refuse_unknown(tensors, _tensors_of(actor))
    except InputError as error:
        raise InputError(f"{path}: {error}") from error
    return actor


def _bound(metadata: Mapping[str, str]) -> float:
    try:
        return float(metadata.get("bound", ""))
    except ValueError as error:
        raise InputError(f"its metadata has no bound of the noise: {error}") from error


def _tensors_of(actor: NoiseActor) -> dict[str, Array]:
    layers = {f"actor.{name}": value for name, value in actor.network.tensors.items()}
    return normaliser_tensors(actor.normalisers) | layers


@dataclass(frozen=True)
class Transitions:
    """`told` and `told_next` (B, n), `choice` (B, m), `reward` (B,), and `goes_on` (B,): 0 where nothing followed."""

    told: Tensor
    choice: Tensor
    reward: Tensor
    told_next: Tensor
    goes_on: Tensor


class Replay:
    """Room for `capacity` transitions, drawn evenly with the generator it is given."""

    def __init__(self, capacity: int, told: int, choice: int, rng: np.random.Generator) -> None:
        self._rows = np.zeros((capacity, 2 * told + choice + 2), np.float32)
        self._sizes = [told, choice, 1, told, 1]
        self._count, self._rng = 0, rng

    def add(self, told: Array, choice: Array, reward: float, told_next: Array, ended: bool) -> None:
        self._rows[self._count] = np.concatenate([told, choice, [reward], told_next, [not ended]])
        self._count += 1

    def draw(self, count: int) -> Transitions:
        """With repetition."""
        rows = torch.from_numpy(self._rows[self._rng.integers(self._count, size=count)])
        told, choice, reward, told_next, goes_on = torch.split(rows, self._sizes, dim=1)
        return Transitions(told, choice, reward[:, 0], told_next, goes_on[:, 0])


FIRST_TEMPERATURE = 0.1


class LearnerSettings(Protocol):
    """See `SteeringSettings`."""

    @property
    def width(self) -> int: ...
    @property
    def learning_rate(self) -> float: ...
    @property
    def discount(self) -> float: ...
    @property
    def target_rate(self) -> float: ...
    @property
    def entropy(self) -> float: ...


class SoftActorCritic:
    """Learns choices in (-1, 1) of `choice` numbers from `told` numbers. It begins with choices around 0."""

    def __init__(self, told: int, choice: int, settings: LearnerSettings) -> None:
        width = settings.width
        self._settings, self._aim = settings, settings.entropy * choice
        self.actor = layers(told, width, width, 2 * choice)
        nn.init.zeros_(self.actor[-1].weight)  # type: ignore[arg-type]
        nn.init.zeros_(self.actor[-1].bias)  # type: ignore[arg-type]
        self._critics = nn.ModuleList(layers(told + choice, width, width, 1) for _ in range(2))
        self._targets = copy.deepcopy(self._critics).requires_grad_(False)
        self._log_temperature = torch.tensor(math.log(FIRST_TEMPERATURE), requires_grad=True)
        rate = settings.learning_rate
        self._actor_steps = torch.optim.Adam(self.actor.parameters(), rate)
        self._critic_steps = torch.optim.Adam(self._critics.parameters(), rate)
        self._temperature_steps = torch.optim.Adam([self._log_temperature], rate)

    def choose(self, told: Array) -> Array:
        """A random choice (choice,) for (told,)."""
        with torch.no_grad():
            choice: Array = self._drawn(torch.from_numpy(told)[None])[0][0].numpy()
        return choice

    def update(self, batch: Transitions) -> None:
        """One step of the critics, of the actor and of its randomness."""
        self._step(self._critic_steps, self._critic_loss(batch))
        choice, log_density = self._drawn(batch.told)
        # The actor's loss reaches into the critics, whose own gradients are wiped before their next step.
        temperature = self._log_temperature.exp().detach()
        self._step(
            self._actor_steps, (temperature * log_density - self._least(self._critics, batch.told, choice)).mean()
        )
        self._step(self._temperature_steps, -self._log_temperature * (log_density.detach().mean() + self._aim))
        with torch.no_grad():
            for target, critic in zip(self._targets.parameters(), self._critics.parameters(), strict=True):
                target.lerp_(critic, self._settings.target_rate)

    def _critic_loss(self, batch: Transitions) -> Tensor:
        with torch.no_grad():
            choice, log_density = self._drawn(batch.told_next)
            later = self._least(self._targets, batch.told_next, choice) - self._log_temperature.exp() * log_density
            wanted = batch.reward + self._settings.discount * batch.goes_on * later
        told = torch.cat([batch.told, batch.choice], dim=1)
        return sum((F.mse_loss(critic(told)[:, 0], wanted) for critic in self._critics), torch.zeros(()))

    def _drawn(self, told: Tensor) -> tuple[Tensor, Tensor]:
        """Choices (B, choice) and the logarithm of their density (B,)."""
        mean, log_deviation = self.actor(told).chunk(2, dim=1)
        deviation = log_deviation.clamp(*LOG_DEVIATION).exp()
        noise = torch.randn_like(mean)
        inner = mean + deviation * noise
        normal = -0.5 * noise.square() - deviation.log() - 0.5 * math.log(2 * math.pi)
        squashed = 2 * (math.log(2) - inner - F.softplus(-2 * inner))  # log of the slope of tanh
        return inner.tanh(), (normal - squashed).sum(dim=1)

    def _least(self, critics: nn.ModuleList, told: Tensor, choice: Tensor) -> Tensor:
        both = torch.cat([told, choice], dim=1)
        return torch.minimum(*(critic(both)[:, 0] for critic in critics))

    @staticmethod
    def _step(optimiser: torch.optim.Optimizer, loss: Tensor) -> None:
        optimiser.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        optimiser.step()


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

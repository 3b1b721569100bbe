"""Two interfaces of a learned policy, their implementations, and critics of chunks.

A `VelocityField` gives the flow of a noisy chunk; composition and (classifier-free) guidance wrap fields. A
`ChunkSampler` turns noise into chunks; re-ranking (by value, arXiv:2410.13816) and steering of the noise wrap samplers.
A `Critic` is a small network, fitted to rollouts, that predicts how likely and how soon a chunk leads to success.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Protocol

import numpy as np

from llm_planner.errors import InputError
from llm_planner.skills.learned.velocity_field import (
    Array,
    Conditioning,
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


class VelocityField(Protocol):
    """Velocity over chunks of normalised actions; time runs from 0 (noise) to 1 (demonstration)."""

    @property
    def spec(self) -> PolicySpec: ...

    @property
    def actions(self) -> Normaliser:
        """Normaliser of each action (action_dim,)."""
        ...

    def velocity(self, chunks: Array, time: float, conditioning: Conditioning) -> Array:
        """Return velocities at `time` in [0, 1), in the shape of `chunks` (K, horizon, action_dim)."""
        ...


class ChunkSampler(Protocol):
    """Turns noise into chunks of actions in physical units."""

    @property
    def spec(self) -> PolicySpec: ...

    def sample(self, conditioning: Conditioning, noise: Array) -> Array:
        """Return chunks in the shape of `noise` (K, horizon, action_dim), which is standard normal or zero."""
        ...


STEPS = 3  # for shipped policies
STEPS_MAX = 100


class FlowSampler:
    """Integrates a field in equal Euler steps; one step suffices for a field trained by regression."""

    def __init__(self, field: VelocityField, steps: int = STEPS) -> None:
        if not 1 <= steps <= STEPS_MAX:
            raise InputError(f"a flow is integrated in 1 to {STEPS_MAX} steps, not {steps!r}")
        self.field, self.steps = field, steps

    @property
    def spec(self) -> PolicySpec:
        return self.field.spec

    def sample(self, conditioning: Conditioning, noise: Array) -> Array:
        chunks = noise
        for step in range(self.steps):
            chunks = chunks + np.float32(1 / self.steps) * self.field.velocity(chunks, step / self.steps, conditioning)
        return self.field.actions.denormalise(chunks)


SAMPLES = 32
SAMPLES_MAX = 1024


class ChunkCritic(Protocol):
    """Interface of a critic that rates chunks."""

    def values(self, chunks: Array, conditioning: Conditioning) -> Array:
        """Return values (K,), higher is better, for `chunks` (K, horizon, action_dim) in physical units."""
        ...


class Reranked:
    """Sampler that draws `samples` chunks from another, from the given noise and its own.

    It returns as many chunks as requested, best first; on ties, those from the given noise come first.
    """

    def __init__(
        self, sampler: ChunkSampler, critic: ChunkCritic, rng: np.random.Generator, samples: int = SAMPLES
    ) -> None:
        if not 1 <= samples <= SAMPLES_MAX:
            raise InputError(f"a critic picks among 1 to {SAMPLES_MAX} chunks, not {samples!r}")
        self._sampler, self._critic, self._samples, self._rng = sampler, critic, samples, rng

    @property
    def spec(self) -> PolicySpec:
        return self._sampler.spec

    def sample(self, conditioning: Conditioning, noise: Array) -> Array:
        more = max(0, self._samples - len(noise))
        own = self._rng.standard_normal((more, *noise.shape[1:]), dtype=np.float32)
        chunks = self._sampler.sample(conditioning, np.concatenate([noise, own]))
        order = np.argsort(-self._critic.values(chunks, conditioning), kind="stable")
        return chunks[order[: len(noise)]]


MEMBERS = 2  # an ensemble, whose members err independently


@dataclass(frozen=True)
class Rollout:
    """One episode of a policy: conditioning of each request, started `chunks` (T, horizon, action_dim), and outcome."""

    conditionings: Sequence[Conditioning]
    chunks: Array
    succeeded: bool

    def returns(self, discount: float) -> Array:
        """Return the return of each chunk (T,): `discount` to the number of later chunks, 0 after a failure."""
        left = np.arange(len(self.chunks))[::-1]
        return (float(self.succeeded) * discount**left).astype(np.float32)


class Critic:
    """Critic from trained weights: the minimum over an ensemble of success probabilities."""

    def __init__(
        self, spec: PolicySpec, members: Sequence[Mapping[str, Array]], normalisers: Mapping[str, Normaliser]
    ) -> None:
        """Create the critic; `normalisers` are those of the judged policy, by the names in its file."""
        self.spec, self.normalisers = spec, dict(normalisers)
        self.members = [Perceptron(tensors, critic_inputs(spec), 1) for tensors in members]

    def values(self, chunks: Array, conditioning: Conditioning) -> Array:
        seen = condition_vector(conditioning, self.normalisers["observations"], self.normalisers["goals"])
        done = self.normalisers["actions"].normalise(chunks[:, : self.spec.n_action_steps]).reshape(len(chunks), -1)
        inputs = np.concatenate([np.broadcast_to(seen, (len(chunks), len(seen))), done], axis=1).astype(np.float32)
        logits: Array = np.min([member(inputs)[:, 0] for member in self.members], axis=0)
        # Logistic function, written so that it cannot overflow.
        values: Array = 0.5 + 0.5 * np.tanh(0.5 * logits)
        return values


def critic_inputs(spec: PolicySpec) -> int:
    """Return the input size of a critic: the policy's condition and the executed actions."""
    return spec.condition_dim + spec.n_action_steps * spec.action_dim


def save_critic(path: Path, critic: Critic) -> None:
    """Write a critic to `path` atomically."""
    write_tensors(path, _tensors_of(critic), {"critic_of": json.dumps(asdict(critic.spec))})


def load_critic(path: Path) -> Critic:
    """Load a critic; raises InputError if the file is invalid."""
    tensors, metadata = read_tensors(path)
    try:
        spec = read_spec(metadata, "critic_of")
        members = [under(f"members.{index}.", tensors) for index in range(MEMBERS)]
        critic = Critic(spec, members, read_normalisers(tensors, spec))
        refuse_unknown(tensors, _tensors_of(critic))
    except InputError as error:
        raise InputError(f"{path}: {error}") from error
    return critic


def _tensors_of(critic: Critic) -> dict[str, Array]:
    tensors = normaliser_tensors(critic.normalisers)
    for index, member in enumerate(critic.members):
        tensors |= {f"members.{index}.{name}": value for name, value in member.tensors.items()}
    return tensors

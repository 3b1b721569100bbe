"""The two seams of a learned policy. Whatever improves one wraps one of these, so that improvements stack.

A `VelocityField` says where a noisy chunk flows at a time of the flow; composition, guidance and classifier-free
guidance are fields around fields. A `ChunkSampler` makes chunks from noise; re-ranking and steering of the noise are
samplers around samplers.

From noise to a chunk, along a velocity field.

Several chunks are drawn and a critic picks one: re-ranking by value (arXiv:2410.13816).

How likely, and how soon, a chunk leads to success: a small network fitted to what became of rollouts.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
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
    """Over chunks of normalised actions; time runs from 0 (noise) to 1 (what a demonstrator would do)."""

    @property
    def spec(self) -> PolicySpec: ...

    @property
    def actions(self) -> Normaliser:
        """Of each action (action_dim,)."""
        ...

    def velocity(self, chunks: Array, time: float, conditioning: Conditioning) -> Array:
        """Of `chunks` (K, horizon, action_dim) at `time` in [0, 1): the same shape."""
        ...


class ChunkSampler(Protocol):
    """From noise to chunks of actions in their own units."""

    @property
    def spec(self) -> PolicySpec: ...

    def sample(self, conditioning: Conditioning, noise: Array) -> Array:
        """Of `noise` (K, horizon, action_dim), standard normal or zero: the same shape."""
        ...


STEPS = 3  # of a shipped policy
STEPS_MAX = 100


class FlowSampler:
    """Integrates a field in `steps` equal Euler steps; one is enough for a field that was trained by regression."""

    def __init__(self, field: VelocityField, steps: int = STEPS) -> None:
        if not 1 <= steps <= STEPS_MAX:
            raise InputError(f"a flow is integrated in 1 to {STEPS_MAX} steps, not {steps!r}")
        self.field, self.steps = field, steps

    @property
    def spec(self) -> PolicySpec:
        return self.field.spec

    def sample(self, conditioning: Conditioning, noise: Array) -> Array:
        """See `ChunkSampler`."""
        chunks = noise
        for step in range(self.steps):
            chunks = chunks + np.float32(1 / self.steps) * self.field.velocity(chunks, step / self.steps, conditioning)
        return self.field.actions.denormalise(chunks)


SAMPLES = 32
SAMPLES_MAX = 1024


class ChunkCritic(Protocol):
    """Says which chunks are better."""

    def values(self, chunks: Array, conditioning: Conditioning) -> Array:
        """Of `chunks` (K, horizon, action_dim) in their own units: (K,), more is better."""
        ...


class Reranked:
    """A `ChunkSampler` that asks another for `samples` chunks: from the noise it is given, and from noise of its own.

    It gives back as many as it was asked for, the best first; of equals those whose noise was given come first.
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
        """See `ChunkSampler`."""
        more = max(0, self._samples - len(noise))
        own = self._rng.standard_normal((more, *noise.shape[1:]), dtype=np.float32)
        chunks = self._sampler.sample(conditioning, np.concatenate([noise, own]))
        order = np.argsort(-self._critic.values(chunks, conditioning), kind="stable")
        return chunks[order[: len(noise)]]


MEMBERS = 2  # each has its own mistakes


@dataclass(frozen=True)
class Rollout:
    """What a policy was asked each time, the `chunks` (T, horizon, action_dim) that it began, and how it ended."""

    conditionings: Sequence[Conditioning]
    chunks: Array
    succeeded: bool

    def returns(self, discount: float) -> Array:
        """Of each chunk (T,): `discount` to the number of chunks that still followed, 0 after a failure."""
        left = np.arange(len(self.chunks))[::-1]
        return (float(self.succeeded) * discount**left).astype(np.float32)


class Critic:
    """A `ChunkCritic` from trained weights: the least of its members' opinions, each between 0 and 1."""

    def __init__(
        self, spec: PolicySpec, members: Sequence[Mapping[str, Array]], normalisers: Mapping[str, Normaliser]
    ) -> None:
        """`normalisers` are those of the policy that is judged, by the names in its file."""
        self.spec, self.normalisers = spec, dict(normalisers)
        self.members = [Perceptron(tensors, critic_inputs(spec), 1) for tensors in members]

    def values(self, chunks: Array, conditioning: Conditioning) -> Array:
        """See `ChunkCritic`."""
        seen = condition_vector(conditioning, self.normalisers["observations"], self.normalisers["goals"])
        done = self.normalisers["actions"].normalise(chunks[:, : self.spec.n_action_steps]).reshape(len(chunks), -1)
        inputs = np.concatenate([np.broadcast_to(seen, (len(chunks), len(seen))), done], axis=1).astype(np.float32)
        logits: Array = np.min([member(inputs)[:, 0] for member in self.members], axis=0)
        # Half of tanh and a half is the logistic function, and cannot overflow.
        values: Array = 0.5 + 0.5 * np.tanh(0.5 * logits)
        return values


def critic_inputs(spec: PolicySpec) -> int:
    """Numbers that a critic is told: as the policy is, and the actions that would be carried out."""
    return spec.condition_dim + spec.n_action_steps * spec.action_dim


def save_critic(path: Path, critic: Critic) -> None:
    """Write it to `path`, whole or not at all."""
    write_tensors(path, _tensors_of(critic), {"critic_of": json.dumps(critic.spec.to_table())})


def load_critic(path: Path) -> Critic:
    """The critic in `path`; raises InputError that says what is wrong with the file."""
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

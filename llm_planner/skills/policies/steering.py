"""Steering by the noise (DSRL, arXiv:2506.15799): an actor chooses where a chunk begins; the policy stays."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

import numpy as np

from llm_planner.errors import InputError
from llm_planner.skills.policies.conditioning import Array, Conditioning
from llm_planner.skills.policies.field import condition_vector
from llm_planner.skills.policies.normaliser import Normaliser
from llm_planner.skills.policies.perceptron import Perceptron
from llm_planner.skills.policies.seams import ChunkSampler
from llm_planner.skills.policies.spec import PolicySpec
from llm_planner.skills.policies.weights_file import (
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
    metadata = {"actor_of": json.dumps(actor.spec.to_table()), "bound": str(actor.bound)}
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

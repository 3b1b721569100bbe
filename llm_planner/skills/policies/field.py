"""The velocity network run in numpy: torch takes seconds to import and is only needed to train.

A residual MLP guesses the chunk that the demonstrator would have given from a noisy one, x = (1 - t) noise + t chunk;
the velocity is the way from x to that guess in the time that is left.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache

import numpy as np

from llm_planner.errors import InputError
from llm_planner.skills.policies.conditioning import Array, Conditioning
from llm_planner.skills.policies.normaliser import Normaliser
from llm_planner.skills.policies.perceptron import silu
from llm_planner.skills.policies.spec import TIME_FREQUENCIES, PolicySpec

LEAST_TIME_LEFT = 1e-3  # of the flow


def weight_shapes(spec: PolicySpec) -> dict[str, tuple[int, ...]]:
    """Of every tensor of a network of that size."""
    shapes: dict[str, tuple[int, ...]] = {
        "enter.weight": (spec.width, spec.input_dim),
        "enter.bias": (spec.width,),
        "leave.weight": (spec.chunk_dim, spec.width),
        "leave.bias": (spec.chunk_dim,),
    }
    for block in range(spec.depth):
        for layer in ("first", "second"):
            shapes[f"blocks.{block}.{layer}.weight"] = (spec.width, spec.width)
            shapes[f"blocks.{block}.{layer}.bias"] = (spec.width,)
    return shapes


class NetworkField:
    """A `VelocityField` from trained weights; raises InputError where these do not fit the spec."""

    def __init__(
        self,
        spec: PolicySpec,
        weights: Mapping[str, Array],
        observations: Normaliser,
        goals: Normaliser,
        actions: Normaliser,
    ) -> None:
        check_weights(spec, weights)
        self.spec, self.actions = spec, actions
        self.observations, self.goals = observations, goals
        self.weights = {name: np.ascontiguousarray(weights[name], np.float32) for name in weight_shapes(spec)}
        self._transposed = {name: np.ascontiguousarray(self.weights[name].T) for name in self.weights}

    @property
    def normalisers(self) -> dict[str, Normaliser]:
        """By the names of the parameters that take them."""
        return {"observations": self.observations, "goals": self.goals, "actions": self.actions}

    def velocity(self, chunks: Array, time: float, conditioning: Conditioning) -> Array:
        """See `VelocityField`."""
        guess = self.guess(chunks, time, conditioning)
        way: Array = (guess - chunks) / np.float32(max(1.0 - time, LEAST_TIME_LEFT))
        return way

    def guess(self, chunks: Array, time: float, conditioning: Conditioning) -> Array:
        """The normalised chunk (K, horizon, action_dim) that the noisy one is taken for."""
        count, spec = len(chunks), self.spec
        known = np.concatenate([time_features(time), condition_vector(conditioning, self.observations, self.goals)])
        inputs = np.concatenate([chunks.reshape(count, -1), np.broadcast_to(known, (count, len(known)))], axis=1)
        hidden = self._linear("enter", inputs)
        for block in range(spec.depth):
            inner = silu(self._linear(f"blocks.{block}.first", silu(hidden)))
            hidden = hidden + self._linear(f"blocks.{block}.second", inner)
        return self._linear("leave", silu(hidden)).reshape(count, spec.horizon, spec.action_dim)

    def _linear(self, layer: str, inputs: Array) -> Array:
        outputs: Array = inputs @ self._transposed[f"{layer}.weight"] + self.weights[f"{layer}.bias"]
        return outputs


def condition_vector(conditioning: Conditioning, observations: Normaliser, goals: Normaliser) -> Array:
    """What a network is told, normalised (condition_dim,): what is seen, the goal or zeros, whether there is one."""
    seen = observations.normalise(conditioning.observations.astype(np.float32)).ravel()
    goal = conditioning.goal
    wanted = np.zeros(len(goals.mean), np.float32) if goal is None else goals.normalise(goal)
    return np.concatenate([seen, wanted, [np.float32(goal is not None)]]).astype(np.float32)


def check_weights(spec: PolicySpec, weights: Mapping[str, Array]) -> None:
    """Raises InputError naming the first tensor that is missing, of another shape, or not finite."""
    for name, shape in weight_shapes(spec).items():
        if name not in weights:
            raise InputError(f"the weights lack {name!r}, of shape {shape}")
        if weights[name].shape != shape:
            raise InputError(f"{name!r} has the shape {weights[name].shape}, but the policy's sizes ask for {shape}")
        if not np.isfinite(weights[name]).all():
            raise InputError(f"{name!r} holds numbers that are not finite")


@lru_cache(maxsize=256)
def time_features(time: float) -> Array:
    """Sines and cosines of the flow's time (2 * TIME_FREQUENCIES,)."""
    angles = time * np.pi * 2.0 ** np.arange(TIME_FREQUENCIES, dtype=np.float32) / 2
    features: Array = np.concatenate([np.sin(angles), np.cos(angles)]).astype(np.float32)
    return features

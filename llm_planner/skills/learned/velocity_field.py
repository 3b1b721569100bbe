"""Velocity network of a policy, in numpy: torch takes seconds to import and is needed only for training.

A residual MLP predicts the demonstrator's chunk from a noisy one, x = (1 - t) noise + t chunk; the velocity leads from
x to that prediction in the time left. Also contains the conditioning, normalisers and sizes that weights, data and
composed policies share.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, fields
from functools import lru_cache
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from llm_planner.errors import InputError

Array = NDArray[np.float32]


@dataclass(frozen=True)
class Conditioning:
    """Input of a policy: `observations` (n_obs_steps, observation_dim), oldest first; `goal` (goal_dim,) or None."""

    observations: Array
    goal: Array | None = None


LEAST_SCALE = 1e-3  # least deviation that is normalised, so that noise is not amplified


@dataclass(frozen=True)
class Normaliser:
    """Affine normalisation (value - mean) / scale, each (n,)."""

    mean: Array
    scale: Array

    def normalise(self, values: Array) -> Array:
        """Normalise values (..., n)."""
        normal: Array = (values - self.mean) / self.scale
        return normal

    def denormalise(self, values: Array) -> Array:
        """Restore values (..., n)."""
        real: Array = values * self.scale + self.mean
        return real


def fitted(values: Array) -> Normaliser:
    """Fit a normaliser to the rows of `values` (N, n); numbers that do not vary keep scale 1."""
    flat = values.reshape(math.prod(values.shape[:-1]), values.shape[-1])
    if not len(flat):
        return Normaliser(np.zeros(values.shape[-1], np.float32), np.ones(values.shape[-1], np.float32))
    deviation = flat.std(axis=0)
    scale = np.where(deviation < LEAST_SCALE, 1.0, deviation)
    return Normaliser(flat.mean(axis=0).astype(np.float32), scale.astype(np.float32))


OBJECTIVES = ("flow", "regression")
TIME_FREQUENCIES = 8  # sines and cosines that encode the flow time


@dataclass(frozen=True)
class PolicySpec:
    """Sizes of a policy. A chunk has `horizon` actions, of which `n_action_steps` are executed.

    `objective` is the training objective: "flow" (rectified flow, arXiv:2209.03003, 2210.02747) or "regression", the
    same network fitted to the mean of the demonstrations, which a flow gives in one step from zero noise.
    """

    observation_dim: int
    goal_dim: int
    action_dim: int
    n_obs_steps: int = 2
    horizon: int = 16
    n_action_steps: int = 4
    width: int = 192
    depth: int = 3
    objective: str = "flow"

    def __post_init__(self) -> None:
        for name in ("observation_dim", "action_dim", "n_obs_steps", "horizon", "n_action_steps", "width", "depth"):
            value = getattr(self, name)
            if type(value) is not int or value < 1:
                raise InputError(f"{name} of a policy must be a whole number above 0, not {value!r}")
        if type(self.goal_dim) is not int or self.goal_dim < 0:
            raise InputError(f"goal_dim of a policy must be a whole number, 0 or more, not {self.goal_dim!r}")
        if self.n_action_steps > self.horizon:
            raise InputError(f"n_action_steps ({self.n_action_steps}) must not exceed the horizon ({self.horizon})")
        if self.objective not in OBJECTIVES:
            raise InputError(f"objective is {self.objective!r}; the objectives are: {', '.join(OBJECTIVES)}")

    @property
    def chunk_dim(self) -> int:
        return self.horizon * self.action_dim

    @property
    def condition_dim(self) -> int:
        """Numbers in the condition: observations, goal, and whether there is a goal."""
        return self.n_obs_steps * self.observation_dim + self.goal_dim + 1

    @property
    def input_dim(self) -> int:
        return self.chunk_dim + 2 * TIME_FREQUENCIES + self.condition_dim


Spec = TypeVar("Spec")


def spec_from_table(kind: type[Spec], table: Mapping[str, Any]) -> Spec:
    """Read a dataclass of sizes from its `asdict`, lists as tuples; raises InputError for unknown or missing keys."""
    names = {field.name for field in fields(kind)}  # type: ignore[arg-type]  # a dataclass
    wrong = sorted(names ^ set(table), key=str)
    if wrong:
        raise InputError(f"the sizes must be {', '.join(sorted(names))}; {wrong[0]!r} is missing or unknown")
    return kind(**{name: tuple(value) if isinstance(value, list) else value for name, value in table.items()})


LEAST_EXPONENT = np.float32(-80.0)  # e^80 is finite in single precision


def silu(values: Array) -> Array:
    """Return x / (1 + e^-x)."""
    activated: Array = values / (np.float32(1.0) + np.exp(-np.maximum(values, LEAST_EXPONENT)))
    return activated


class Perceptron:
    """MLP with `silu` between layers, from tensors "0.weight" (out, in), "0.bias" (out,), "1.weight" and so on."""

    def __init__(self, tensors: Mapping[str, Array], inputs: int, outputs: int) -> None:
        """Create the layers; raises InputError if they do not map `inputs` numbers to `outputs`."""
        self.tensors = {name: np.ascontiguousarray(value, np.float32) for name, value in tensors.items()}
        count = len(tensors) // 2
        if set(tensors) != {f"{layer}.{part}" for layer in range(count) for part in ("weight", "bias")} or not count:
            raise InputError(f"layers are numbered from 0, each with weight and bias; these are {sorted(tensors)}")
        self._layers = [(self.tensors[f"{layer}.weight"].T, self.tensors[f"{layer}.bias"]) for layer in range(count)]
        sizes = [inputs, *(len(bias) for _, bias in self._layers)]
        for layer, (weight, _) in enumerate(self._layers):
            if weight.shape != (sizes[layer], sizes[layer + 1]):
                raise InputError(
                    f"layer {layer} must take {sizes[layer]} numbers to {sizes[layer + 1]}, not {weight.shape}"
                )
        if sizes[-1] != outputs:
            raise InputError(f"the last layer must give {outputs} numbers, not {sizes[-1]}")
        if not all(np.isfinite(value).all() for value in self.tensors.values()):
            raise InputError("a layer holds numbers that are not finite")

    def __call__(self, inputs: Array) -> Array:
        """Map inputs (K, inputs) to outputs (K, outputs)."""
        hidden = inputs
        for layer, (weight, bias) in enumerate(self._layers):
            hidden = (silu(hidden) if layer else hidden) @ weight + bias
        return hidden


LEAST_TIME_LEFT = 1e-3  # in flow time


def weight_shapes(spec: PolicySpec) -> dict[str, tuple[int, ...]]:
    """Return the shape of each tensor of a network of this size."""
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
    """A `VelocityField` from trained weights; raises InputError if they do not match the spec."""

    def __init__(
        self,
        spec: PolicySpec,
        weights: Mapping[str, Array],
        observations: Normaliser,
        goals: Normaliser,
        actions: Normaliser,
    ) -> None:
        check_tensors(weights, weight_shapes(spec))
        self.spec, self.actions = spec, actions
        self.observations, self.goals = observations, goals
        self.weights = {name: np.ascontiguousarray(weights[name], np.float32) for name in weight_shapes(spec)}
        self._transposed = {name: np.ascontiguousarray(self.weights[name].T) for name in self.weights}

    @property
    def normalisers(self) -> dict[str, Normaliser]:
        """Normalisers by parameter name."""
        return {"observations": self.observations, "goals": self.goals, "actions": self.actions}

    def velocity(self, chunks: Array, time: float, conditioning: Conditioning) -> Array:
        guess = self.guess(chunks, time, conditioning)
        way: Array = (guess - chunks) / np.float32(max(1.0 - time, LEAST_TIME_LEFT))
        return way

    def guess(self, chunks: Array, time: float, conditioning: Conditioning) -> Array:
        """Return the predicted normalised chunks (K, horizon, action_dim) for noisy ones."""
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
    """Return the normalised condition (condition_dim,): observations, goal or zeros, and whether there is a goal."""
    seen = observations.normalise(conditioning.observations.astype(np.float32)).ravel()
    goal = conditioning.goal
    wanted = np.zeros(len(goals.mean), np.float32) if goal is None else goals.normalise(goal)
    return np.concatenate([seen, wanted, [np.float32(goal is not None)]]).astype(np.float32)


def check_tensors(tensors: Mapping[str, Array], shapes: Mapping[str, tuple[int, ...]]) -> None:
    """Raise InputError naming the first tensor of `shapes` that is missing, misshapen or not finite."""
    for name, shape in shapes.items():
        if name not in tensors:
            raise InputError(f"the weights lack {name!r}, of shape {shape}")
        if tensors[name].shape != shape:
            raise InputError(f"{name!r} has the shape {tensors[name].shape}, but the sizes ask for {shape}")
        if not np.isfinite(tensors[name]).all():
            raise InputError(f"{name!r} holds numbers that are not finite")


@lru_cache(maxsize=256)
def time_features(time: float) -> Array:
    """Return sines and cosines of the flow time (2 * TIME_FREQUENCIES,)."""
    angles = time * np.pi * 2.0 ** np.arange(TIME_FREQUENCIES, dtype=np.float32) / 2
    features: Array = np.concatenate([np.sin(angles), np.cos(angles)]).astype(np.float32)
    return features

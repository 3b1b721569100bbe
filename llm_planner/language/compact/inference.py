"""Runs the trained network in plain numpy, so that planning neither needs torch nor waits for its import.

The arithmetic is that of `network.py`; a test holds the two against each other.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from llm_planner.errors import LanguageModelError
from llm_planner.language.compact.encoding import Encoded

Array = NDArray[np.float32]
Weights = dict[str, Array]


def load_weights(folder: Path) -> tuple[Weights, dict[str, int]]:
    """Weights and the network's size, as training wrote them; raises `LanguageModelError` when they are missing."""
    from safetensors.numpy import load_file

    try:
        weights = load_file(folder / "weights.safetensors")
        size = json.loads((folder / "report.json").read_text())["size"]
    except (OSError, KeyError, ValueError) as error:
        raise LanguageModelError(
            f"the compact model's weights cannot be read from {folder} ({error}); "
            "reinstall the package or run `llm-planner train-language`"
        ) from error
    return {name: value.astype(np.float32) for name, value in weights.items()}, size


@dataclass(frozen=True)
class Cache:
    """What decoding keeps of the steps so far: each layer's keys and values (n, t, width), for n hypotheses."""

    keys: tuple[Array, ...]
    values: tuple[Array, ...]

    def choose(self, rows: list[int]) -> Cache:
        """The caches of the given hypotheses."""
        return Cache(tuple(k[rows] for k in self.keys), tuple(v[rows] for v in self.values))


class NumpyNetwork:
    """The encoder and decoder of one command; `decode` scores the next step of several hypotheses at once."""

    def __init__(self, weights: Weights, size: dict[str, int]) -> None:
        self._w = weights
        self._heads = size["heads"]
        self._encoder = [f"encoder.{i}." for i in range(size["encoder_layers"])]
        self._decoder = [f"decoder.{i}." for i in range(size["decoder_layers"])]

    def encode(self, item: Encoded) -> Array:
        """Memory (S, width) of one input."""
        w = self._w
        x = np.stack([w["grams.weight"][list(grams)].mean(0) for grams in item.grams])
        x += w["segment.weight"][item.segment] + w["position.weight"][item.position]
        for name in self._encoder:
            bias = w[name + "match_scale"][:, None, None] * item.match
            y = self._norm(x, name + "norm1")
            attended = self._attend(self._linear(y, name + "attention.query"), *self._keys(y, name + "attention"), bias)
            x = x + self._linear(attended, name + "attention.out")
            x = x + self._feed(self._norm(x, name + "norm2"), name)
        return self._norm(x, "encoded")

    def start(self) -> Cache:
        """The cache before the first step, of one hypothesis."""
        empty = np.zeros((1, 0, self._w["symbol.weight"].shape[1]), np.float32)
        return Cache((empty,) * len(self._decoder), (empty,) * len(self._decoder))

    def prepare(self, memory: Array) -> tuple[tuple[Array, Array], ...]:
        """Keys and values of the memory for every decoder layer's cross attention: once a command."""
        return tuple(self._keys(memory, name + "cross") for name in self._decoder)

    def decode(
        self,
        memory: Array,
        crossed: tuple[tuple[Array, Array], ...],
        cache: Cache,
        previous: NDArray[np.int64],
        pointed: NDArray[np.int64],
        symbol: NDArray[np.int64],
        loops: NDArray[np.int64],
    ) -> tuple[Array, Cache]:
        """Logits (n, productions + S) of the next step of n hypotheses, and their new cache. Inputs have shape (n,)."""
        w = self._w
        copied = self._linear(memory[np.maximum(pointed, 0)], "pointed") * (pointed >= 0)[:, None]
        x = w["previous.weight"][previous] + copied + w["symbol.weight"][symbol] + w["loops.weight"][loops]
        x = (x + w["step.weight"][cache.keys[0].shape[1]])[:, None]  # (n, 1, width)
        keys, values = [], []
        for index, name in enumerate(self._decoder):
            y = self._norm(x, name + "norm1")
            key, value = self._keys(y, name + "attention")
            keys.append(np.concatenate([cache.keys[index], key], axis=1))
            values.append(np.concatenate([cache.values[index], value], axis=1))
            attended = self._attend(self._linear(y, name + "attention.query"), keys[-1], values[-1])
            x = x + self._linear(attended, name + "attention.out")
            y = self._linear(self._norm(x, name + "norm2"), name + "cross.query")
            x = x + self._linear(self._attend(y, *crossed[index]), name + "cross.out")
            x = x + self._feed(self._norm(x, name + "norm3"), name)
        out = self._norm(x[:, 0], "decoded")
        points = self._linear(out, "point_query") @ self._linear(memory, "point_key").T / np.sqrt(memory.shape[1])
        logits: Array = np.concatenate([self._linear(out, "production"), points], axis=1)
        return logits, Cache(tuple(keys), tuple(values))

    def _linear(self, x: Array, name: str) -> Array:
        y: Array = x @ self._w[name + ".weight"].T + self._w[name + ".bias"]
        return y

    def _norm(self, x: Array, name: str) -> Array:
        centred = x - x.mean(-1, keepdims=True)
        scaled = centred / np.sqrt((centred**2).mean(-1, keepdims=True) + 1e-5)
        y: Array = scaled * self._w[name + ".weight"] + self._w[name + ".bias"]
        return y

    def _keys(self, x: Array, name: str) -> tuple[Array, Array]:
        return self._linear(x, name + ".key"), self._linear(x, name + ".value")

    def _feed(self, x: Array, name: str) -> Array:
        return self._linear(np.maximum(self._linear(x, name + "feed.inner"), 0.0), name + "feed.outer")

    def _attend(self, query: Array, key: Array, value: Array, bias: Array | float = 0.0) -> Array:
        """query (..., T, width), key and value (..., S, width), bias broadcastable to (heads, T, S)."""
        q, k, v = (self._split(x) for x in (query, key, value))
        scores = q @ np.swapaxes(k, -1, -2) / np.sqrt(np.float32(q.shape[-1])) + bias
        scores = np.exp(scores - scores.max(-1, keepdims=True))
        mixed = np.swapaxes(scores / scores.sum(-1, keepdims=True) @ v, -2, -3)
        joined: Array = mixed.reshape(*mixed.shape[:-2], -1)
        return joined

    def _split(self, x: Array) -> Array:
        return np.swapaxes(x.reshape(*x.shape[:-1], self._heads, -1), -2, -3)

"""Layers run in numpy, of networks that torch has trained."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from llm_planner.errors import InputError
from llm_planner.skills.policies.conditioning import Array

LEAST_EXPONENT = np.float32(-80.0)  # e to the 80 still is a number in single precision


def silu(values: Array) -> Array:
    """x / (1 + e^-x)."""
    activated: Array = values / (np.float32(1.0) + np.exp(-np.maximum(values, LEAST_EXPONENT)))
    return activated


class Perceptron:
    """Linear layers with `silu` between, from tensors "0.weight" (out, in), "0.bias" (out,), "1.weight" and so on."""

    def __init__(self, tensors: Mapping[str, Array], inputs: int, outputs: int) -> None:
        """Raises InputError where the layers do not lead from `inputs` numbers to `outputs`."""
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
        """Of (K, inputs): (K, outputs)."""
        hidden = inputs
        for layer, (weight, bias) in enumerate(self._layers):
            hidden = (silu(hidden) if layer else hidden) @ weight + bias
        return hidden

"""Numbers of different units brought to one size, and back."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from llm_planner.skills.policies.conditioning import Array

LEAST_SCALE = 1e-3  # of a number that hardly varied: its noise is not blown up


@dataclass(frozen=True)
class Normaliser:
    """(value - mean) / scale, each (n,)."""

    mean: Array
    scale: Array

    def normalise(self, values: Array) -> Array:
        """Of (..., n)."""
        normal: Array = (values - self.mean) / self.scale
        return normal

    def denormalise(self, values: Array) -> Array:
        """Of (..., n)."""
        real: Array = values * self.scale + self.mean
        return real


def fitted(values: Array) -> Normaliser:
    """To the rows of `values` (N, n): mean 0, deviation 1; a number that never varied keeps its scale."""
    flat = values.reshape(math.prod(values.shape[:-1]), values.shape[-1])
    if not len(flat):
        return Normaliser(np.zeros(values.shape[-1], np.float32), np.ones(values.shape[-1], np.float32))
    deviation = flat.std(axis=0)
    scale = np.where(deviation < LEAST_SCALE, 1.0, deviation)
    return Normaliser(flat.mean(axis=0).astype(np.float32), scale.astype(np.float32))

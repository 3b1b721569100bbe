"""What has been tried and what came of it, to learn from more than once."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from llm_planner.skills.policies.conditioning import Array


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

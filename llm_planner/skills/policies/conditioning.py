"""What a policy is asked with: the last observations, and the goal where there is one."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float32]


@dataclass(frozen=True)
class Conditioning:
    """`observations` (n_obs_steps, observation_dim), the oldest first; `goal` (goal_dim,), or None for none."""

    observations: Array
    goal: Array | None = None

    def without_goal(self) -> Conditioning:
        return Conditioning(self.observations)

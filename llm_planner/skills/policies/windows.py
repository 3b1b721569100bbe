"""What a policy is trained on: what was seen, what was wanted, and the chunk that followed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from llm_planner.errors import InputError
from llm_planner.skills.policies.conditioning import Array
from llm_planner.skills.policies.spec import PolicySpec


@dataclass(frozen=True)
class Windows:
    """`observations` (N, n_obs_steps, D), `goals` (N, G), `chunks` (N, horizon, A), each in its own units, and
    `weights` (N,): how often a window is drawn, against the others; 0 is never."""

    observations: Array
    goals: Array
    chunks: Array
    weights: Array

    def __len__(self) -> int:
        return len(self.chunks)

    def drawn(self) -> Windows:
        """Those that are ever drawn."""
        used = self.weights > 0
        return Windows(self.observations[used], self.goals[used], self.chunks[used], self.weights[used])

    def check(self, spec: PolicySpec) -> None:
        """Raises InputError where they do not fit the sizes of a policy, or there is nothing to learn from."""
        expected = {
            "observations": (len(self), spec.n_obs_steps, spec.observation_dim),
            "goals": (len(self), spec.goal_dim),
            "chunks": (len(self), spec.horizon, spec.action_dim),
            "weights": (len(self),),
        }
        for name, shape in expected.items():
            value = getattr(self, name)
            if value.shape != shape:
                raise InputError(f"{name} of the windows have the shape {value.shape}; the policy asks for {shape}")
            if not np.isfinite(value).all():
                raise InputError(f"{name} of the windows are not all finite")
        if not (self.weights >= 0).all() or not self.weights.sum() > 0:
            raise InputError("no window has a weight above 0: there is nothing to learn from")


def joined(parts: Sequence[Windows]) -> Windows:
    """All windows of the parts, in their order."""
    columns = ([getattr(part, name) for part in parts] for name in ("observations", "goals", "chunks", "weights"))
    return Windows(*(np.concatenate(column) for column in columns))


def episode_windows(spec: PolicySpec, observations: Array, goals: Array, actions: Array) -> Windows:
    """One window a step of an episode: `observations` (T, D), `goals` (T, G), `actions` (T, A).

    Before its start the first observation is repeated, after its end the last action: a hand that is done stays.
    """
    steps = np.arange(len(actions))
    seen = np.maximum(steps[:, None] + np.arange(1 - spec.n_obs_steps, 1), 0)
    ahead = np.minimum(steps[:, None] + np.arange(spec.horizon), len(actions) - 1)
    return Windows(observations[seen], goals, actions[ahead], np.ones(len(actions), np.float32))

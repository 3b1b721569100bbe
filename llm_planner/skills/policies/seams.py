"""The two seams of a learned policy. Whatever improves one wraps one of these, so that improvements stack.

A `VelocityField` says where a noisy chunk flows at a time of the flow; composition, guidance and classifier-free
guidance are fields around fields. A `ChunkSampler` makes chunks from noise; re-ranking and steering of the noise are
samplers around samplers.
"""

from __future__ import annotations

from typing import Protocol

from llm_planner.skills.policies.conditioning import Array, Conditioning
from llm_planner.skills.policies.normaliser import Normaliser
from llm_planner.skills.policies.spec import PolicySpec


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

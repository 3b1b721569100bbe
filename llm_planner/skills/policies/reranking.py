"""Several chunks are drawn and a critic picks one: re-ranking by value (arXiv:2410.13816)."""

from __future__ import annotations

from typing import Protocol

import numpy as np

from llm_planner.errors import InputError
from llm_planner.skills.policies.conditioning import Array, Conditioning
from llm_planner.skills.policies.seams import ChunkSampler
from llm_planner.skills.policies.spec import PolicySpec

SAMPLES = 32
SAMPLES_MAX = 1024


class ChunkCritic(Protocol):
    """Says which chunks are better."""

    def values(self, chunks: Array, conditioning: Conditioning) -> Array:
        """Of `chunks` (K, horizon, action_dim) in their own units: (K,), more is better."""
        ...


class Reranked:
    """A `ChunkSampler` that asks another for `samples` chunks: from the noise it is given, and from noise of its own.

    It gives back as many as it was asked for, the best first; of equals those whose noise was given come first.
    """

    def __init__(
        self, sampler: ChunkSampler, critic: ChunkCritic, rng: np.random.Generator, samples: int = SAMPLES
    ) -> None:
        if not 1 <= samples <= SAMPLES_MAX:
            raise InputError(f"a critic picks among 1 to {SAMPLES_MAX} chunks, not {samples!r}")
        self._sampler, self._critic, self._samples, self._rng = sampler, critic, samples, rng

    @property
    def spec(self) -> PolicySpec:
        return self._sampler.spec

    def sample(self, conditioning: Conditioning, noise: Array) -> Array:
        """See `ChunkSampler`."""
        more = max(0, self._samples - len(noise))
        own = self._rng.standard_normal((more, *noise.shape[1:]), dtype=np.float32)
        chunks = self._sampler.sample(conditioning, np.concatenate([noise, own]))
        order = np.argsort(-self._critic.values(chunks, conditioning), kind="stable")
        return chunks[order[: len(noise)]]

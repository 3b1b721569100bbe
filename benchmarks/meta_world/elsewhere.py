"""Chunks for a thing seen a little elsewhere: what differs where a policy hardly answers to its noise."""

from __future__ import annotations

import numpy as np

from llm_planner.skills.policies.conditioning import Array, Conditioning
from llm_planner.skills.policies.seams import ChunkSampler
from llm_planner.skills.policies.spec import PolicySpec

THING, THING_BEFORE = slice(4, 7), slice(22, 25)
SHIFT = np.array([0.015, 0.015, 0.0075], np.float32)  # [m], deviations along x, y and z


class SeenElsewhere:
    """A `ChunkSampler` that deals the noise to `looks`; in each the thing is as far off as the first noise says."""

    def __init__(self, sampler: ChunkSampler, looks: int) -> None:
        self._sampler, self._looks = sampler, looks

    @property
    def spec(self) -> PolicySpec:
        return self._sampler.spec

    def sample(self, conditioning: Conditioning, noise: Array) -> Array:
        """See `ChunkSampler`."""
        dealt = np.array_split(noise, min(self._looks, len(noise)))
        return np.concatenate([self._sampler.sample(_shifted(conditioning, part), part) for part in dealt])


def _shifted(conditioning: Conditioning, noise: Array) -> Conditioning:
    seen = conditioning.observations.copy()
    for place in (THING, THING_BEFORE):
        seen[:, place] += SHIFT * noise[0, -1, :3]  # the noise of the last action, which is hardly ever carried out
    return Conditioning(seen, conditioning.goal)

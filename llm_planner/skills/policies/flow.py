"""From noise to a chunk, along a velocity field."""

from __future__ import annotations

import numpy as np

from llm_planner.errors import InputError
from llm_planner.skills.policies.conditioning import Array, Conditioning
from llm_planner.skills.policies.seams import VelocityField
from llm_planner.skills.policies.spec import PolicySpec

STEPS = 3  # of a shipped policy
STEPS_MAX = 100


class FlowSampler:
    """Integrates a field in `steps` equal Euler steps; one is enough for a field that was trained by regression."""

    def __init__(self, field: VelocityField, steps: int = STEPS) -> None:
        if not 1 <= steps <= STEPS_MAX:
            raise InputError(f"a flow is integrated in 1 to {STEPS_MAX} steps, not {steps!r}")
        self.field, self.steps = field, steps

    @property
    def spec(self) -> PolicySpec:
        return self.field.spec

    def sample(self, conditioning: Conditioning, noise: Array) -> Array:
        """See `ChunkSampler`."""
        chunks = noise
        for step in range(self.steps):
            chunks = chunks + np.float32(1 / self.steps) * self.field.velocity(chunks, step / self.steps, conditioning)
        return self.field.actions.denormalise(chunks)

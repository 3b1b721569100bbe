"""Classifier-free guidance (arXiv:2207.12598): toward what the goal changes, by more or less than was shown."""

from __future__ import annotations

from llm_planner.skills.policies.conditioning import Array, Conditioning
from llm_planner.skills.policies.normaliser import Normaliser
from llm_planner.skills.policies.seams import VelocityField
from llm_planner.skills.policies.spec import PolicySpec


class ClassifierFree:
    """`weight` 0 forgets the goal, 1 is the field as it was trained, more insists on the goal."""

    def __init__(self, field: VelocityField, weight: float) -> None:
        self._field, self._weight = field, weight

    @property
    def spec(self) -> PolicySpec:
        return self._field.spec

    @property
    def actions(self) -> Normaliser:
        return self._field.actions

    def velocity(self, chunks: Array, time: float, conditioning: Conditioning) -> Array:
        """See `VelocityField`."""
        free = self._field.velocity(chunks, time, conditioning.without_goal())
        wanted = self._field.velocity(chunks, time, conditioning)
        velocity: Array = free + self._weight * (wanted - free)
        return velocity

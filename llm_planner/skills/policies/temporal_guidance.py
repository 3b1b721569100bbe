"""A policy kept inside bounds that were said after it was trained, by the robustness of its chunks.

Two ways that stack: the guess of the chunk is moved until it keeps the bound, at every step of the flow (guidance by
robustness, arXiv:2210.17366), and of several chunks those that keep it come first.
"""

from __future__ import annotations

import numpy as np

from llm_planner.errors import InputError
from llm_planner.skills.policies.chunk_robustness import ChunkRobustness
from llm_planner.skills.policies.conditioning import Array, Conditioning
from llm_planner.skills.policies.field import LEAST_TIME_LEFT
from llm_planner.skills.policies.normaliser import Normaliser
from llm_planner.skills.policies.reranking import ChunkCritic
from llm_planner.skills.policies.seams import VelocityField
from llm_planner.skills.policies.spec import PolicySpec

ROUNDS = 24  # of corrections, at each step of the flow
ENOUGH = 1e-4  # short of the margin is near enough
Limits = tuple[float | Array, float | Array]  # of actions (action_dim,), or one for all
UNLIMITED: Limits = (-np.inf, np.inf)


class GuidedField:
    """A `VelocityField` whose guesses are moved until their robustness reaches `margin`, in the unit of the robustness.

    A straight bound is reached exactly. Where nothing leads out, as for a path through the middle of a zone, the guess
    is left short of it: rank several chunks then, and trust the safety filter behind.
    """

    def __init__(
        self, field: VelocityField, robustness: ChunkRobustness, margin: float = 0.0, limits: Limits = UNLIMITED
    ) -> None:
        """`limits` are the least and the most that is carried out of each action: no guess is moved beyond them."""
        if not np.isfinite(margin):
            raise InputError(f"the margin of a bound is a finite number, not {margin!r}")
        if not np.all(np.less(*limits)):
            raise InputError(f"the least of each action must lie below the most; the limits are {limits!r}")
        self._field, self._robustness, self._margin, self._limits = field, robustness, margin, limits

    @property
    def spec(self) -> PolicySpec:
        return self._field.spec

    @property
    def actions(self) -> Normaliser:
        return self._field.actions

    def velocity(self, chunks: Array, time: float, conditioning: Conditioning) -> Array:
        """See `VelocityField`."""
        left = np.float32(max(1.0 - time, LEAST_TIME_LEFT))
        guess = chunks + left * self._field.velocity(chunks, time, conditioning)
        kept = self._raised(self.actions.denormalise(guess), conditioning)
        way: Array = (self.actions.normalise(kept) - chunks) / left
        return way

    def _raised(self, chunks: Array, conditioning: Conditioning) -> Array:
        for _ in range(ROUNDS):
            # What is cut off when it is carried out leads nowhere.
            chunks = np.clip(chunks, *self._limits)
            short = self._margin - self._robustness.values(chunks, conditioning)
            late = (short > ENOUGH) & np.isfinite(short)  # beyond the chunk nothing can be mended
            if not late.any():
                break
            change = self._robustness.ascent(chunks[late], conditioning)
            chunks[late] += short[late, None, None] * change
        return np.clip(chunks, *self._limits)


class LawfulFirst:
    """A `ChunkCritic`: what keeps a bound by `margin` is worth 0 or more, and the rest less the more it breaks it.

    Among what keeps it `critic` decides where there is one, else all are worth the same.
    """

    def __init__(self, robustness: ChunkRobustness, margin: float = 0.0, critic: ChunkCritic | None = None) -> None:
        self._robustness, self._margin, self._critic = robustness, margin, critic

    def values(self, chunks: Array, conditioning: Conditioning) -> Array:
        """See `ChunkCritic`."""
        over = self._robustness.values(chunks, conditioning) - self._margin
        worth = np.zeros_like(over) if self._critic is None else self._critic.values(chunks, conditioning)
        values: Array = np.where(over >= -ENOUGH, worth - worth.min(), np.minimum(over, 0.0))
        return values

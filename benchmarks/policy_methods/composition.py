"""Several policies as one: a convex combination of their velocities, its weights found by trying (arXiv:2510.01068).

Each may have been trained on something else. Plain training on all the data at once is often better where the data are
still at hand; what composes here are the weights alone.

Classifier-free guidance (arXiv:2207.12598): toward what the goal changes, by more or less than was shown.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from llm_planner.errors import InputError
from llm_planner.skills.learned.samplers import VelocityField
from llm_planner.skills.learned.velocity_field import Array, Conditioning, Normaliser, PolicySpec

SHARED = ("horizon", "action_dim", "observation_dim", "n_obs_steps", "goal_dim", "objective")
Weights = tuple[float, ...]


class ComposedField:
    """A `VelocityField` of several, which must agree in sizes, in the units of actions and in how time runs."""

    def __init__(self, fields: Sequence[VelocityField], weights: Sequence[float]) -> None:
        """Raises InputError that names what differs, or for `weights` that are not shares of 1, one a field."""
        _check_weights(len(fields), weights)
        for place, field in enumerate(fields[1:], start=2):
            _check_alike(fields[0], field, place)
        self._parts = [(field, weight) for field, weight in zip(fields, weights, strict=True) if weight > 0]
        self.spec: PolicySpec = fields[0].spec
        self.actions: Normaliser = fields[0].actions

    def velocity(self, chunks: Array, time: float, conditioning: Conditioning) -> Array:
        """See `VelocityField`."""
        velocity = np.zeros_like(chunks)
        for field, weight in self._parts:
            velocity += np.float32(weight) * field.velocity(chunks, time, conditioning)
        return velocity


@dataclass(frozen=True)
class WeightSearch:
    """What was tried, in that order, with the score of each; `best` is the first of the highest score."""

    scores: tuple[tuple[Weights, float], ...]

    @property
    def best(self) -> Weights:
        return max(self.scores, key=lambda tried: tried[1])[0]


def simplex_grid(count: int, parts: int = 4) -> Iterator[Weights]:
    """All shares of 1 among `count` in steps of 1/`parts`: from the first alone to the last alone."""
    if count == 1:
        yield (1.0,)
        return
    for first in range(parts, -1, -1):
        rest = parts - first
        if not rest:
            yield (1.0,) + (0.0,) * (count - 1)
            continue
        for others in simplex_grid(count - 1, rest):
            yield (first / parts, *(share * rest / parts for share in others))


def search_weights(candidates: Iterable[Weights], rollout_score: Callable[[Weights], float]) -> WeightSearch:
    """Scores each of `candidates`, as those of `simplex_grid`; `rollout_score` should roll the same seeds for all.

    The score of the best one flatters it: measure it anew on other seeds before you tell anybody. Raises InputError
    where there is no candidate.
    """
    scores = tuple((weights, rollout_score(weights)) for weights in candidates)
    if not scores:
        raise InputError("there are no weights to choose from; give those of simplex_grid, or a list of your own")
    return WeightSearch(scores)


def _check_weights(count: int, weights: Sequence[float]) -> None:
    if not count or len(weights) != count:
        raise InputError(f"a composition takes one weight for each of its policies, not {len(weights)} for {count}")
    if not all(weight >= 0 for weight in weights) or abs(sum(weights) - 1) > 1e-6:
        raise InputError(f"the weights of a composition are 0 or more and sum to 1; these are {list(weights)}")


def _check_alike(first: VelocityField, other: VelocityField, place: int) -> None:
    for name in SHARED:
        ours, theirs = getattr(first.spec, name), getattr(other.spec, name)
        if ours != theirs:
            raise InputError(
                f"policies compose only with the same {name}: the first has {ours!r}, no. {place} {theirs!r}"
            )
    for part in ("mean", "scale"):
        ours, theirs = getattr(first.actions, part), getattr(other.actions, part)
        if not np.allclose(ours, theirs, rtol=1e-3, atol=1e-6):
            raise InputError(
                f"policies compose only with the same units of actions; their {part} differs: the first has "
                f"{ours.tolist()}, no. {place} {theirs.tolist()}; train both with the same action normaliser"
            )


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
        free = self._field.velocity(chunks, time, Conditioning(conditioning.observations))
        wanted = self._field.velocity(chunks, time, conditioning)
        velocity: Array = free + self._weight * (wanted - free)
        return velocity

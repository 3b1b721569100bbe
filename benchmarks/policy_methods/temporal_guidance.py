"""A policy kept inside bounds that were said after it was trained, by the robustness of its chunks.

Two ways that stack: the guess of the chunk is moved until it keeps the bound, at every step of the flow (guidance by
robustness, arXiv:2210.17366), and of several chunks those that keep it come first.

How far a chunk is from breaking a formula of temporal logic, and what change of it gains most.

Bounds in space that a path may keep: how far each point is from breaking them, and which way leads out.

Where a chunk of actions leads: the points that the hand is told to pass, a linear map of the chunk.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from llm_planner.errors import InputError
from llm_planner.ltl.formula import Formula
from llm_planner.ltl.robustness import robustness
from llm_planner.scene.zones import Zone
from llm_planner.skills.arm_paths import distances
from llm_planner.skills.learned.samplers import ChunkCritic, VelocityField
from llm_planner.skills.learned.velocity_field import LEAST_TIME_LEFT, Array, Conditioning, Normaliser, PolicySpec

Points = NDArray[np.float64]  # (..., 3) [m], in the frame of the actions


@dataclass(frozen=True)
class ChunkPath:
    """Points (P, 3) = `matrix` (P, horizon) times the `columns` of a chunk, from where `start` says; build it below.

    `steps` (P,): when each point is reached, in periods of the actions from now. `start` gives (3,) or (P, 3).
    """

    matrix: Points
    steps: Points
    columns: tuple[int, ...]
    start: Callable[[Conditioning], Points]

    def points(self, chunks: Array, conditioning: Conditioning) -> Points:
        """Of `chunks` (K, horizon, action_dim): (K, P, 3)."""
        points: Points = self.matrix @ chunks[..., self.columns].astype(np.float64) + self.start(conditioning)
        return points

    def pulled_back(self, forces: Points, shape: tuple[int, ...]) -> Points:
        """What `forces` on the points (K, P, 3) are on chunks of that `shape` (K, horizon, action_dim)."""
        back = np.zeros(shape)
        back[..., self.columns] = self.matrix.T @ forces
        return back


def placed_path(horizon: int, columns: Sequence[int] = (0, 1, 2), between: int = 1) -> ChunkPath:
    """Of actions that are places themselves; with `between` - 1 points more on the way from each to the next."""
    steps = np.linspace(1, horizon, (horizon - 1) * between + 1)
    after = steps[:, None] - np.arange(1, horizon + 1)
    return ChunkPath(np.maximum(1 - abs(after), 0), steps, tuple(columns), lambda conditioning: np.zeros(3))


def summed_path(
    horizon: int,
    start: Callable[[Conditioning], Points],
    gone: float | Sequence[float],
    columns: Sequence[int] = (0, 1, 2),
) -> ChunkPath:
    """Of actions that are moves, from where `start` says, by what is seen: a place (3,) [m], or (horizon, 3) where a
    hand would be without a move.

    `gone` [m] is how far a move of 1 leads: at once, or (horizon,) by each step, for a hand that follows late.
    """
    steps = np.arange(1.0, horizon + 1)
    led = np.broadcast_to(np.asarray(gone, float), (horizon,))
    since = steps[:, None] - steps
    return ChunkPath(np.where(since < 0, 0.0, led[since.astype(int)]), steps, tuple(columns), start)


Margins = NDArray[np.float64]
STEP = 1e-5  # [m], of differences
LEAST_SLOPE = 0.5  # that of a distance is 1, less on edges between faces


class Bound(Protocol):
    """A proposition about a point."""

    def margins(self, points: Points) -> Margins:
        """Of (..., 3) [m]: (...), how far [m] it is from changing, positive where the bound is kept."""
        ...

    def outward(self, points: Points) -> Points:
        """Of (..., 3) [m]: the gradient of the margins (..., 3), zero where there is none."""
        ...


@dataclass(frozen=True)
class Below:
    """Lower than `height` [m]."""

    height: float

    def margins(self, points: Points) -> Margins:
        """See `Bound`."""
        return self.height - points[..., 2]

    def outward(self, points: Points) -> Points:
        """See `Bound`."""
        return np.broadcast_to(np.array([0.0, 0.0, -1.0]), points.shape)


@dataclass(frozen=True)
class Outside:
    """Out of `zone`, by its clearance; its pose is in the frame of the points."""

    zone: Zone

    def margins(self, points: Points) -> Margins:
        """See `Bound`."""
        return distances(self.zone, points) - self.zone.clearance

    def outward(self, points: Points) -> Points:
        """See `Bound`."""
        steps = STEP * np.eye(3)
        ahead, behind = (distances(self.zone, points[..., None, :] + side * steps) for side in (1.0, -1.0))
        slope = (ahead - behind) / (2 * STEP)
        # In the very middle of a solid all ways out are alike: what is left there is rounding.
        clear: Points = slope * (np.linalg.norm(slope, axis=-1, keepdims=True) > LEAST_SLOPE)
        return clear


ALIKE = 0.005  # [m]: points so much less critical than the most critical one are moved with it


class ChunkRobustness(Protocol):
    """What guidance needs to know of a bound."""

    def values(self, chunks: Array, conditioning: Conditioning) -> Array:
        """Of `chunks` (K, horizon, action_dim) in their own units: (K,), positive where the bound is kept."""
        ...

    def ascent(self, chunks: Array, conditioning: Conditioning) -> Array:
        """The changes of the chunks, of the same shape, that raise each value by 1, to first order."""
        ...


@dataclass(frozen=True)
class _Critical:
    """The proposition that decides, 1 or -1 if its opposite does, and how far the value is from each point's (P,)."""

    name: str
    sign: float
    apart: Margins


class TemporalRobustness:
    """The robustness of `formula` over the points of a chunk's path, from now; its propositions are `bounds` by name.

    A chunk is judged alone: what was done before it, and what follows, is not.
    """

    def __init__(self, formula: Formula, bounds: Mapping[str, Bound], path: ChunkPath, period: float) -> None:
        """`period` [s] is that of the actions. Raises InputError for no propositions, and for one without a bound."""
        if not formula.propositions:
            raise InputError(f"{formula} speaks of nothing that a path could keep or break; name a bound in it")
        missing = sorted(set(formula.propositions) - set(bounds))
        if missing:
            raise InputError(f"{formula} speaks of {missing[0]!r}; there are bounds of: {', '.join(sorted(bounds))}")
        self._formula, self._path, self._times = formula, path, path.steps * period
        self._bounds = {name: bounds[name] for name in formula.propositions}

    def values(self, chunks: Array, conditioning: Conditioning) -> Array:
        """See `ChunkRobustness`."""
        margins = self._margins(self._path.points(chunks, conditioning))
        return np.array([self._value(margins, row) for row in range(len(chunks))], np.float32)

    def ascent(self, chunks: Array, conditioning: Conditioning) -> Array:
        """See `ChunkRobustness`."""
        points = self._path.points(chunks, conditioning)
        margins = self._margins(points)
        critical = [self._critical(margins, row) for row in range(len(chunks))]
        slopes = {name: self._bounds[name].outward(points) for name in {one.name for one in critical}}
        return np.stack(
            [self._change(one, slopes[one.name][row], chunks[row].shape) for row, one in enumerate(critical)]
        ).astype(np.float32)

    def _margins(self, points: Points) -> dict[str, Margins]:
        return {name: bound.margins(points) for name, bound in self._bounds.items()}

    def _value(self, margins: Mapping[str, Margins], row: int) -> float:
        return float(robustness(self._formula, {name: rows[row] for name, rows in margins.items()}, self._times)[0])

    def _critical(self, margins: Mapping[str, Margins], row: int) -> _Critical:
        """The robustness of a formula is the margin of one proposition at one point, or its opposite: which one."""
        value = self._value(margins, row)
        signed = ((name, sign, sign * rows[row]) for name, rows in margins.items() for sign in (1.0, -1.0))
        return min(
            (_Critical(name, sign, abs(margin - value)) for name, sign, margin in signed),
            key=lambda one: float(one.apart.min()),
        )

    def _change(self, critical: _Critical, slopes: Points, shape: tuple[int, ...]) -> Points:
        apart, forces = critical.apart, critical.sign * slopes
        if not np.isfinite(apart).any():
            return np.zeros(shape)
        one = (np.arange(len(apart)) == apart.argmin())[:, None]
        alone = self._path.pulled_back(one * forces, shape)
        shared = self._path.pulled_back(np.exp(-apart / ALIKE)[:, None] * forces, shape)
        return _gaining_one(alone, shared)


def _gaining_one(alone: Points, shared: Points) -> Points:
    """So much of `shared` that the critical point, which goes `alone`, gains 1; `alone` where others go against it."""
    own = float((alone * alone).sum())
    if own == 0:
        return alone
    gain = float((alone * shared).sum())
    change: Points = shared / gain if gain > own / 2 else alone / own
    return change


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

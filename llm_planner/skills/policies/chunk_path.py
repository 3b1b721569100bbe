"""Where a chunk of actions leads: the points that the hand is told to pass, a linear map of the chunk."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from llm_planner.skills.policies.conditioning import Array, Conditioning

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

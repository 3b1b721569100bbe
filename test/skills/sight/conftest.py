"""A network that sees what it is told to, and one so small that it is trained in no time."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
import pytest

from llm_planner.skills.sight_network import (
    BINS,
    CELL,
    CELL_COLUMNS,
    CELL_ROWS,
    LENGTH,
    NUMBERS,
    ROWS,
    X_MIN,
    Y_MIN,
    Likely,
    SightNetwork,
    SightSpec,
)

SPEC = SightSpec(("block", "bowl"), ("", "red", "blue"), width=4, dilations=(1, 2))
SIDE = CELL * ROWS / CELL_ROWS


@dataclass
class Told:
    """Stands in for a network: each look finds the next of `grasps` (x, y, z, width, opening) [m], then the last."""

    grasps: list[tuple[float, float, float, float, float]]
    nowhere: float = 0.0
    spec: SightSpec = SPEC
    asked: list[tuple[str, str]] = field(default_factory=list)

    def likely(self, table: np.ndarray, kind: str, color: str) -> Likely:
        x, y, *sizes = self.grasps[min(len(self.asked), len(self.grasps) - 1)]
        self.asked.append((kind, color))
        row, column = int((x - X_MIN) / SIDE), int((y - Y_MIN) / SIDE)
        places = np.zeros((BINS, CELL_ROWS, CELL_COLUMNS), np.float32)
        places[BINS // 2, row, column] = 1.0 - self.nowhere
        numbers = np.zeros((len(NUMBERS), CELL_ROWS, CELL_COLUMNS), np.float32)
        offset = x - X_MIN - (row + 0.5) * SIDE, y - Y_MIN - (column + 0.5) * SIDE
        numbers[:, row, column] = np.array([*offset, *sizes]) / LENGTH
        return Likely(places, self.nowhere, numbers)


@pytest.fixture
def told() -> type[Told]:
    return Told


@pytest.fixture
def small() -> Callable[[int], SightNetwork]:
    """A network of drawn weights: `small(seed)`."""

    def make(seed: int) -> SightNetwork:
        rng = np.random.default_rng(seed)
        scale = {name: 1 / np.sqrt(max(1, np.prod(shape[1:]))) for name, shape in SPEC.shapes.items()}
        weights = {n: scale[n] * rng.standard_normal(s) for n, s in SPEC.shapes.items()}
        return SightNetwork(SPEC, {name: value.astype(np.float32) for name, value in weights.items()})

    return make

"""Training of the sight network in torch; `SightNetwork` runs the same weights in numpy.

The network learns where each object in a picture is grasped, and that absent objects are nowhere.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn import functional as F  # noqa: N812  (torch's own convention)

from llm_planner.learning.policy_training import TrainingSettings, fit
from llm_planner.learning.sight_data import Album
from llm_planner.skills.sight_network import (
    BINS,
    CELL,
    CELL_COLUMNS,
    CELL_ROWS,
    CHANNELS,
    COLUMNS,
    LENGTH,
    NUMBERS,
    ROWS,
    X_MIN,
    Y_MIN,
    SightNetwork,
    SightSpec,
    places_of,
)


class SightModule(nn.Module):
    """Sight network in torch, with the parameter names and shapes of `SightSpec.shapes`."""

    def __init__(self, spec: SightSpec) -> None:
        super().__init__()
        self.spec, width = spec, spec.width
        self.first = nn.Conv2d(CHANNELS, spec.fine, 3, stride=2, padding=1)
        self.edges = nn.Conv2d(spec.fine, spec.fine, 3, padding=1)
        self.second = nn.Conv2d(spec.fine, width, 3, stride=2, padding=1)
        self.around = nn.ModuleList(nn.Conv2d(width, width, 3, padding=d, dilation=d) for d in spec.dilations)
        self.leave = nn.Conv2d(width, spec.outputs, 1)
        self.nothing = nn.Parameter(torch.zeros(len(spec.kinds) + len(spec.colors)))

    def forward(self, tables: Tensor) -> Tensor:
        """Map inputs (B, CHANNELS, ROWS, COLUMNS) of `inputs_of` to outputs (B, outputs, CELL_ROWS, CELL_COLUMNS)."""
        with torch.autocast("cpu", torch.bfloat16):  # half the time on processors with bfloat16
            hidden = F.relu(self.first(tables))
            hidden = F.relu(self.second(hidden + F.relu(self.edges(hidden))))
            for layer in self.around:
                hidden = hidden + F.relu(layer(hidden))
        out: Tensor = self.leave(hidden.float())
        return out


BATCH = 8  # pictures per batch
SPREAD = 0.5  # [cells] standard deviation of a grasp position label
PLACES = 5.0  # weight of the regression loss against the position loss
LIGHT = 0.15  # relative range of brightness augmentation per channel
ABSENT = 2  # queries of absent objects per picture
SIDE = CELL * ROWS / CELL_ROWS  # [m] side of a cell
CELLS = CELL_ROWS * CELL_COLUMNS


def train_sight(
    spec: SightSpec, album: Album, seed: int, steps: int, checkpoint: Path | None = None,
    report: Callable[[int, float], None] = lambda step, loss: None, checkpoint_every: int = 100,
) -> SightNetwork:  # fmt: skip
    """Train the sight network; it resumes from `checkpoint` as `policy_training.fit` does.

    `report` receives the number of steps and the loss.
    """
    torch.manual_seed(seed)
    module = SightModule(spec)
    settings = TrainingSettings(
        steps, BATCH, 2e-3, min(200, max(1, steps // 10)), 0.998, checkpoint_every=checkpoint_every
    )
    return SightNetwork(spec, fit(module, Questions(spec, album, seed), settings, checkpoint, report))


@dataclass(frozen=True)
class Asked:
    """Queries about the pictures of a batch, and their labels.

    Attributes:
        rows: Picture, kind and colour of each query (q, 3).
        chances: Probability of each bin and cell, the last of being absent (q, BINS * CELLS + 1).
        of: Query of each regression target (p,).
        cells: Cell of each regression target (p,).
        numbers: Regression targets (p, NUMBERS).
    """

    rows: Tensor
    chances: Tensor
    of: Tensor
    cells: Tensor
    numbers: Tensor


class Questions:
    """Loss on an album with a random batch per step."""

    def __init__(self, spec: SightSpec, album: Album, seed: int) -> None:
        self._spec, self._album, self._seed = spec, album, seed
        self._places = torch.from_numpy(places_of(ROWS, COLUMNS)).permute(2, 0, 1)
        self._shown = [np.flatnonzero(album.shown[:, 0] == row) for row in range(len(album))]
        self._there = [album.there[album.there[:, 0] == row, 1:] for row in range(len(album))]

    @property
    def fingerprint(self) -> str:
        """Identifier of the data, so that checkpoints are not mixed up."""
        digest = hashlib.blake2b(digest_size=16)
        for part in (self._album.pictures, self._album.shown, self._album.grasps):
            digest.update(np.ascontiguousarray(part).tobytes())
        return f"{self._seed} {self._spec} {digest.hexdigest()}"

    def loss(self, network: nn.Module, step: int) -> Tensor:
        """Compute the loss on the batch of this step."""
        rng = np.random.default_rng((self._seed, step))
        rows = rng.integers(0, len(self._album), BATCH)
        asked = self._asked(rows, rng)
        return _loss(self._spec, network, self._tables(rows, rng), asked)

    def _tables(self, rows: NDArray[np.int64], rng: np.random.Generator) -> Tensor:
        """Return network inputs (B, CHANNELS, ROWS, COLUMNS), as `inputs_of`, with random brightness."""
        light = torch.from_numpy(rng.uniform(1 - LIGHT, 1 + LIGHT, (len(rows), 3, 1, 1)).astype(np.float32))
        pictures = torch.from_numpy(self._album.pictures[rows]).permute(0, 3, 1, 2)
        tables = torch.empty((len(rows), CHANNELS, ROWS, COLUMNS))
        tables[:, :3] = (pictures * light).clamp(0, 255) * (2 / 255) - 1.0
        tables[:, 3:] = self._places
        return tables

    def _asked(self, rows: NDArray[np.int64], rng: np.random.Generator) -> Asked:
        shown = np.concatenate([self._shown[row] for row in rows])
        pictures = np.repeat(np.arange(len(rows)), [len(self._shown[row]) for row in rows])
        present = np.column_stack([pictures, self._album.shown[shown, 1:]])
        absent = [(index, *words) for index, row in enumerate(rows) for words in self._absent(row, rng)]
        chances = np.zeros((len(present) + len(absent), BINS * CELLS + 1), np.float32)
        chances[len(present) :, -1] = 1.0
        grasps = self._album.grasps[shown]
        taken = chances[: len(present), :-1].reshape(-1, BINS, CELL_ROWS, CELL_COLUMNS)
        of, cells, numbers = [], [], []
        for index, (x, y, yaw, z, width, opening) in enumerate(grasps.tolist()):
            row, column = (x - X_MIN) / SIDE - 0.5, (y - Y_MIN) / SIDE - 0.5
            for i, j, share in _around(row, column):
                taken[index, :, i, j] = share * _directions(yaw)
                of.append(index)
                cells.append(i * CELL_COLUMNS + j)
                numbers.append([SIDE * (row - i), SIDE * (column - j), z, width, opening])
        taken /= taken.sum(axis=(1, 2, 3), keepdims=True)
        return Asked(
            torch.from_numpy(np.concatenate([present, np.array(absent).reshape(-1, 3)]).astype(np.int64)),
            torch.from_numpy(chances),
            torch.tensor(of),
            torch.tensor(cells),
            torch.tensor(numbers).reshape(-1, len(NUMBERS)) / LENGTH,
        )

    def _absent(self, row: int, rng: np.random.Generator) -> list[tuple[int, int]]:
        """Draw queries of absent objects, often with the kind or the colour of a present one."""
        there = {(int(kind), int(color)) for kind, color in self._there[row]}
        found: list[tuple[int, int]] = []
        for _ in range(ABSENT):
            kind, color = int(rng.integers(len(self._spec.kinds))), int(rng.integers(len(self._spec.colors)))
            if there and rng.random() < 0.6:
                like = sorted(there)[int(rng.integers(len(there)))]
                kind, color = (like[0], color) if rng.random() < 0.5 else (kind, like[1])
            found += [(kind, color)] if (kind, color) not in there else []
        return found


def _around(row: float, column: float) -> list[tuple[int, int, float]]:
    """Return the cells around a position with their Gaussian weights."""
    middle = round(row), round(column)
    near = [(middle[0] + i, middle[1] + j) for i in (-1, 0, 1) for j in (-1, 0, 1)]
    inside = [(i, j) for i, j in near if 0 <= i < CELL_ROWS and 0 <= j < CELL_COLUMNS]
    return [(i, j, float(np.exp(-((i - row) ** 2 + (j - column) ** 2) / (2 * SPREAD**2)))) for i, j in inside]


def _directions(yaw: float) -> NDArray[np.float64]:
    """Distribute a direction over its two nearest bins."""
    place = yaw % np.pi / np.pi * BINS
    low = int(place)
    shares = np.zeros(BINS)
    shares[low % BINS], shares[(low + 1) % BINS] = 1 - (place - low), place - low
    return shares


def _loss(spec: SightSpec, network: nn.Module, tables: Tensor, asked: Asked) -> Tensor:
    out: Tensor = network(tables).flatten(2)  # (B, outputs, CELLS)
    kinds, upto = len(spec.kinds), len(spec.kinds) * BINS
    directions = out[:, :upto].reshape(len(out), kinds, BINS, CELLS)
    colors = out[:, upto : upto + len(spec.colors)]
    numbers = out[:, upto + len(spec.colors) :].reshape(len(out), kinds, len(NUMBERS), CELLS)
    picture, kind, color = asked.rows.unbind(1)
    places = (directions[picture, kind] + colors[picture, color][:, None]).flatten(1)
    nothing = network.get_parameter("nothing")
    nowhere = nothing[kind] + nothing[kinds + color]
    logits = F.log_softmax(torch.cat([places, nowhere[:, None]], dim=1), dim=1)
    where = -(asked.chances * logits).sum(dim=1).mean()
    said = numbers[picture[asked.of], kind[asked.of], :, asked.cells]
    loss: Tensor = where + PLACES * F.smooth_l1_loss(said, asked.numbers, beta=0.1)
    return loss

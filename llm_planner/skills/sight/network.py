"""The network that sees, in numpy: convolutions over the table, and how likely each place is to be the one meant.

Words choose among what it gives, so that one pass serves whatever is asked of a picture: the logit that a thing of a
kind and colour is to be taken at a cell, the fingers closing in a direction, is that of the kind and direction there
and that of the colour there together. A softmax over all cells and directions, and nowhere, makes it one choice out of
several right ones (a bowl has a rim all around), where the mean of them would be none: heatmaps as in
arXiv:1603.06937, with places between the cells as in arXiv:1904.07850.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import product

import numpy as np
from numpy.typing import NDArray

from llm_planner.errors import InputError
from llm_planner.skills.policies.conditioning import Array
from llm_planner.skills.sight.spec import BINS, CHANNELS, NUMBERS, STRIDE, SightSpec
from llm_planner.skills.sight.table_view import COLUMNS, ROWS, Image

CELL_ROWS, CELL_COLUMNS = ROWS // STRIDE, COLUMNS // STRIDE


@dataclass(frozen=True)
class Likely:
    """How likely a thing is to be taken where, `places` (BINS, CELL_ROWS, CELL_COLUMNS); that it is `nowhere`; and
    the `numbers` (NUMBERS, CELL_ROWS, CELL_COLUMNS) with which, see `spec.NUMBERS`."""

    places: Array
    nowhere: float
    numbers: Array


class SightNetwork:
    """`weights` as `SightSpec.shapes` has them; raises InputError where they are not."""

    def __init__(self, spec: SightSpec, weights: Mapping[str, Array]) -> None:
        for name, shape in spec.shapes.items():
            value = weights.get(name)
            if value is None or value.shape != shape or not np.isfinite(value).all():
                raise InputError(f"{name} must be {shape} finite numbers")
        self.spec = spec
        self.weights = {name: np.asarray(weights[name], np.float32) for name in spec.shapes}
        self._kernels = {name: _kernel(value) for name, value in self.weights.items() if name.endswith("weight")}

    def likely(self, table: Image, kind: str, color: str) -> Likely:
        """Of the thing meant by those words, in a picture laid out on the table (ROWS, COLUMNS, 3).

        Raises InputError for words that are not known.
        """
        chosen_kind, chosen_color = self.spec.words(kind, color)
        out, kinds = self._outputs(table), len(self.spec.kinds)
        first = chosen_kind * BINS
        places = out[..., first : first + BINS] + out[..., kinds * BINS + chosen_color][..., None]
        first = kinds * BINS + len(self.spec.colors) + chosen_kind * len(NUMBERS)
        numbers = out[..., first : first + len(NUMBERS)]
        nothing = self.weights["nothing"]
        chances, nowhere = _softmax(places, float(nothing[chosen_kind] + nothing[kinds + chosen_color]))
        return Likely(chances.transpose(2, 0, 1), nowhere, numbers.transpose(2, 0, 1))

    def _outputs(self, table: Image) -> Array:
        """(CELL_ROWS, CELL_COLUMNS, outputs)."""
        hidden = self._convolved("first", inputs_of(table), stride=2)
        hidden = self._convolved("second", hidden + self._convolved("edges", hidden), stride=2)
        for index, dilation in enumerate(self.spec.dilations):
            hidden = hidden + self._convolved(f"around.{index}", hidden, dilation=dilation)
        out: Array = hidden @ self._kernels["leave.weight"] + self.weights["leave.bias"]
        return out

    def _convolved(self, layer: str, image: Array, stride: int = 1, dilation: int = 1) -> Array:
        """A 3 x 3 convolution of (h, w, in), and what of it is above 0."""
        height, width, _ = image.shape
        padded = np.pad(image, ((dilation, dilation), (dilation, dilation), (0, 0)))
        around = [
            padded[i * dilation :, j * dilation :][:height:stride, :width:stride]
            for i, j in product(range(3), range(3))
        ]
        out = np.concatenate(around, axis=2) @ self._kernels[f"{layer}.weight"]
        out += self.weights[f"{layer}.bias"]
        positive: Array = np.maximum(out, 0.0, out=out)
        return positive


def inputs_of(table: Image) -> Array:
    """What the network is shown (ROWS, COLUMNS, CHANNELS): colours and places, about -1 to 1."""
    shown = np.empty((*table.shape[:2], CHANNELS), np.float32)
    shown[..., :3] = table * np.float32(2 / 255) - 1.0
    shown[..., 3:] = places_of(*table.shape[:2])
    return shown


def places_of(rows: int, columns: int) -> Array:
    """Where each cell is, from -1 to 1 (rows, columns, 2)."""
    axes = (np.linspace(-1, 1, rows, dtype=np.float32), np.linspace(-1, 1, columns, dtype=np.float32))
    return np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1)


def _kernel(weight: Array) -> Array:
    """(out, in, h, w) as a matrix (h w in, out)."""
    matrix: Array = weight.transpose(2, 3, 1, 0).reshape(-1, weight.shape[0])
    return np.ascontiguousarray(matrix)


def _softmax(logits: NDArray[np.float32], nowhere: float) -> tuple[Array, float]:
    highest = max(float(logits.max()), nowhere)
    chances, none = np.exp(logits - highest), float(np.exp(nowhere - highest))
    total = float(chances.sum()) + none
    shared: Array = chances / np.float32(total)
    return shared, none / total

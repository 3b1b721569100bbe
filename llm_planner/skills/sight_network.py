"""Vision network in numpy: convolutions over a top view of the table give the probability of each grasp.

A picture of the overview camera is projected onto the table in cells of 5 mm. Flat things keep size and shape there, so
that convolutions apply everywhere alike; tall things lean away from the camera. One pass serves all words: the logit of
a grasp at a cell and closing direction is the sum of those of the kind (per direction) and of the colour. A softmax
over all cells and directions, and "nowhere", selects one of several valid grasps (a bowl has a rim all around) where a
mean would be none of them: heatmaps as in arXiv:1603.06937, with offsets within cells as in arXiv:1904.07850.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from itertools import product

import numpy as np
from numpy.typing import NDArray

from llm_planner.errors import InputError
from llm_planner.skills.hand_geometry import HandPose
from llm_planner.skills.learned.velocity_field import Array, check_tensors

BINS = 12  # bins of the closing direction over half a turn (the fingers are symmetric)
STRIDE = 4  # table cells per side of a network cell
NUMBERS = ("dx", "dy", "z", "width", "opening")  # regressed numbers of a grasp, see `SightNetwork`
LENGTH = 0.02  # [m] unit of these numbers
CHANNELS = 5  # RGB and position on the table


@dataclass(frozen=True)
class SightSpec:
    """Sizes and vocabulary of a network: known `kinds`, `colors` ("" for none), `width`, `dilations` of its layers."""

    kinds: tuple[str, ...]
    colors: tuple[str, ...]
    width: int = 32
    dilations: tuple[int, ...] = (1, 2, 4, 1)

    def __post_init__(self) -> None:
        if not self.kinds or not self.colors or not self.dilations or self.width < 1:
            raise InputError(f"a network that sees needs words, a width and layers, not {self}")

    @property
    def fine(self) -> int:
        """Channels of the first layers, at twice the resolution."""
        return 3 * self.width // 4 or 1

    @property
    def outputs(self) -> int:
        """Outputs per cell: direction logits and `NUMBERS` for each kind, and colour logits."""
        return (BINS + len(NUMBERS)) * len(self.kinds) + len(self.colors)

    @property
    def shapes(self) -> dict[str, tuple[int, ...]]:
        """Shapes of the weights, (out, in, 3, 3) for convolutions; `nothing` holds the logits of "nowhere"."""
        half, width = self.fine, self.width
        shapes: dict[str, tuple[int, ...]] = {"first.weight": (half, CHANNELS, 3, 3), "first.bias": (half,)}
        shapes |= {"edges.weight": (half, half, 3, 3), "edges.bias": (half,)}
        shapes |= {"second.weight": (width, half, 3, 3), "second.bias": (width,)}
        for index in range(len(self.dilations)):
            shapes |= {f"around.{index}.weight": (width, width, 3, 3), f"around.{index}.bias": (width,)}
        shapes |= {"leave.weight": (self.outputs, width, 1, 1), "leave.bias": (self.outputs,)}
        return shapes | {"nothing": (len(self.kinds) + len(self.colors),)}

    def words(self, kind: str, color: str) -> tuple[int, int]:
        """Return the indices of kind and colour; raises InputError, with the known words, for an unknown one."""
        for word, known, what in ((kind, self.kinds, "kind"), (color, self.colors, "colour")):
            if word not in known:
                words = ", ".join(word or "none" for word in known)
                raise InputError(f"sight has not learned the {what} {word or 'none'!r}; it knows: {words}")
        return self.kinds.index(kind), self.colors.index(color)


Image = NDArray[np.uint8]  # (height, width, 3), RGB
Indices = NDArray[np.intp]

# Overview camera of the world `tabletop`; a test compares it with the simulation.
POSITION = (-0.399, -0.657, 1.282)  # [m], base frame
RIGHT, UP = (0.682, -0.731, 0.0), (0.544, 0.507, 0.669)  # axes of the picture in the base frame
FOVY = math.radians(45)

LOOKOUT = HandPose(0.42, -0.13, 0.42, -0.3)  # pose in which the arm hides almost nothing of the table

CELL = 0.005  # [m]
X_MIN, Y_MIN = 0.18, -0.48  # [m] lower edge of the first cell
ROWS, COLUMNS = 128, 208  # along x and y, with a margin for objects that lean out of the workspace
_FINER = 2  # sample points per side of a cell


def laid_out(picture: Image) -> Image:
    """Project an RGB picture (height, width, 3), uint8, onto the table; raises InputError for another shape or type.

    Returns:
        Top view (ROWS, COLUMNS, 3), rows along x, columns along y; black outside the picture.
    """
    if picture.ndim != 3 or picture.shape[2] != 3 or picture.dtype != np.uint8:
        raise InputError(
            f"a picture is (height, width, 3) bytes, red green blue, not {picture.shape} of {picture.dtype}"
        )
    height, width, _ = picture.shape
    pixels = np.zeros((height * width + 1, 3), np.uint16)  # the last pixel is black, for points out of view
    pixels[:-1] = picture.reshape(-1, 3)
    points = _gathered(height, width)
    total = pixels.take(points[0], axis=0)
    for index in points[1:]:
        total += pixels.take(index, axis=0)
    table: Image = (total // len(points)).astype(np.uint8)
    return table.reshape(ROWS, COLUMNS, 3)


@lru_cache(maxsize=4)
def _gathered(height: int, width: int) -> Indices:
    """Return pixel indices of each cell's sample points (points, ROWS * COLUMNS); height * width if out of view."""
    step = CELL / _FINER
    xs = X_MIN + (np.arange(ROWS * _FINER) + 0.5) * step
    ys = Y_MIN + (np.arange(COLUMNS * _FINER) + 0.5) * step
    points = np.stack([*np.meshgrid(xs, ys, indexing="ij"), np.zeros((len(xs), len(ys)))], axis=-1)
    columns, rows = pixels_of(points.reshape(-1, 3), height, width)
    column, row = np.floor(columns).astype(np.intp), np.floor(rows).astype(np.intp)
    seen = (column >= 0) & (column < width) & (row >= 0) & (row < height)
    pixels = np.where(seen, row * width + column, height * width)
    blocks = pixels.reshape(ROWS, _FINER, COLUMNS, _FINER).transpose(1, 3, 0, 2)
    return np.ascontiguousarray(blocks.reshape(_FINER**2, -1))


def pixels_of(points: NDArray[np.float64], height: int, width: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return columns and rows, from the upper left corner, at which a picture shows `points` (n, 3) [m, base frame]."""
    right, up = (np.array(axis) / math.hypot(*axis) for axis in (RIGHT, UP))
    away = points - np.array(POSITION)
    depth = away @ -np.cross(right, up)
    focal = height / 2 / math.tan(FOVY / 2)
    return width / 2 + focal * (away @ right) / depth, height / 2 - focal * (away @ up) / depth


CELL_ROWS, CELL_COLUMNS = ROWS // STRIDE, COLUMNS // STRIDE


@dataclass(frozen=True)
class Likely:
    """Grasp distribution for one object: probabilities `places` (BINS, CELL_ROWS, CELL_COLUMNS).

    `nowhere` is the probability that the object is not visible, `numbers` (NUMBERS, CELL_ROWS, CELL_COLUMNS) describe
    the grasp in each cell, see `NUMBERS`.
    """

    places: Array
    nowhere: float
    numbers: Array


class SightNetwork:
    """Network with `weights` in the shapes of `SightSpec.shapes`; raises InputError for others."""

    def __init__(self, spec: SightSpec, weights: Mapping[str, Array]) -> None:
        check_tensors(weights, spec.shapes)
        self.spec = spec
        self.weights = {name: np.asarray(weights[name], np.float32) for name in spec.shapes}
        self._kernels = {  # matrices (h w in, out)
            name: np.ascontiguousarray(value.transpose(2, 3, 1, 0).reshape(-1, value.shape[0]))
            for name, value in self.weights.items()
            if name.endswith("weight")
        }

    def likely(self, table: Image, kind: str, color: str) -> Likely:
        """Return the grasp distribution of the object with that kind and colour.

        `table` is a top view (ROWS, COLUMNS, 3). Raises InputError for unknown words.
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
        hidden = self._convolved("first", inputs_of(table), stride=2)
        hidden = self._convolved("second", hidden + self._convolved("edges", hidden), stride=2)
        for index, dilation in enumerate(self.spec.dilations):
            hidden = hidden + self._convolved(f"around.{index}", hidden, dilation=dilation)
        out: Array = hidden @ self._kernels["leave.weight"] + self.weights["leave.bias"]
        return out

    def _convolved(self, layer: str, image: Array, stride: int = 1, dilation: int = 1) -> Array:
        """Apply a 3 x 3 convolution to (h, w, in), then a ReLU."""
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
    """Return the network input (ROWS, COLUMNS, CHANNELS): colours and positions in about [-1, 1]."""
    shown = np.empty((*table.shape[:2], CHANNELS), np.float32)
    shown[..., :3] = table * np.float32(2 / 255) - 1.0
    shown[..., 3:] = places_of(*table.shape[:2])
    return shown


def places_of(rows: int, columns: int) -> Array:
    """Return the position of each cell in [-1, 1], (rows, columns, 2)."""
    axes = (np.linspace(-1, 1, rows, dtype=np.float32), np.linspace(-1, 1, columns, dtype=np.float32))
    return np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1)


def _softmax(logits: NDArray[np.float32], nowhere: float) -> tuple[Array, float]:
    highest = max(float(logits.max()), nowhere)
    chances, none = np.exp(logits - highest), float(np.exp(nowhere - highest))
    total = float(chances.sum()) + none
    shared: Array = chances / np.float32(total)
    return shared, none / total

"""Controls over time from a few knots: a linear map, so that a whole batch of them is one product of matrices."""

from __future__ import annotations

from typing import Literal

import numpy as np
from numpy.typing import NDArray

from llm_planner.errors import InputError

Array = NDArray[np.float64]
Interpolation = Literal["hold", "linear", "cubic"]
INTERPOLATIONS: tuple[Interpolation, ...] = ("hold", "linear", "cubic")


def basis(times: Array, count: int, horizon: float, interpolation: Interpolation) -> Array:
    """B (len(times), count) with controls = B @ knots, for `count` knots spread evenly over [0, `horizon`] s.

    "hold" keeps each knot until the next, "linear" goes straight, "cubic" is smooth (Catmull and Rom, 1974). Before the
    first and after the last knot these hold. Raises InputError for fewer than two knots, or no time.
    """
    if interpolation not in INTERPOLATIONS:
        raise InputError(f"there is no interpolation {interpolation!r}; choose one of: {', '.join(INTERPOLATIONS)}")
    if count < 2 or not horizon > 0:
        raise InputError(f"a spline needs two knots or more and a horizon above 0 s, not {count} and {horizon:g} s")
    place = np.clip(np.asarray(times, dtype=np.float64) / horizon * (count - 1), 0.0, count - 1)
    index = np.minimum((place + 1e-9).astype(np.intp), count - 2)
    share = place - index
    if interpolation == "hold":
        matrix: Array = np.eye(count)[index + (share >= 1.0 - 1e-9)]
        return matrix
    rows = np.arange(len(place))
    matrix = np.zeros((len(place), count))
    if interpolation == "linear":
        matrix[rows, index], matrix[rows, index + 1] = 1.0 - share, share
        return matrix
    values, slopes = np.eye(count), np.gradient(np.eye(count), axis=0)
    square, cube = share**2, share**3
    for weight, rows_of in (
        (2 * cube - 3 * square + 1, values[index]),
        (cube - 2 * square + share, slopes[index]),
        (3 * square - 2 * cube, values[index + 1]),
        (cube - square, slopes[index + 1]),
    ):
        matrix += weight[:, None] * rows_of
    return matrix

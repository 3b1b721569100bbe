"""How sure a share is that was counted in trials."""

from __future__ import annotations

import math

Z = 1.959964  # deviations of a normal distribution around 95 % of it


def wilson(successes: int, trials: int) -> tuple[float, float]:
    """The 95 % interval of a success rate (Wilson, 1927)."""
    z, n = Z, max(trials, 1)
    rate, z2 = successes / n, z**2 / n
    middle = (rate + z2 / 2) / (1 + z2)
    half = z / (1 + z2) * math.sqrt(rate * (1 - rate) / n + z2 / (4 * n))
    return max(0.0, middle - half), min(1.0, middle + half)

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


def paired_difference(both: int, first: int, second: int, neither: int) -> tuple[float, float]:
    """The 95 % interval of how much likelier the first of two is to succeed than the second, tried in pairs.

    Args:
        both: pairs in which both succeeded.
        first: pairs in which only the first succeeded.
        second: pairs in which only the second succeeded.
        neither: pairs in which both failed.

    Returns:
        Lower and upper end of the difference of the two rates (Newcombe, 1998, method 10).
    """
    n = max(1, both + first + second + neither)
    p, q = (both + first) / n, (both + second) / n
    (p_low, p_high), (q_low, q_high) = wilson(both + first, n), wilson(both + second, n)
    marginals = (both + first) * (second + neither) * (both + second) * (first + neither)
    correlation = (both * neither - first * second) / math.sqrt(marginals) if marginals else 0.0
    down, up = (
        math.sqrt(max(0.0, a**2 - 2 * correlation * a * b + b**2))
        for a, b in ((p - p_low, q_high - q), (p_high - p, q - q_low))
    )
    return p - q - down, p - q + up

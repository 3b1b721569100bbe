"""What "a bit" is worth.

It is a share of the size of what is moved, and half of what came before where the direction turns round.
"""

from __future__ import annotations

from collections.abc import Mapping

from llm_planner.correction.requests import Size
from llm_planner.language.grounding.amounts import Amount
from llm_planner.world.scene import Scene, SceneObject

SHARES: Mapping[Size, float] = {Size.BIT: 0.5, Size.PLAIN: 1.0, Size.MUCH: 2.0}  # of the size of what is moved
SMALLEST = 0.02  # [m] that a thing counts as
NO_THING = 0.04  # [m] that the size is where nothing is taken or held
BASE = 0.4  # [m] that it is for a mobile robot


def thing_size(item: SceneObject | None, scene: Scene) -> float:
    """What an amount without a number is a share of [m]: the smaller of the thing's horizontal extents."""
    if scene.building is not None:
        return BASE
    return max(SMALLEST, min(item.size[:2])) if item is not None else NO_THING


def shift_length(size: Size, amount: Amount | None, reference: float, reversed_from: float = 0.0) -> float:
    """How far to go [m, rounded to a millimetre]: as it was said; else by the size of the thing, `reference` [m].

    `reversed_from` is the length of the shift before where this one goes against it [m], else 0: half of that is gone
    back, unless much was asked for.
    """
    if amount is not None:
        return round(amount.value, 3)
    if reversed_from and size is not Size.MUCH:
        return round(reversed_from / 2, 3)
    return round(SHARES[size] * reference, 3)

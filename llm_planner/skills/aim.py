"""What a script has decided before it moves: where the hand is to go, and the numbers with which it will act there.

A learned skill asks its demonstrator for this alone: where is geometry, how is learned.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field

from llm_planner.skills.gripper_shape import Grip

HEIGHTS = ("cruise", "lift", "retreat")  # over the grip [m], among the numbers of an aim
HIGHER = 0.02  # [m] above them that a hand may come


@dataclass(frozen=True)
class Aim:
    """`grip` is where the hand does what it is for. `heading` [rad] is the direction that counts there, in the base
    frame; that from the base to the grip where it is None. `numbers` are named: openings, heights over the grip [m];
    a `depth` is how far the hand goes below it. `start` is where the hand must be before it does that, if anywhere.
    """

    grip: Grip
    numbers: Mapping[str, float] = field(default_factory=dict)
    heading: float | None = None
    start: Grip | None = None

    @property
    def lowest(self) -> float:
        """The height [m] below which the hand has nothing to do."""
        return self.grip.z - self.numbers.get("depth", 0.0)

    @property
    def highest(self) -> float:
        """The height [m] above which it has nothing to do either; no limit where none is said."""
        heights = [self.numbers[name] for name in HEIGHTS if name in self.numbers]
        return self.grip.z + max(heights) + HIGHER if "cruise" in self.numbers else math.inf

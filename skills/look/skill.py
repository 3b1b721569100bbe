"""Look around by turning once on the spot."""

import math

from llm_planner import Base, Script
from llm_planner.skills.contract import Arguments
from llm_planner.skills.paths import drive as plan

__all__ = ["move", "plan"]

QUARTERS = 4  # turns that are a whole one


def move(base: Base, arguments: Arguments) -> Script:
    """Turn once on the spot."""
    start = base.yaw
    for quarter in range(1, QUARTERS + 1):
        yield from base.turn("look", start + quarter * math.pi / 2)

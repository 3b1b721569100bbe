"""Bounds in space that a path may keep: how far each point is from breaking them, and which way leads out."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from llm_planner.control.zones import Zone
from llm_planner.skills.policies.chunk_path import Points
from llm_planner.skills.zone_distance import distances

Margins = NDArray[np.float64]
STEP = 1e-5  # [m], of differences
LEAST_SLOPE = 0.5  # that of a distance is 1, less on edges between faces


class Bound(Protocol):
    """A proposition about a point."""

    def margins(self, points: Points) -> Margins:
        """Of (..., 3) [m]: (...), how far [m] it is from changing, positive where the bound is kept."""
        ...

    def outward(self, points: Points) -> Points:
        """Of (..., 3) [m]: the gradient of the margins (..., 3), zero where there is none."""
        ...


@dataclass(frozen=True)
class Below:
    """Lower than `height` [m]."""

    height: float

    def margins(self, points: Points) -> Margins:
        """See `Bound`."""
        return self.height - points[..., 2]

    def outward(self, points: Points) -> Points:
        """See `Bound`."""
        return np.broadcast_to(np.array([0.0, 0.0, -1.0]), points.shape)


@dataclass(frozen=True)
class Outside:
    """Out of `zone`, by its clearance; its pose is in the frame of the points."""

    zone: Zone

    def margins(self, points: Points) -> Margins:
        """See `Bound`."""
        return distances(self.zone, points) - self.zone.clearance

    def outward(self, points: Points) -> Points:
        """See `Bound`."""
        steps = STEP * np.eye(3)
        ahead, behind = (distances(self.zone, points[..., None, :] + side * steps) for side in (1.0, -1.0))
        slope = (ahead - behind) / (2 * STEP)
        # In the very middle of a solid all ways out are alike: what is left there is rounding.
        clear: Points = slope * (np.linalg.norm(slope, axis=-1, keepdims=True) > LEAST_SLOPE)
        return clear

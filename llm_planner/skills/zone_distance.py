"""How far points are from a zone's solid, many at once: what paths of the hand are judged by."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from llm_planner.control.zones import Shape, Zone, half_sides
from llm_planner.world.geometry import rotation_matrix

Array = NDArray[np.float64]


def distances(zone: Zone, points: Array) -> Array:
    """From each of `points` (..., 3) [m, the frame of the zone's pose] to the solid [m], negative inside: (...)."""
    local = np.abs((points - zone.pose.position) @ np.array(rotation_matrix(zone.pose.orientation)))
    if zone.shape is Shape.SPHERE:
        return _length(local) - zone.size[0]
    if zone.shape is Shape.CAPSULE:
        local[..., 2] = np.maximum(local[..., 2] - zone.size[1], 0.0)
        return _length(local) - zone.size[0]
    if zone.shape is Shape.CYLINDER:
        local = np.stack([np.hypot(local[..., 0], local[..., 1]), local[..., 2]], axis=-1)
    outside = local - np.array(zone.size)
    distance: Array = _length(np.maximum(outside, 0.0)) + np.minimum(outside.max(axis=-1), 0.0)
    return distance


def half_widths(zone: Zone) -> Array:
    """Half the sides of the upright box around the solid (3,) [m]."""
    widths: Array = np.abs(rotation_matrix(zone.pose.orientation)) @ np.array(half_sides(zone.shape, zone.size))
    return widths


def _length(vectors: Array) -> Array:
    length: Array = np.sqrt((vectors * vectors).sum(axis=-1))
    return length

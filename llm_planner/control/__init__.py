"""Control layer: turns the motion references of skills into joint commands within the robot's limits."""

from __future__ import annotations

"""Language to rewards: reward terms over the scene, optimised by sampling in physics, executed as a reference."""

from __future__ import annotations

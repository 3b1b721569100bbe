"""Language to rewards: what is wanted as terms over the scene, found by sampling in physics, given as a reference."""

from __future__ import annotations

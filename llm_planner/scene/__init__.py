"""The robot's model of its surroundings: scene, named places, predicates and free space."""

from __future__ import annotations

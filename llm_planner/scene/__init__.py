"""What the robot knows of its surroundings: scene, named places, predicates, grounding."""

from __future__ import annotations

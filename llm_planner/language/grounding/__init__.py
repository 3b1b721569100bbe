"""Grounding of words in a scene: names, amounts and references."""

from __future__ import annotations

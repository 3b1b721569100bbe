"""Imitation learning of skills: demonstrations, datasets, training, evaluation and parallel workers."""

from __future__ import annotations

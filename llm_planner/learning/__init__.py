"""How skills are learned: demonstrations and how they are kept, training, evaluation, and work over many cores."""

from __future__ import annotations

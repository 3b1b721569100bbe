"""Search for a sequence of skill calls that keeps every constraint and reaches every goal."""

from __future__ import annotations

"""Plans that obey: a search among skill calls for a sequence that keeps every constraint and reaches every goal."""

from __future__ import annotations

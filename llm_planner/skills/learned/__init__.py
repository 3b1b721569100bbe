"""Skills whose motion was learned: what they see, how they act, and how one is run."""

from __future__ import annotations

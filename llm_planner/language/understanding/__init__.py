"""From a command to its task and its constraints: readings, grounding, the vote over them, and what to ask."""

from __future__ import annotations

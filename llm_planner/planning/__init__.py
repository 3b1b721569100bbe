"""Plans, their steps, and execution as (state, event) -> (state, commands)."""

from __future__ import annotations

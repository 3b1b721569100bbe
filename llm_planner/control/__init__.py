"""From the motion a skill wants to joint commands that never break a limit."""

from __future__ import annotations

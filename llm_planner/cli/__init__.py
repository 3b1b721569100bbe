"""The commands of `llm-planner`."""

from __future__ import annotations

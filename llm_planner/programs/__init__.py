"""Policy programs: the allowed subset of Python, its checker and its interpreter."""

from __future__ import annotations

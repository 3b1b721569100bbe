"""The world `rooms`: a building, a mobile robot in it, things to fetch and people to visit."""

from __future__ import annotations

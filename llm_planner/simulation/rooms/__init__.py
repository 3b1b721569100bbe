"""The world `rooms`: a building with a mobile robot, objects to fetch and people to visit."""

from __future__ import annotations

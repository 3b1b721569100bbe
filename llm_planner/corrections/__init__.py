"""From what a person says while the robot works to an edit of the running plan, checked before it takes effect."""

from __future__ import annotations

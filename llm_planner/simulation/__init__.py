"""MuJoCo worlds, cameras and stepping; no ROS here."""

from __future__ import annotations

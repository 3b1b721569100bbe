"""MuJoCo worlds, cameras and stepping, without ROS."""

from __future__ import annotations

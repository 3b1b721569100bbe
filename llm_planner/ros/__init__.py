"""ROS 2 nodes and message conversions around the core; the only package that imports rclpy."""

from __future__ import annotations

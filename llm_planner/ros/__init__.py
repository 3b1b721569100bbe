"""Thin ROS shells around the core; the only package that imports rclpy."""

from __future__ import annotations

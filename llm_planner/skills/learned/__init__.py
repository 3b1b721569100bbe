"""Learned skills: observations, actions, policies, and how they run."""

from __future__ import annotations

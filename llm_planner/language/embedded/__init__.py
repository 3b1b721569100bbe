"""The embedded model: one small pretrained model in process that reads commands, rules and corrections."""

from __future__ import annotations

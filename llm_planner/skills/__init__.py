"""The skill library: the contract, the loader of `skills/<name>/skill.yaml`, and the scripted skills."""

from __future__ import annotations

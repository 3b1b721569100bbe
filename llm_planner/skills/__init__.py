"""Skills: the contract, the manifest loader (`skills/<name>/skill.yaml`), and scripted, learned and remote skills."""

from __future__ import annotations

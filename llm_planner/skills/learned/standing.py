"""Whether a policy is to move its skill: only where trials on commands have shown it no worse than its script."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

REPORT_FILE, POLICY_FILE = "report.json", "policy.safetensors"
POLICY, SCRIPT = "policy", "script"


def digest(path: Path) -> str:
    """Tells one file from another."""
    return hashlib.blake2b(path.read_bytes(), digest_size=16).hexdigest()


def policy_moves(folder: Path) -> bool:
    """Whether the report in a skill's folder says that the policy beside it is to move the skill.

    False where there is no policy, no such report, or one of other weights or of trials without commands.
    """
    try:
        report = json.loads((folder / REPORT_FILE).read_text(encoding="utf-8"))
        return bool(report["policy"] == digest(folder / POLICY_FILE) and report["commands"]["mover"] == POLICY)
    except (OSError, ValueError, KeyError, TypeError):
        return False

"""Lookup of the data folders that ship with the package: `sim/`, `skills/`, `config/`, `launch/`."""

from __future__ import annotations

import os
import shlex
import sys
from collections.abc import Iterator
from pathlib import Path

from llm_planner.errors import InputError


def share_folder(name: str) -> Path:
    """Find the data folder `name` ("sim", "skills", ...) in a checkout, a virtual environment or a ROS workspace.

    Raises:
        InputError: The folder is missing; the message lists the searched places.
    """
    tried = [root / name for root in _roots()]
    for folder in tried:
        if folder.is_dir():
            return folder
    listing = ", ".join(str(folder) for folder in tried)
    raise InputError(f"the data folder {name!r} is missing; looked in {listing}; install llm_planner again")


def skill_command(verb: str, folder: Path, *options: str) -> str:
    """Return the shell command that applies `verb` (train, evaluate) to the skill in `folder`."""
    library = () if folder.parent == share_folder("skills") else ("--skills", str(folder.parent))
    return shlex.join(["llm-planner", verb, folder.name, *library, *options])


def _roots() -> Iterator[Path]:
    yield Path(__file__).resolve().parent.parent  # a source checkout
    yield Path(sys.prefix) / "share" / "llm_planner"
    for prefix in filter(None, os.environ.get("AMENT_PREFIX_PATH", "").split(os.pathsep)):
        yield Path(prefix) / "share" / "llm_planner"

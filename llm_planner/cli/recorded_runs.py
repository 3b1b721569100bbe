"""Where the commands look for recorded runs, and how they show times."""

from __future__ import annotations

import argparse
import os
from pathlib import Path

from llm_planner.recording.reading import Recording, find_recording


def add_run_argument(parser: argparse.ArgumentParser) -> None:
    """Add the recording that a command is about."""
    parser.add_argument(
        "run",
        nargs="?",
        default="",
        help="a recording: the folder of a demo (runs/…), an .mcap file, or a name that `llm-planner runs` lists "
        "(default: the newest)",
    )


def requested_recording(args: argparse.Namespace) -> Recording:
    """Return the recording; raise InputError if there is none, with those that there are."""
    return find_recording(args.run, run_folders())


def run_folders() -> list[Path]:
    """Return the folders with recordings: of demos started here, and of the systems of this user."""
    home = Path(os.environ.get("ROS_HOME") or Path.home() / ".ros") / "llm_planner"
    return [Path("runs"), *(folder for folder in sorted(home.glob("**/recordings")) if folder.is_dir())]

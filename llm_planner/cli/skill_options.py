"""Which skills a command or a system uses, and what moves the robot."""

from __future__ import annotations

import argparse
from pathlib import Path


def add_skill_options(parser: argparse.ArgumentParser) -> None:
    add_library_argument(parser)
    parser.add_argument("--scripted", action="store_true", help="let scripts move, also where a policy was learned")


def add_library_argument(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--skills", type=Path, metavar="FOLDER", help="your own library (default: the one that ships)")

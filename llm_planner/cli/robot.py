"""`llm-planner robot list` and `robot check NAME`: the arms, and whether one is described well."""

from __future__ import annotations

import argparse
from pathlib import Path

from rich.console import Console
from rich.table import Table
from rich.text import Text

from llm_planner.cli.answers import check_output
from llm_planner.cli.terminal import Grade, show_findings, wide_console
from llm_planner.errors import InputError, LlmPlannerError
from llm_planner.robots.arm_model import arm_model
from llm_planner.robots.robot_folders import ROBOT_FILE, default_name, shipped_names

OWN = Path("my_robots")


def add_robot_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("action", help="list, or check")
    parser.add_argument("name", nargs="?", default="", help="check: name of an arm that ships, or folder of your own")
    parser.add_argument("--picture", type=Path, metavar="FILE", help="check: write a picture of the arm at home (.png)")


def run_robot(args: argparse.Namespace) -> int:
    """List the arms, or check one; return exit status 0 if nothing is wrong."""
    if args.action == "list":
        return _list()
    if args.action != "check":
        raise InputError(f"llm-planner robot lists or checks: 'list' or 'check NAME', not {args.action!r}")
    if not args.name:
        raise InputError(f"name the arm to check, e.g. llm-planner robot check {OWN}/mine; 'robot list' shows them")
    from llm_planner.cli.new_robot import fetched_robot

    return _check(fetched_robot(args.name), args.picture)


def _list() -> int:
    own = sorted(str(path.parent) for path in OWN.glob(f"*/{ROBOT_FILE}"))
    console, table = Console(highlight=False), Table(box=None, pad_edge=False)
    for column in ("robot", "joints", "reach at the table", "description"):
        table.add_column(column, no_wrap=True)
    for name in (*shipped_names(), *own):
        try:
            arm = arm_model(name)
        except InputError as error:
            table.add_row(name, "", "", Text(str(error), style="red"))
            continue
        nearest, farthest = arm.shape.table_range
        table.add_row(name, str(arm.nq), f"{nearest:g} to {farthest:g} m", arm.source.name)
    console.print(table)
    print(f"Without --robot it is {default_name()}.")
    print(f"Add yours: llm-planner new robot NAME --urdf FILE writes {OWN}/NAME. Use it: --robot {OWN}/NAME.")
    print("--robot menagerie:NAME downloads an arm of MuJoCo Menagerie.")
    return 0


def _check(name: str, picture: Path | None) -> int:
    """Print a table of the checks; the arrows say what to do."""
    from llm_planner.cli.robot_checks import checks, draw

    if picture is not None:
        check_output("--picture", picture, ".png")
    grades = show_findings(checks(name), wide_console())
    wrong = grades.count(Grade.WRONG)
    if picture is not None:
        try:
            draw(name, picture)
            print(f"wrote {picture}")
        except LlmPlannerError as error:  # an arm that is wrong cannot always be drawn
            print(f"{picture} is not written: {error}")
    doubts = f", {grades.count(Grade.DOUBTFUL)} to look at" if Grade.DOUBTFUL in grades else ""
    print(f"{wrong} wrong{doubts}; see the arrows." if wrong else f"Nothing is wrong{doubts}. Use it: --robot {name}")
    return 1 if wrong else 0

"""`llm-planner robot list` and `robot check NAME`: the arms, and whether one is described well."""

from __future__ import annotations

import argparse
from pathlib import Path

from llm_planner.cli.menagerie import fetched_robot
from llm_planner.cli.robot_checks import Grade, checks, draw
from llm_planner.errors import InputError, LlmPlannerError

OWN = Path("my_robots")
PIPED = 120  # columns


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("action", help="list, or check")
    parser.add_argument("name", nargs="?", default="", help="check: name of an arm that ships, or folder of your own")
    parser.add_argument("--picture", type=Path, metavar="FILE", help="check: write a picture of the arm at home (.png)")


def run(args: argparse.Namespace) -> int:
    """List the arms, or check one; return exit status 0 if nothing is wrong."""
    if args.action == "list":
        return _list()
    if args.action != "check":
        raise InputError(f"llm-planner robot lists or checks: 'list' or 'check NAME', not {args.action!r}")
    if not args.name:
        raise InputError(f"name the arm to check, e.g. llm-planner robot check {OWN}/mine; 'robot list' shows them")
    return _check(fetched_robot(args.name), args.picture)


def _list() -> int:
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    from llm_planner.robots.arm_model import arm_model
    from llm_planner.robots.robot_folders import ROBOT_FILE, default_name, shipped_names

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
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    from llm_planner.cli.answer import check_output

    if picture is not None:
        check_output("--picture", picture, ".png")
    console, table = Console(highlight=False), Table(box=None, show_header=False, pad_edge=False)
    if not console.is_terminal:
        console.width = PIPED
    for column in ("mark", "check", "result"):
        table.add_column(column, overflow="fold")
    marks = {Grade.RIGHT: ("✓", "green"), Grade.DOUBTFUL: ("!", "yellow"), Grade.WRONG: ("✗", "red")}
    graded = []
    for finding in checks(name):
        mark, style = marks[finding.grade]
        graded.append(finding.grade)
        table.add_row(Text(mark, style=style), Text(finding.name), Text(finding.detail))
        if finding.mend:
            table.add_row("", "", Text(f"→ {finding.mend}", style="bold"))
    console.print(table)
    wrong = graded.count(Grade.WRONG)
    if picture is not None:
        try:
            draw(name, picture)
            print(f"wrote {picture}")
        except LlmPlannerError as error:  # an arm that is wrong cannot always be drawn
            print(f"{picture} is not written: {error}")
    doubts = f", {graded.count(Grade.DOUBTFUL)} to look at" if Grade.DOUBTFUL in graded else ""
    print(f"{wrong} wrong{doubts}; see the arrows." if wrong else f"Nothing is wrong{doubts}. Use it: --robot {name}")
    return 1 if wrong else 0

"""`llm-planner skills`: list the skills of a library, what moves each, and success rates of learned ones."""

from __future__ import annotations

import argparse
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from llm_planner.cli.learning_options import library_folder
from llm_planner.cli.planning_options import add_library_argument
from llm_planner.robots.robot_folders import listed

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from llm_planner.learning.report import CommandTally, Listed, Paired, Tally
    from llm_planner.learning.skill_check import SkillCheck


def add_skills_arguments(parser: argparse.ArgumentParser) -> None:
    add_library_argument(parser, "the library (default: the one that ships)")
    parser.add_argument(
        "--robot", metavar="NAME", default="arm", help=f"show policies for: {listed()}, or the folder of your own arm"
    )
    parser.add_argument("--check", action="store_true", help="also run a call of each skill by its code in simulation")
    parser.add_argument("--json", action="store_true", help="print one JSON object (see docs/concepts/skills.md)")


def run_skills(args: argparse.Namespace) -> int:
    """Print the table; return exit status 1 if a skill cannot be loaded or fails its check."""
    from llm_planner.cli.answers import json_line
    from llm_planner.learning.report import listed as listed_skills

    folder = library_folder(args)
    rows = listed_skills(folder, args.robot)
    checks: dict[str, SkillCheck] = {}
    if args.check:
        from llm_planner.learning.skill_check import check_skill

        checks = {row.name: check_skill(folder / row.name / "skill.yaml") for row in rows if not row.fault}
    if args.json:
        print(json_line({"skills": [_json(row, checks.get(row.name)) for row in rows]}))
    else:
        _show(rows, checks)
    return int(any(row.fault for row in rows) or any(check.fault for check in checks.values()))


def _show(rows: Sequence[Listed], checks: Mapping[str, SkillCheck]) -> None:
    from rich.table import Table

    from llm_planner.cli.terminal import wide_console
    from llm_planner.learning.report_page import why
    from llm_planner.skills.learned.loading import SCRIPT

    console, table = wide_console(), Table(box=None, pad_edge=False)
    for column in ("skill", "robot", "moves by"):
        table.add_column(column, no_wrap=True)
    for column in ("policy", "script", "policy, shoved", "script, shoved", "chunk"):
        table.add_column(column, justify="right", no_wrap=True)
    for row in rows:
        moves = "broken" if row.fault else row.moves
        latency = "" if row.evaluated is None else f"{row.evaluated.latency.median:.1f} ms"
        table.add_row(row.name, row.robot, moves, *_on_commands(row.commands), latency)
    console.print(table)
    if any(row.commands for row in rows):
        console.print(
            "The counts are drawn commands carried out. The policy moves a skill if it is no worse than the script."
        )
    for row in rows:
        if row.fault:
            console.print(f"{row.name}: {row.fault}", soft_wrap=True, markup=False)
        elif row.command:
            console.print(f"{row.name}: {row.missing}: {row.command}", soft_wrap=True)
        elif row.commands is not None and row.commands.mover == SCRIPT:
            console.print(f"{row.name}: {why(row.commands)}", soft_wrap=True)
    for name, check in checks.items():
        console.print(f"{name}: {_outcome(check)}", soft_wrap=True, markup=False)


def _outcome(check: SkillCheck) -> str:
    calls = ", ".join(check.program.splitlines())
    if check.fault:
        return f"failed{f' with {calls}' if calls else ''}: {check.fault}"
    ran = f"{calls} was done in simulation in {check.seconds:.1f} s" if calls else ""
    return f"passed: {', but '.join(filter(None, [ran, check.doubt])) if ran else check.doubt}"


def _on_commands(tally: CommandTally | None) -> tuple[str, ...]:
    if tally is None:
        return "", "", "", ""
    return tuple(
        f"{successes} of {paired.pairs}"
        for paired in (tally.alone, tally.shoved)
        for successes in (paired.policy, paired.script)
    )


def _json(row: Listed, check: SkillCheck | None) -> dict[str, Any]:
    from llm_planner.learning.command_trials import CONDITIONS

    table: dict[str, Any] = {"name": row.name, "robot": row.robot, "moves": row.moves, "command": row.command}
    if row.fault:
        table["error"] = row.fault
    if check is not None:
        table["check"] = {"passed": not check.fault, **asdict(check)}
    if row.evaluated is not None:
        one = row.evaluated
        table |= {"plain": _counts(one.plain), "perturbed": _counts(one.perturbed)}
        table["latency_ms"] = {"median": one.latency.median, "p99": one.latency.p99}
    if row.commands is not None:
        table["commands"] = {name: _pairs(getattr(row.commands, name)) for name in CONDITIONS}
    return table


def _pairs(paired: Paired) -> dict[str, Any]:
    return {
        "pairs": paired.pairs, "policy": paired.policy, "script": paired.script,
        "difference": paired.difference, "interval": list(paired.difference_interval),
    }  # fmt: skip


def _counts(tally: Tally) -> dict[str, Any]:
    return {"successes": tally.successes, "trials": tally.trials, "interval": list(tally.interval)}

"""Skills that ship with a policy, tried as commands draw them: by policy and by script, paired, alone and shoved.

A command is drawn over the skill's parameters on the table that `llm-planner run --seed` lays out, and carried out as
that does, but for the language model. Each trial is a line of a JSON file; a run goes on where the last one ended.
Usage: bench_skill_commands.py [--commands 100] [--first-seed 0] [--skills push,pick] [--jobs 2]
                               [--results runs/skill_commands.jsonl] [--write] [--failures] [--json]
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from llm_planner.errors import InputError
from llm_planner.learning.command_trials import (
    CONDITIONS,
    MOVERS,
    CommandTrial,
    tally_commands,
    tried_skills,
    try_out_commands,
)
from llm_planner.learning.improving import examine_on_commands
from llm_planner.learning.pool import LocalPool
from llm_planner.learning.report import CommandTally, Paired, read_report
from llm_planner.learning.report_page import command_rows
from llm_planner.learning.training_task import open_training_task
from llm_planner.share import share_folder
from llm_planner.skills.learned.loading import POLICY, SCRIPT, policy_moves

PAGE = Path(__file__).parents[1] / "docs" / "concepts" / "skills.md"
BEGIN, END = "<!-- commands: written by bench_skill_commands.py -->", "<!-- end of commands -->"
RESULTS = Path("runs/skill_commands.jsonl")


def report_of(tallies: dict[str, CommandTally], skills: Path) -> dict[str, Any]:
    """Everything that was counted, what follows from it, and what moves each skill of the library as it is."""
    return {"skills": [{"skill": name, **_row(tally, skills / name)} for name, tally in tallies.items()]}


def _row(tally: CommandTally, folder: Path) -> dict[str, Any]:
    return {
        "moves": POLICY if policy_moves(folder) else SCRIPT,
        "mover": tally.mover,
        "refused": tally.refused,
        "seeds": tally.seeds,
        **{condition: _figures(getattr(tally, condition)) for condition in CONDITIONS},
    }


def _figures(paired: Paired) -> dict[str, Any]:
    return {
        "pairs": paired.pairs,
        "policy": {"rate": paired.policy / max(1, paired.pairs), "interval": paired.policy_interval},
        "script": {"rate": paired.script / max(1, paired.pairs), "interval": paired.script_interval},
        "difference": {"value": paired.difference, "interval": paired.difference_interval},
    }


def markdown(tallies: dict[str, CommandTally]) -> str:
    """A row for each skill and condition."""
    lines = ["| skill | | commands | policy [95 %] | script [95 %] | difference [95 %] | moves |", "|---" * 7 + "|"]
    for name, tally in tallies.items():
        lines += [f"| {name} | {row} | {tally.mover} |" for row in command_rows(tally)]
    return "\n".join(lines)


def write_down(found: dict[str, list[CommandTrial]], skills: Path) -> None:
    """Into the report of each skill, and all in one table into the page of the skills."""
    for name, trials in found.items():
        examine_on_commands(open_training_task(skills, RESULTS.parent, name), trials)
    reports = {name: read_report(skills / name).commands for name in tried_skills(skills)}
    table = markdown({name: tally for name, tally in reports.items() if tally is not None})
    before, _, rest = PAGE.read_text(encoding="utf-8").partition(BEGIN)
    _, end, after = rest.partition(END)
    if not end:
        raise InputError(f"{PAGE}: the table goes between the lines {BEGIN} and {END}, which are not both there")
    PAGE.write_text(f"{before}{BEGIN}\n{table}\n{END}{after}", encoding="utf-8")


def _told(trial: CommandTrial) -> None:
    """Progress, for who watches."""
    short = [
        f"{condition}: " + ", ".join(f"{mover} {'done' if runs[mover].done else 'FAILED'}" for mover in MOVERS)
        for condition, runs in trial.runs.items()
    ]
    print(f"{trial.skill} {trial.seed}: {trial.words}: {'; '.join(short) or 'refused'}", file=sys.stderr, flush=True)


def _show_failures(trials: Sequence[CommandTrial]) -> None:
    for trial in trials:
        for condition, runs in trial.runs.items():
            for mover, run in runs.items():
                if not run.done:
                    left_out = "" if run.valid else " (left out)"
                    print(f"{trial.skill} {trial.seed} {condition} {mover}{left_out}: {trial.words}: {run.message}")


def main(argv: Sequence[str] | None = None) -> int:
    """Print a table or JSON; returns 0."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--commands", type=int, default=100, help="drawn for each skill (default 100)")
    parser.add_argument("--first-seed", type=int, default=0)
    parser.add_argument("--skills", default="", help="names with commas between (default: all that have a policy)")
    parser.add_argument("--jobs", type=int, default=len(os.sched_getaffinity(0)), help="processes (default: the cores)")
    parser.add_argument("--results", type=Path, default=RESULTS, help=f"where trials are kept (default {RESULTS})")
    parser.add_argument("--failures", action="store_true", help="list the commands that failed, with why")
    parser.add_argument("--json", action="store_true")
    parser.add_argument(
        "--write", action="store_true", help="write into the skills' reports and docs/concepts/skills.md"
    )
    options = parser.parse_args(argv)
    folder = share_folder("skills")
    names = options.skills.split(",") if options.skills else tried_skills(folder)
    seeds = range(options.first_seed, options.first_seed + options.commands)
    trials = try_out_commands(folder, names, seeds, LocalPool(options.jobs), options.results, _told)
    found = {name: [trial for trial in trials if trial.skill == name] for name in names}
    tallies = {name: tally_commands(its) for name, its in found.items()}
    if options.write:
        write_down(found, folder)
    if options.failures:
        _show_failures(trials)
    print(json.dumps(report_of(tallies, folder), indent=2) if options.json else markdown(tallies))
    return 0


if __name__ == "__main__":
    sys.exit(main())

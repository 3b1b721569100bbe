"""Trials on commands kept in a file, one JSON object a line, so that what was interrupted goes on."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

from llm_planner.errors import InputError
from llm_planner.skills.learned.standing import POLICY_FILE, digest
from llm_planner.skills.learning.command_trials import CommandJob, CommandTrial, read_trial, try_commands
from llm_planner.skills.learning.pool import Pool
from llm_planner.skills.manifest import read_manifest


def tried_skills(skills: Path) -> list[str]:
    """The skills in the folder that have both a policy and a script to compare it with."""
    return [
        path.parent.name
        for path in sorted(skills.glob("*/skill.yaml"))
        if path.with_name(POLICY_FILE).exists() and _has_both(path)
    ]


def _has_both(path: Path) -> bool:
    policy = read_manifest(path).policy
    return policy is not None and not policy.by_sight


def try_out_commands(
    skills: Path,
    names: Sequence[str],
    seeds: Iterable[int],
    pool: Pool,
    results: Path,
    report: Callable[[CommandTrial], None],
) -> list[CommandTrial]:
    """The trials of the skills called `names` in the scenes of `seeds`: those in the file `results`, and the others,
    each written there as soon as it is over.

    Raises InputError for a skill without a policy, and for a file that cannot be read.
    """
    asked = [_job(skills, name, seed) for name in names for seed in seeds]
    known = {_key(trial): trial for trial in read_results(results)}
    results.parent.mkdir(parents=True, exist_ok=True)
    _end_last_line(results)
    with results.open("a", encoding="utf-8") as file:
        for _, trial in pool.results(try_commands, [job for job in asked if _key(job) not in known]):
            file.write(json.dumps(trial.to_json()) + "\n")
            file.flush()
            known[_key(trial)] = trial
            report(trial)
    return [known[_key(job)] for job in asked]


def read_results(path: Path) -> list[CommandTrial]:
    """The trials in a file, none where it is not there; a last line that was cut off is left out.

    Raises InputError for any other line that is no trial.
    """
    if not path.exists():
        return []
    lines, trials = path.read_bytes().split(b"\n"), []
    for number, line in enumerate(lines, start=1):
        try:
            if line:
                trials.append(read_trial(json.loads(line)))
        except (ValueError, KeyError, TypeError) as error:
            if number < len(lines):
                raise InputError(f"{path}, line {number} is no trial on a command ({error}); delete it") from error
    return trials


def _end_last_line(path: Path) -> None:
    """Drop a last line that was cut off, so that the next one begins a line."""
    if path.exists():
        whole, _, cut_off = path.read_bytes().rpartition(b"\n")
        if cut_off:
            path.write_bytes(whole + b"\n" * bool(whole))


def _job(skills: Path, name: str, seed: int) -> CommandJob:
    weights = skills / name / POLICY_FILE
    if not weights.is_file():
        raise InputError(f"{name!r} has no policy to try; those that have one: {', '.join(tried_skills(skills))}")
    return CommandJob(skills, name, seed, digest(weights))


def _key(one: CommandJob | CommandTrial) -> tuple[str, int, str]:
    return one.skill, one.seed, one.weights

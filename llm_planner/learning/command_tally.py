"""Statistics of command trials of a skill, which decide whether its policy or its script moves it.

Trials are kept in a file with one JSON object per line, so that an interrupted run continues.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from llm_planner.errors import InputError
from llm_planner.learning.command_trials import (
    CONDITIONS,
    MOVERS,
    CommandJob,
    CommandRun,
    CommandTrial,
    read_trial,
    try_commands,
)
from llm_planner.learning.evaluating import paired_difference, wilson
from llm_planner.learning.pool import Pool
from llm_planner.robots.arm_model import arm_model
from llm_planner.robots.robot_folders import DEFAULT
from llm_planner.skills.learned.loading import POLICY, POLICY_FILE, SCRIPT, digest, policy_folder
from llm_planner.skills.manifest import read_manifest

PAIRS_LEAST = 50  # least number of pairs for a decision
MARGIN = 0.10  # non-inferiority margin of the success rate


@dataclass(frozen=True)
class Paired:
    """Paired outcomes of policy and script for the same commands and scenes."""

    both: int
    only_policy: int
    only_script: int
    neither: int

    @property
    def pairs(self) -> int:
        return self.both + self.only_policy + self.only_script + self.neither

    @property
    def policy(self) -> int:
        """Number of successes of the policy."""
        return self.both + self.only_policy

    @property
    def script(self) -> int:
        """Number of successes of the script."""
        return self.both + self.only_script

    @property
    def policy_interval(self) -> tuple[float, float]:
        """95 % confidence interval of the policy's success rate."""
        return wilson(self.policy, self.pairs)

    @property
    def script_interval(self) -> tuple[float, float]:
        """95 % confidence interval of the script's success rate."""
        return wilson(self.script, self.pairs)

    @property
    def difference(self) -> float:
        """Success rate of the policy minus that of the script."""
        return (self.only_policy - self.only_script) / max(1, self.pairs)

    @property
    def difference_interval(self) -> tuple[float, float]:
        """95 % confidence interval of the difference."""
        return paired_difference(self.both, self.only_policy, self.only_script, self.neither)

    @property
    def is_no_worse(self) -> bool:
        """Whether enough pairs show that the policy is not worse by more than `MARGIN` (non-inferiority)."""
        return self.pairs >= PAIRS_LEAST and self.difference_interval[0] >= -MARGIN


@dataclass(frozen=True)
class MissedCommand:
    """Command that `mover` (policy or script) failed to carry out; `shoved` says what was disturbed."""

    seed: int
    mover: str
    words: str
    message: str
    shoved: str


@dataclass(frozen=True)
class CommandTally:
    """Results of a skill's command trials, undisturbed (`alone`) and disturbed (`shoved`).

    `mover` is the policy if it is not inferior to the script under both conditions. `refused` counts the scenes without
    a command that the script accepts; `seeds` are the first and last.
    """

    mover: str
    alone: Paired
    shoved: Paired
    refused: int
    seeds: tuple[int, int]
    missed: tuple[MissedCommand, ...]


def read_command_tally(table: Mapping[str, Any]) -> CommandTally:
    """Read a tally from its `dataclasses.asdict` form; raise KeyError or TypeError if it is malformed."""
    first, last = table["seeds"]
    alone, shoved = (Paired(**table[name]) for name in CONDITIONS)
    missed = tuple(MissedCommand(**one) for one in table["missed"])
    return CommandTally(str(table["mover"]), alone, shoved, int(table["refused"]), (int(first), int(last)), missed)


def tally_commands(trials: Sequence[CommandTrial]) -> CommandTally:
    """Count the trials of one skill, excluding pairs with an invalid run."""
    seeds = [trial.seed for trial in trials]
    alone, shoved = (_paired(trials, condition) for condition in CONDITIONS)
    mover = POLICY if alone.is_no_worse and shoved.is_no_worse else SCRIPT
    refused = sum(not trial.runs for trial in trials)
    return CommandTally(mover, alone, shoved, refused, (min(seeds), max(seeds)), tuple(_missed(trials)))


def _counted(trials: Iterable[CommandTrial], condition: str) -> Iterator[tuple[CommandTrial, CommandRun, CommandRun]]:
    for trial in trials:
        if trial.runs:
            policy, script = trial.runs[condition][POLICY], trial.runs[condition][SCRIPT]
            if policy.valid and script.valid:
                yield trial, policy, script


def _paired(trials: Iterable[CommandTrial], condition: str) -> Paired:
    kinds = [(policy.done, script.done) for _, policy, script in _counted(trials, condition)]
    return Paired(*(kinds.count(kind) for kind in ((True, True), (True, False), (False, True), (False, False))))


def _missed(trials: Sequence[CommandTrial]) -> Iterator[MissedCommand]:
    for condition in CONDITIONS:
        for trial, *runs in _counted(trials, condition):
            for mover, run in zip(MOVERS, runs, strict=True):
                if not run.done:
                    yield MissedCommand(trial.seed, mover, trial.words, run.message, run.shoved)


def why(tally: CommandTally) -> str:
    """Explain why the policy or the script moves the skill."""
    if tally.mover == POLICY:
        return "its policy moves it, which is no worse than its script, left alone and shoved"
    if min(tally.alone.pairs, tally.shoved.pairs) < PAIRS_LEAST:
        return f"its script moves it, since fewer than {PAIRS_LEAST} commands say too little of its policy"
    worse = [name for name in CONDITIONS if not getattr(tally, name).is_no_worse]
    told = [f"{_difference(getattr(tally, name))} {'left alone' if name == 'alone' else name}" for name in worse]
    return f"its script moves it, since its policy may be worse by {100 * MARGIN:.0f} points: {' and '.join(told)}"


def _difference(paired: Paired) -> str:
    low, high = paired.difference_interval
    return f"{100 * paired.difference:+.1f} points [{100 * low:+.1f}, {100 * high:+.1f}]"


def command_rows(tally: CommandTally) -> Iterator[str]:
    """Yield the table rows of the tally, one per condition: condition, commands, policy, script, difference."""
    for name, words in zip(CONDITIONS, ("left alone", "shoved in the middle"), strict=True):
        paired: Paired = getattr(tally, name)
        yield (
            f"{words} | {paired.pairs} | {_share(paired.policy, paired.policy_interval)} | "
            f"{_share(paired.script, paired.script_interval)} | {_difference(paired)}"
        )


def _share(successes: int, interval: tuple[float, float]) -> str:
    low, high = interval
    return f"{successes} [{100 * low:.0f}, {100 * high:.0f} %]"


def tried_skills(skills: Path) -> list[str]:
    """List the skills in the folder that have both a policy and a script to compare."""
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
    robot: str = DEFAULT,
) -> list[CommandTrial]:
    """Run command trials, or read those that are already in the results file.

    Args:
        skills: Folder of the skill library.
        names: Skills to try.
        seeds: Seeds of the scenes.
        pool: Workers that run the trials.
        results: File to which each finished trial is appended.
        report: Callback with each finished trial.
        robot: Arm that carries out the commands.

    Returns:
        The trials of all skills and seeds.

    Raises:
        InputError: A skill has no policy, or the results file cannot be read.
    """
    asked = [_job(skills, name, seed, robot) for name in names for seed in seeds]
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
    """Read the trials in a file, empty if the file is missing; ignore a truncated last line.

    Raises InputError if any other line is not a trial.
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
                raise InputError(f"{path}, line {number} is not a trial on a command ({error}); delete it") from error
    return trials


def _end_last_line(path: Path) -> None:
    """Remove a truncated last line."""
    if path.exists():
        whole, _, cut_off = path.read_bytes().rpartition(b"\n")
        if cut_off:
            path.write_bytes(whole + b"\n" * bool(whole))


def _job(skills: Path, name: str, seed: int, robot: str) -> CommandJob:
    weights = policy_folder(skills / name, arm_model(robot).name) / POLICY_FILE
    if not weights.is_file():
        raise InputError(f"{name!r} has no policy to try; those that have one: {', '.join(tried_skills(skills))}")
    return CommandJob(skills, name, seed, digest(weights), robot)


def _key(one: CommandJob | CommandTrial) -> tuple[str, int, str]:
    return one.skill, one.seed, one.weights

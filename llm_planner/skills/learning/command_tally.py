"""What trials on commands say of a skill: how often policy and script succeed, and which of them is to move it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from llm_planner.skills.learned.standing import POLICY, SCRIPT
from llm_planner.skills.learning.command_trials import CONDITIONS, MOVERS, CommandRun, CommandTrial
from llm_planner.skills.learning.intervals import paired_difference, wilson

PAIRS_LEAST = 50  # fewer say too little of a policy to let it move
MARGIN = 0.10  # by which a policy's rate may lie below its script's at the lower end of the interval


@dataclass(frozen=True)
class Paired:
    """Commands that policy and script were given in the same scene: how many both carried out, only one, or neither."""

    both: int
    only_policy: int
    only_script: int
    neither: int

    @property
    def pairs(self) -> int:
        return self.both + self.only_policy + self.only_script + self.neither

    @property
    def policy(self) -> int:
        """Successes of the policy."""
        return self.both + self.only_policy

    @property
    def script(self) -> int:
        """Successes of the script."""
        return self.both + self.only_script

    @property
    def policy_interval(self) -> tuple[float, float]:
        """95 %, of the policy's rate."""
        return wilson(self.policy, self.pairs)

    @property
    def script_interval(self) -> tuple[float, float]:
        """95 %, of the script's rate."""
        return wilson(self.script, self.pairs)

    @property
    def difference(self) -> float:
        """By how much the policy's rate is above the script's."""
        return (self.only_policy - self.only_script) / max(1, self.pairs)

    @property
    def difference_interval(self) -> tuple[float, float]:
        """95 %, of the difference."""
        return paired_difference(self.both, self.only_policy, self.only_script, self.neither)

    @property
    def is_no_worse(self) -> bool:
        """Whether enough was tried to say that the policy is not worse by more than `MARGIN` (non-inferiority)."""
        return self.pairs >= PAIRS_LEAST and self.difference_interval[0] >= -MARGIN


@dataclass(frozen=True)
class MissedCommand:
    """A command that `mover`, the policy or the script, did not carry out; `shoved` says what was disturbed."""

    seed: int
    mover: str
    words: str
    message: str
    shoved: str


@dataclass(frozen=True)
class CommandTally:
    """Of a skill, left `alone` and `shoved`; `refused` scenes had no command that the script could begin.

    `mover` is what is to move the skill: its policy where that is no worse than its script under both conditions.
    """

    mover: str
    alone: Paired
    shoved: Paired
    refused: int
    seeds: tuple[int, int]
    missed: tuple[MissedCommand, ...]


def read_command_tally(table: Mapping[str, Any]) -> CommandTally:
    """The tally of which `dataclasses.asdict` made `table`; raises KeyError or TypeError for anything else."""
    first, last = table["seeds"]
    alone, shoved = (Paired(**table[name]) for name in CONDITIONS)
    missed = tuple(MissedCommand(**one) for one in table["missed"])
    return CommandTally(str(table["mover"]), alone, shoved, int(table["refused"]), (int(first), int(last)), missed)


def tally_commands(trials: Sequence[CommandTrial]) -> CommandTally:
    """Count the trials of one skill; a pair of which a run says nothing about the skill does not count."""
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
    """Why the policy moves the skill, or the script."""
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
    """The tally as cells of a table, a row for each condition: condition, commands, policy, script, difference."""
    for name, words in zip(CONDITIONS, ("left alone", "shoved in the middle"), strict=True):
        paired: Paired = getattr(tally, name)
        yield (
            f"{words} | {paired.pairs} | {_share(paired.policy, paired.policy_interval)} | "
            f"{_share(paired.script, paired.script_interval)} | {_difference(paired)}"
        )


def _share(successes: int, interval: tuple[float, float]) -> str:
    low, high = interval
    return f"{successes} [{100 * low:.0f}, {100 * high:.0f} %]"

"""Reports of learned skills (report.json beside the policy) and the list of skills in a library.

A report holds the training and the success rates of a policy; `report_page` renders it for people.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path

from pydantic import TypeAdapter

from llm_planner.errors import InputError
from llm_planner.robots.arm_model import arm_model
from llm_planner.robots.robot_folders import DEFAULT
from llm_planner.skills.learned.loading import (
    POLICY,
    POLICY_FILE,
    REPORT_FILE,
    digest,
    policy_command,
    policy_folder,
    policy_moves,
)
from llm_planner.skills.learned.weights_file import write_atomically
from llm_planner.skills.manifest import PolicyContract, read_manifest

PAIRS_LEAST = 50  # least number of pairs for a decision
MARGIN = 0.10  # non-inferiority margin of the success rate
Z = 1.959964  # 97.5 % quantile of the standard normal distribution


def wilson(successes: int, trials: int) -> tuple[float, float]:
    """Return the 95 % confidence interval of a success rate (Wilson, 1927)."""
    z, n = Z, max(trials, 1)
    rate, z2 = successes / n, z**2 / n
    middle = (rate + z2 / 2) / (1 + z2)
    half = z / (1 + z2) * math.sqrt(rate * (1 - rate) / n + z2 / (4 * n))
    return max(0.0, middle - half), min(1.0, middle + half)


@dataclass(frozen=True)
class Trained:
    """Training of a policy.

    `episodes` succeeded, out of those that the contract asks for, in `recordings` pieces (or pictures) with `moments`
    steps (or grasps). `curve` is the loss as (step, loss); `seconds` is the duration [s].
    """

    demonstrator: str
    contract: PolicyContract
    seed: int
    objective: str
    episodes: int
    recordings: int
    moments: int
    corrections: int
    seconds: float
    curve: tuple[tuple[int, float], ...]
    parameters: int
    versions: Mapping[str, str]


@dataclass(frozen=True)
class Failure:
    """Failed trial: `reason` is a skill error code or `UNSEEN`, `shoved` says what was disturbed, if anything."""

    seed: int
    reason: str
    message: str
    shoved: str

    @property
    def reason_in_words(self) -> str:
        return self.reason.lower().replace("_", " ")


@dataclass(frozen=True)
class Tally:
    """Results of trials under one condition, with the 95 % confidence interval of the rate.

    `seeds` are the first and last seed. `left_out` are invalid trials and their reasons; they do not count.
    """

    successes: int
    trials: int
    interval: tuple[float, float]
    seeds: tuple[int, int]
    failures: tuple[Failure, ...]
    left_out: tuple[Failure, ...] = ()

    @property
    def asked(self) -> int:
        """Number of trials begun."""
        return self.trials + len(self.left_out)

    @property
    def rate(self) -> float:
        return self.successes / max(1, self.trials)


@dataclass(frozen=True)
class Latency:
    """Latency of one chunk, or look, on a CPU [ms]."""

    median: float
    p99: float


@dataclass(frozen=True)
class Evaluated:
    """Success of a policy without and with disturbances, and its latency."""

    plain: Tally
    perturbed: Tally
    latency: Latency


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
        """95 % confidence interval of the difference (Newcombe, 1998, method 10)."""
        n = max(1, self.pairs)
        p, q = self.policy / n, self.script / n
        (p_low, p_high), (q_low, q_high) = wilson(self.policy, n), wilson(self.script, n)
        marginals = self.policy * (n - self.policy) * self.script * (n - self.script)
        covariance = self.both * self.neither - self.only_policy * self.only_script
        correlation = covariance / math.sqrt(marginals) if marginals else 0.0
        down, up = (
            math.sqrt(max(0.0, a**2 - 2 * correlation * a * b + b**2))
            for a, b in ((p - p_low, q_high - q), (p_high - p, q - q_low))
        )
        return p - q - down, p - q + up

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


@dataclass(frozen=True)
class SkillReport:
    """Report on a policy file with digest `policy` and `size` [bytes], which learned on `robot`."""

    skill: str
    robot: str
    policy: str
    size: int
    trained: Trained | None = None  # None if trained elsewhere
    evaluated: Evaluated | None = None  # None if not evaluated yet
    commands: CommandTally | None = None  # None if not tried on commands yet

    @property
    def answer(self) -> str:
        """Word for one output of the policy, whose latency is reported."""
        return "look" if self.trained is not None and self.trained.contract.by_sight else "chunk"


def write_report(folder: Path, report: SkillReport) -> None:
    """Write the report beside the policy, atomically."""
    write_atomically(folder / REPORT_FILE, (json.dumps(asdict(report), indent=1) + "\n").encode())


def read_report(folder: Path) -> SkillReport:
    """Read the report in a skill's folder; raise InputError if it is missing or unreadable."""
    path = folder / REPORT_FILE
    try:
        return _REPORT.validate_json(path.read_bytes())
    except FileNotFoundError as error:
        raise InputError(f"{path} is not there; make it: {policy_command('evaluate', folder)}") from error
    except (OSError, ValueError) as error:
        raise InputError(
            f"{path}: no report of a skill ({error}); delete it, and make it anew: {policy_command('evaluate', folder)}"
        ) from error


_REPORT = TypeAdapter(SkillReport)


@dataclass(frozen=True)
class Listed:
    """Skill in a list.

    `moves` is "policy" or the `mover` of its manifest. `missing` says what remains to be done and `command` how; both
    are "" otherwise. `fault` is why the skill cannot be loaded, "" if it can; `robot` and `moves` are then "".
    """

    name: str
    robot: str
    moves: str
    evaluated: Evaluated | None = None
    commands: CommandTally | None = None
    missing: str = ""
    command: str = ""
    fault: str = ""


def listed(folder: Path, robot: str = DEFAULT) -> list[Listed]:
    """List every skill in the folder, with its policy for an arm; an unreadable report counts as not evaluated.

    Raises InputError for an unknown arm.
    """
    arm = arm_model(robot).name
    return [_listed(path, arm) for path in sorted(folder.glob("*/skill.yaml"))]


def _listed(path: Path, arm: str) -> Listed:
    folder = path.parent
    try:
        manifest = read_manifest(path)
        _ = manifest.signature  # imports the code
    except InputError as error:
        return Listed(folder.name, "", "", fault=str(error))
    name, robot = manifest.name, manifest.robot
    if manifest.policy is None:
        return Listed(name, robot, manifest.mover)
    by_sight = manifest.policy.by_sight  # one policy for all arms, and no script to compare with
    folder = folder if by_sight else policy_folder(folder, arm)
    if not (folder / POLICY_FILE).exists():
        train = policy_command("train", folder, robot=arm)
        return Listed(name, robot, manifest.mover, missing="not trained yet", command=train)
    try:
        report = read_report(folder)
    except InputError:
        report = None
    moves = POLICY if by_sight or policy_moves(folder) else manifest.mover
    current = report if report is not None and report.policy == digest(folder / POLICY_FILE) else None
    evaluated, commands = (current.evaluated, current.commands) if current is not None else (None, None)
    if evaluated is None or (commands is None and not by_sight):
        missing = "not evaluated yet" if evaluated is None else "not tried on commands yet"
        return Listed(name, robot, moves, evaluated, commands, missing, policy_command("evaluate", folder))
    return Listed(name, robot, moves, evaluated, commands)

"""Reports of learned skills (report.json beside the policy) and the list of skills in a library.

A report holds the training and the success rates of a policy; `report_page` renders it for people.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from llm_planner.errors import InputError
from llm_planner.learning.command_tally import CommandTally, read_command_tally
from llm_planner.learning.evaluating import Outcome, Trial
from llm_planner.robots.arm_model import arm_model
from llm_planner.robots.robot_folders import DEFAULT
from llm_planner.skills.contract import SkillErrorCode
from llm_planner.skills.learned.loading import (
    POLICY_FILE,
    REPORT_FILE,
    digest,
    policy_command,
    policy_folder,
    policy_moves,
)
from llm_planner.skills.learned.weights_file import write_whole
from llm_planner.skills.manifest import PolicyContract, read_manifest

UNSEEN = "EFFECT_NOT_SEEN"  # the skill reported success, but the scene does not show it


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


def tally(outcome: Outcome) -> Tally:
    """Summarise trials for a report; raise InputError if all trials are invalid."""
    trials = outcome.trials
    if not trials:
        raise InputError("no trial got as far as the skill: what has to be done before it failed in all of them")
    failures = tuple(_failure(trial) for trial in trials if not trial.succeeded)
    seeds = [trial.seed for trial in (*trials, *outcome.left_out)]
    left_out = tuple(_failure(trial) for trial in outcome.left_out)
    return Tally(outcome.successes, len(trials), outcome.interval, (min(seeds), max(seeds)), failures, left_out)


def _failure(trial: Trial) -> Failure:
    code = trial.result.code
    reason = UNSEEN if code is SkillErrorCode.SUCCEEDED else code.name
    return Failure(trial.seed, reason, trial.result.message, trial.shoved)


def told(reason: str) -> str:
    """Format the reason of a failure in words."""
    return reason.lower().replace("_", " ")


def write_report(folder: Path, report: SkillReport) -> None:
    """Write the report beside the policy, atomically."""
    write_whole(folder / REPORT_FILE, (json.dumps(asdict(report), indent=1) + "\n").encode())


def read_report(folder: Path) -> SkillReport:
    """Read the report in a skill's folder; raise InputError if it is missing or unreadable."""
    path = folder / REPORT_FILE
    try:
        return _report(json.loads(path.read_text(encoding="utf-8")))
    except FileNotFoundError as error:
        raise InputError(f"{path} is not there; make it: {policy_command('evaluate', folder)}") from error
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise InputError(
            f"{path}: no report of a skill ({error}); delete it, and make it anew: {policy_command('evaluate', folder)}"
        ) from error


def _report(table: Mapping[str, Any]) -> SkillReport:
    trained, evaluated, commands = table["trained"], table["evaluated"], table.get("commands")
    return SkillReport(
        **{name: table[name] for name in ("skill", "robot", "policy", "size")},
        trained=None if trained is None else _trained(trained),
        evaluated=None if evaluated is None else _evaluated(evaluated),
        commands=None if commands is None else read_command_tally(commands),
    )


def _trained(table: Mapping[str, Any]) -> Trained:
    asked: Mapping[str, Any] = table["contract"]
    contract = PolicyContract(**{**asked, "observe": tuple(asked["observe"]), "goal": tuple(asked["goal"])})
    curve = tuple((int(step), float(loss)) for step, loss in table["curve"])
    return Trained(**{**table, "contract": contract, "curve": curve})


def _evaluated(table: Mapping[str, Any]) -> Evaluated:
    return Evaluated(_tally(table["plain"]), _tally(table["perturbed"]), Latency(**table["latency"]))


def _tally(table: Mapping[str, Any]) -> Tally:
    (low, high), (first, last) = table["interval"], table["seeds"]
    failures, left_out = (tuple(Failure(**failure) for failure in table[name]) for name in ("failures", "left_out"))
    return Tally(int(table["successes"]), int(table["trials"]), (low, high), (first, last), failures, left_out)


LEARNED = "policy"


@dataclass(frozen=True)
class Listed:
    """Skill in a list.

    `moves` is LEARNED or one of MOVERS. `missing` says what remains to be done and `command` how; both are ""
    otherwise. `fault` is why the skill cannot be loaded, "" if it can; `robot` and `moves` are then "".
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
    moves = LEARNED if by_sight or policy_moves(folder) else manifest.mover
    current = report if report is not None and report.policy == digest(folder / POLICY_FILE) else None
    evaluated, commands = (current.evaluated, current.commands) if current is not None else (None, None)
    if evaluated is None or (commands is None and not by_sight):
        missing = "not evaluated yet" if evaluated is None else "not tried on commands yet"
        return Listed(name, robot, moves, evaluated, commands, missing, policy_command("evaluate", folder))
    return Listed(name, robot, moves, evaluated, commands)

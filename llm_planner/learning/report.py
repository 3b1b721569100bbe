"""What is known of a learned skill: what its policy was trained on, and how often it succeeds.

It is kept as report.json beside the policy; the same for people is made of it by `report_page`.

The skills of a library as a list: how each moves, how well, and what is still to be done about it.
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
from llm_planner.share import skill_command
from llm_planner.skills.contract import SkillErrorCode
from llm_planner.skills.learned.loading import POLICY_FILE, REPORT_FILE, digest, policy_moves
from llm_planner.skills.learned.weights_file import write_whole
from llm_planner.skills.manifest import Manifest, PolicyContract, read_manifest

UNSEEN = "EFFECT_NOT_SEEN"  # the skill said that it had succeeded, and the scene does not show it


@dataclass(frozen=True)
class Trained:
    """How a policy came about. `episodes` were demonstrated with success, of those that the contract asks for, in
    `recordings` pieces of `moments`; `curve` is the loss after so many steps; `seconds` of training."""

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
    """A trial that failed: `reason` is a skill's error code or `UNSEEN`, `shoved` what was disturbed, if anything."""

    seed: int
    reason: str
    message: str
    shoved: str


@dataclass(frozen=True)
class Tally:
    """Of trials under one condition, with the 95 % interval of the rate, and the first and the last seed. `left_out`
    are trials that say nothing about the skill, with why; they do not count."""

    successes: int
    trials: int
    interval: tuple[float, float]
    seeds: tuple[int, int]
    failures: tuple[Failure, ...]
    left_out: tuple[Failure, ...] = ()

    @property
    def asked(self) -> int:
        """Trials that were begun."""
        return self.trials + len(self.left_out)

    @property
    def rate(self) -> float:
        return self.successes / max(1, self.trials)


@dataclass(frozen=True)
class Latency:
    """Of one chunk on a CPU [ms]."""

    median: float
    p99: float


@dataclass(frozen=True)
class Evaluated:
    """How well a skill does: left alone, and shoved in the middle."""

    plain: Tally
    perturbed: Tally
    latency: Latency


@dataclass(frozen=True)
class SkillReport:
    """`policy` tells the file of weights that all this is about, `size` is how long that is [bytes]."""

    skill: str
    robot: str
    policy: str
    size: int
    trained: Trained | None = None  # where it was not trained by these commands
    evaluated: Evaluated | None = None  # until that is done
    commands: CommandTally | None = None  # likewise

    @property
    def answer(self) -> str:
        """What its policy gives, whose latency is told."""
        return "look" if self.trained is not None and self.trained.contract.by_sight else "chunk"


def tally(outcome: Outcome) -> Tally:
    """What a report keeps of the trials; raises InputError where none of them began."""
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
    """The reason of a failure in words."""
    return reason.lower().replace("_", " ")


def write_report(folder: Path, report: SkillReport) -> None:
    """Beside the policy, whole or not at all."""
    write_whole(folder / REPORT_FILE, (json.dumps(asdict(report), indent=1) + "\n").encode())


def read_report(folder: Path) -> SkillReport:
    """The report in a skill's folder; raises InputError where there is none, or one that cannot be read."""
    path = folder / REPORT_FILE
    try:
        return _report(json.loads(path.read_text(encoding="utf-8")))
    except FileNotFoundError as error:
        raise InputError(f"{path} is not there; make it: {skill_command('evaluate', folder)}") from error
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise InputError(
            f"{path}: no report of a skill ({error}); delete it, and make it anew: {skill_command('evaluate', folder)}"
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
    """`moves` is LEARNED or one of MOVERS; `missing` and the `command` that mends it are empty where all is there."""

    name: str
    robot: str
    moves: str
    evaluated: Evaluated | None = None
    commands: CommandTally | None = None
    missing: str = ""
    command: str = ""


def listed(folder: Path) -> list[Listed]:
    """Every skill in the folder, one whose report cannot be read as not evaluated; raises InputError naming a manifest
    that is wrong."""
    return [_listed(path.parent, read_manifest(path)) for path in sorted(folder.glob("*/skill.yaml"))]


def _listed(folder: Path, manifest: Manifest) -> Listed:
    name, robot = manifest.name, manifest.robot
    if manifest.policy is None:
        return Listed(name, robot, manifest.mover)
    if not (folder / POLICY_FILE).exists():
        return Listed(name, robot, manifest.mover, missing="not trained yet", command=skill_command("train", folder))
    try:
        report = read_report(folder)
    except InputError:
        report = None
    # One that sees is a skill of its own, and has no script to be compared with.
    moves = LEARNED if manifest.policy.by_sight or policy_moves(folder) else manifest.mover
    current = report if report is not None and report.policy == digest(folder / POLICY_FILE) else None
    evaluated, commands = (current.evaluated, current.commands) if current is not None else (None, None)
    if evaluated is None or (commands is None and not manifest.policy.by_sight):
        missing = "not evaluated yet" if evaluated is None else "not tried on commands yet"
        return Listed(name, robot, moves, evaluated, commands, missing, skill_command("evaluate", folder))
    return Listed(name, robot, moves, evaluated, commands)

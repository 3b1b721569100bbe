"""The skills of a library as a list: how each moves, how well, and what is still to be done about it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from llm_planner.errors import InputError
from llm_planner.share import skill_command
from llm_planner.skills.learned.loading import POLICY_FILE
from llm_planner.skills.learned.standing import digest, policy_moves
from llm_planner.skills.learning.command_tally import CommandTally
from llm_planner.skills.learning.report import Evaluated, read_report
from llm_planner.skills.manifest import Manifest, read_manifest

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

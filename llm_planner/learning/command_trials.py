"""Command trials: a skill is run by its policy and by its script, on the same commands and in the same scenes.

A trial follows the path of `llm-planner run` without the language model: the program is checked and rehearsed, the
in-process runner executes it with retries and repairs, and the simulator's scene decides. The counts decide whether the
policy or the script moves the skill. Trials are kept in a file with one JSON object per line, so that an interrupted
run continues.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import lru_cache
from pathlib import Path

import numpy as np
from pydantic import TypeAdapter

from llm_planner.errors import InputError
from llm_planner.learning.commands import SkillCommand, draw_command
from llm_planner.learning.evaluating import Shove, goes_on
from llm_planner.learning.pool import Pool
from llm_planner.learning.report import CommandTally, MissedCommand, Paired
from llm_planner.planning.in_process import Workcell, run_command
from llm_planner.planning.planning import plan_program
from llm_planner.plans.plan import Outcome
from llm_planner.robots.arm_model import arm_model
from llm_planner.robots.motion import MotionReference, Observation
from llm_planner.robots.robot_folders import DEFAULT
from llm_planner.scene.atoms import Moment, holds
from llm_planner.simulation.world import World
from llm_planner.skills.arm import ArmSettings
from llm_planner.skills.contract import Arguments, SkillResult, SkillRun
from llm_planner.skills.learned.loading import POLICY, POLICY_FILE, SCRIPT, decision_of, digest, policy_folder
from llm_planner.skills.library import CheckedSkill, SkillLibrary, load_skills
from llm_planner.skills.manifest import read_manifest

NUMBERS = 8  # commands to draw for a seed until the script accepts one
MOVERS = (POLICY, SCRIPT)
CONDITIONS = ("alone", "shoved")


@dataclass(frozen=True)
class CommandRun:
    """Result of one command; `done` if the report and the scene show success.

    `valid` is False for a failure after a disturbance that left the object where the script cannot act either.
    """

    done: bool
    outcome: str
    message: str
    seconds: float
    shoved: str = ""
    valid: bool = True


@dataclass(frozen=True)
class CommandTrial:
    """One command run by policy and script, undisturbed and disturbed: `runs[condition][mover]`.

    `weights` is the digest of the policy. `refused` are the messages of earlier draws that could not begin; `runs` is
    empty if no draw could.
    """

    skill: str
    seed: int
    weights: str
    words: str
    program: str
    refused: tuple[str, ...]
    runs: Mapping[str, Mapping[str, CommandRun]]


@dataclass(frozen=True)
class CommandJob:
    """Trial to run: a skill of the library in the folder `skills`, on an arm, in the scene of one seed."""

    skills: Path
    skill: str
    seed: int
    weights: str
    robot: str = DEFAULT


def try_commands(job: CommandJob) -> CommandTrial:
    """Draw a command that the script accepts and run it by policy and script under both conditions."""
    scripted, learned = _libraries(job.skills)
    manifest = scripted.find(job.skill).manifest
    refused: list[str] = []
    for number in range(NUMBERS):
        command = draw_command(manifest, job.seed, number, job.robot)
        first = _carried_out(command, scripted, scripted.find(job.skill), shoved=False)
        if isinstance(first, str):
            refused.append(first)
            continue
        runs: dict[str, dict[str, CommandRun]] = {condition: {} for condition in CONDITIONS}
        for condition in CONDITIONS:
            for mover, library in zip(MOVERS, (learned, scripted), strict=True):
                known = (condition, mover) == ("alone", "script")
                run = first if known else _carried_out(command, scripted, library.find(job.skill), condition != "alone")
                # The script accepted this command, so a refusal counts as a failure.
                runs[condition][mover] = CommandRun(False, "refused", run, 0.0) if isinstance(run, str) else run
        return CommandTrial(job.skill, job.seed, job.weights, command.words, command.program, tuple(refused), runs)
    return CommandTrial(job.skill, job.seed, job.weights, "", "", tuple(refused), {})


@lru_cache(maxsize=2)
def _libraries(skills: Path) -> tuple[SkillLibrary, SkillLibrary]:
    """Load the library with scripts only, and with all policies."""
    return load_skills(skills, learned=False), load_skills(skills, unproven=True)


def _carried_out(command: SkillCommand, library: SkillLibrary, skill: CheckedSkill, shoved: bool) -> CommandRun | str:
    """Run the command with `skill` and `library`; return the message if the skill could not begin."""
    world = command.open_world()
    watched = _Watched(skill, world, np.random.default_rng((command.seed, 5)) if shoved else None)
    mixed = SkillLibrary({**library.skills, skill.name: CheckedSkill(skill.manifest, watched)})
    report = run_command(
        command.words,
        Workcell(world, mixed),
        lambda scene: plan_program(command.words, command.program, scene, mixed.for_scene(scene).signatures),
    )
    before, after = report.scene_before, report.scene_after
    if report.plan is None or watched.began is None:
        return report.message
    assert before is not None
    assert after is not None
    moment = Moment(after, command.arguments, command.held, {item.name: item.position for item in before.objects})
    shown = all(holds(effect, moment) for effect in skill.manifest.effects)
    done = report.outcome is Outcome.DONE and shown
    run = CommandRun(
        done, report.outcome.value, report.message, report.duration, watched.shove.told if watched.shove else ""
    )
    return run if done else replace(run, valid=watched.could_go_on())


class _Watched:
    """Skill wrapper that disturbs its first run once, if asked, and records that it began to move."""

    def __init__(self, skill: CheckedSkill, world: World, rng: np.random.Generator | None) -> None:
        self.name, self._skill, self._world, self._rng = skill.name, skill, world, rng
        self._arguments: Arguments = {}
        self.shove: Shove | None = None
        self.began: Observation | None = None

    def start(self, arguments: Arguments, observation: Observation) -> SkillRun:
        run = self._skill.implementation.start(arguments, observation)
        if self.began is None:
            self._arguments = arguments
            if self._rng is not None:
                self.shove = Shove(self._world, arguments, self._rng, observation)
        return _WatchedRun(self, run, observation)

    def could_go_on(self) -> bool:
        """Return whether the script could continue from the state after the disturbance."""
        if self.shove is None or self.shove.left is None or self.began is None:
            return True
        decision = decision_of(self._skill.manifest, ArmSettings(), self._arguments, self.began)
        return goes_on(decision, self.began, self.shove.left)


class _WatchedRun:
    def __init__(self, watched: _Watched, run: SkillRun, began: Observation) -> None:
        self._watched, self._run, self._began = watched, run, began

    @property
    def phase(self) -> str:
        return self._run.phase

    def step(self, observation: Observation) -> MotionReference | SkillResult:
        watched, outcome = self._watched, None
        if watched.shove is not None:
            watched.shove.see(observation)
        try:
            outcome = self._run.step(observation)
        finally:
            if isinstance(outcome, MotionReference):
                watched.began = watched.began or self._began
            elif watched.shove is not None:
                watched.shove.end(observation)
        return outcome


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


def tried_skills(skills: Path) -> list[str]:
    """List the skills in the folder that have both a policy and a script to compare."""
    trained = [path for path in sorted(skills.glob("*/skill.yaml")) if path.with_name(POLICY_FILE).exists()]
    policies = {path.parent.name: read_manifest(path).policy for path in trained}
    return [name for name, policy in policies.items() if policy is not None and not policy.by_sight]


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
            file.write(json.dumps(asdict(trial)) + "\n")
            file.flush()
            known[_key(trial)] = trial
            report(trial)
    return [known[_key(job)] for job in asked]


_TRIAL = TypeAdapter(CommandTrial)


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
                trials.append(_TRIAL.validate_json(line))
        except ValueError as error:
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

"""A skill tried as commands draw it: by its policy and by its script in the same scenes, through the whole path.

Nothing is left out of what `llm-planner run` does but the language model: the program is checked and rehearsed, carried
out by the in-process runner with its retries and repairs, and judged by the simulator's scene.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from llm_planner.control.reference import MotionReference
from llm_planner.plan.in_process import Workcell, run_command
from llm_planner.plan.plan import Outcome
from llm_planner.plan.planning import plan_program
from llm_planner.simulation.world import World
from llm_planner.skills.arm import ArmSettings
from llm_planner.skills.contract import Argument, Observation, SkillResult, SkillRun
from llm_planner.skills.errors import SkillError
from llm_planner.skills.learned.loading import decision_of
from llm_planner.skills.learned.standing import POLICY, SCRIPT
from llm_planner.skills.learning.commands import SkillCommand, draw_command
from llm_planner.skills.learning.evaluating import Shove, goes_on
from llm_planner.skills.library import CheckedSkill, SkillLibrary, load_skills
from llm_planner.skills.manifest import Manifest
from llm_planner.world.atoms import Moment, holds
from llm_planner.world.scene import Scene

NUMBERS = 8  # of commands drawn for a seed until one is found that the script does not refuse
MOVERS = (POLICY, SCRIPT)
CONDITIONS = ("alone", "shoved")


@dataclass(frozen=True)
class CommandRun:
    """How one command went. `done`: the report says so, and the scene shows what was asked for. `valid` is false where
    it failed and no skill could have done it: a shove left the thing where the script cannot take it either."""

    done: bool
    outcome: str
    message: str
    seconds: float
    shoved: str = ""
    valid: bool = True


@dataclass(frozen=True)
class CommandTrial:
    """One command carried out by policy and script, left alone and shoved: `runs[condition][mover]`.

    `weights` is the digest of the policy; `refused` says why the commands drawn before it for this seed could not
    begin, and `runs` is empty where none could.
    """

    skill: str
    seed: int
    weights: str
    words: str
    program: str
    refused: tuple[str, ...]
    runs: Mapping[str, Mapping[str, CommandRun]]

    def to_json(self) -> dict[str, Any]:
        """As one plain object."""
        return asdict(self)


def read_trial(table: Mapping[str, Any]) -> CommandTrial:
    """The trial that `CommandTrial.to_json` gave; raises KeyError or TypeError for anything else."""
    runs = {
        condition: {mover: CommandRun(**run) for mover, run in movers.items()}
        for condition, movers in table["runs"].items()
    }
    return CommandTrial(**{**table, "refused": tuple(table["refused"]), "runs": runs})


@dataclass(frozen=True)
class CommandJob:
    """The trial of one skill of the library in the folder `skills` in the scene of one seed."""

    skills: Path
    skill: str
    seed: int
    weights: str


def try_commands(job: CommandJob) -> CommandTrial:
    """Draw a command for the seed that the script can begin, and carry it out four times."""
    scripted, learned = _libraries(job.skills)
    manifest = scripted.find(job.skill).manifest
    refused: list[str] = []
    for number in range(NUMBERS):
        command = draw_command(manifest, job.seed, number)
        first = _carried_out(command, scripted, scripted.find(job.skill), shoved=False)
        if isinstance(first, str):
            refused.append(first)
            continue
        runs: dict[str, dict[str, CommandRun]] = {condition: {} for condition in CONDITIONS}
        for condition in CONDITIONS:
            for mover, library in zip(MOVERS, (learned, scripted), strict=True):
                known = (condition, mover) == ("alone", "script")
                run = first if known else _carried_out(command, scripted, library.find(job.skill), condition != "alone")
                # What the script can begin can be begun by all; a run that refuses it has failed.
                runs[condition][mover] = CommandRun(False, "refused", run, 0.0) if isinstance(run, str) else run
        return CommandTrial(job.skill, job.seed, job.weights, command.words, command.program, tuple(refused), runs)
    return CommandTrial(job.skill, job.seed, job.weights, "", "", tuple(refused), {})


@lru_cache(maxsize=2)
def _libraries(skills: Path) -> tuple[SkillLibrary, SkillLibrary]:
    """All by scripts, and all that have one by a policy."""
    return load_skills(skills, learned=False), load_skills(skills, unproven=True)


def _carried_out(command: SkillCommand, library: SkillLibrary, skill: CheckedSkill, shoved: bool) -> CommandRun | str:
    """The command with `skill`, and the others of `library`; why it could not begin, where it could not."""
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
    done = report.outcome is Outcome.DONE and _shows(skill.manifest, command, before, after)
    run = CommandRun(done, report.outcome.value, report.message, report.duration, watched.told)
    return run if done else replace(run, valid=watched.could_go_on())


def _shows(manifest: Manifest, command: SkillCommand, before: Scene, after: Scene) -> bool:
    """Whether what was asked for is so, measured from how the table was before the command."""
    origins = {item.name: item.position for item in before.objects}
    moment = Moment(after, command.arguments, command.held, origins)
    return all(holds(effect, moment) for effect in manifest.effects)


class _Watched:
    """A skill that is shoved once, where it is to be, and of which is known whether it ever began."""

    def __init__(self, skill: CheckedSkill, world: World, rng: np.random.Generator | None) -> None:
        self.name, self._skill, self._world, self._rng = skill.name, skill, world, rng
        self._shove: Shove | None = None
        self._arguments: Mapping[str, Argument] = {}
        self.began: Observation | None = None

    @property
    def told(self) -> str:
        """What was shoved."""
        return self._shove.told if self._shove else ""

    def start(self, arguments: Mapping[str, Argument], observation: Observation) -> SkillRun:
        """See `Skill`."""
        run = self._skill.implementation.start(arguments, observation)
        if self.began is None and self._rng is not None:
            self._shove = Shove(self._world, arguments, self._rng, observation)
        return _WatchedRun(self, run, arguments, observation)

    def see(self, observation: Observation) -> None:
        if self._shove is not None:
            self._shove.see(observation)

    def moves(self, arguments: Mapping[str, Argument], began: Observation) -> None:
        """It has begun to move."""
        if self.began is None:
            self._arguments, self.began = arguments, began

    def ended(self, observation: Observation) -> None:
        if self._shove is not None:
            self._shove.end(observation)

    def could_go_on(self) -> bool:
        """Whether the script could, from what a shove left."""
        if self._shove is None or self._shove.left is None or self.began is None:
            return True
        decision = decision_of(self._skill.manifest, ArmSettings(), self._arguments, self.began)
        return goes_on(decision, self.began, self._shove.left)


class _WatchedRun:
    def __init__(self, watched: _Watched, run: SkillRun, arguments: Mapping[str, Argument], began: Observation) -> None:
        self._watched, self._run, self._arguments, self._began = watched, run, arguments, began

    @property
    def phase(self) -> str:
        return self._run.phase

    def step(self, observation: Observation) -> MotionReference | SkillResult:
        """See `SkillRun`."""
        self._watched.see(observation)
        try:
            outcome = self._run.step(observation)
        except SkillError:
            self._watched.ended(observation)
            raise
        if isinstance(outcome, SkillResult):
            self._watched.ended(observation)
        else:
            self._watched.moves(self._arguments, self._began)
        return outcome

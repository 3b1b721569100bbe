"""Evaluation of skills: trials with and without disturbances.

The simulator's scene decides whether a trial succeeded.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace

import numpy as np

from llm_planner.errors import InputError
from llm_planner.learning.cases import Case
from llm_planner.learning.demonstrations import (
    FORCE_TIME,
    begin,
    named_in,
    release_hand,
    shove_hand,
    shove_thing,
)
from llm_planner.learning.pool import Pool
from llm_planner.learning.report import Failure, Tally, wilson
from llm_planner.learning.training_task import TrainingTask, demonstrators
from llm_planner.robots.arm_model import ArmModel
from llm_planner.robots.motion import Observation
from llm_planner.simulation.renderers import SceneCamera
from llm_planner.simulation.world import World
from llm_planner.skills.arm import Arm, ArmSettings
from llm_planner.skills.contract import Arguments, Skill, SkillError, SkillErrorCode, SkillResult, SkillRun
from llm_planner.skills.episode import Episode
from llm_planner.skills.learned.chunk import Decision
from llm_planner.skills.learned.loading import decision_of, learned_skill, load_sampler, shows_effects
from llm_planner.skills.library import CheckedSkill, SkillLibrary
from llm_planner.skills.manifest import Manifest
from llm_planner.skills.scripted import ScriptedSkill
from llm_planner.skills.sight_picking import load_sight, picking_by_sight

SHOVED_AFTER = (0.3, 3.0)  # [s] time of the disturbance
AT_ONCE = 1.0  # [s] after a disturbance; later failures count against the skill


@dataclass(frozen=True)
class Trial:
    """Result of one episode; `done` if the scene shows the effects. `seconds` are simulated [s].

    `valid` is False if no skill could succeed: the setup failed, the skill refused to start, or the disturbance left
    the object where the demonstrator cannot act either.
    """

    seed: int
    done: bool
    result: SkillResult
    seconds: float
    shoved: str = ""
    valid: bool = True

    @property
    def succeeded(self) -> bool:
        """Whether the scene shows the effects and the skill reported success."""
        return self.done and self.result.code is SkillErrorCode.SUCCEEDED


def evaluate(
    skill: CheckedSkill, case: Case, library: SkillLibrary, seed: int, perturbed: bool,
    watch: Callable[[Observation], None] = lambda observation: None, arm: ArmModel | None = None,
) -> Trial:  # fmt: skip
    """Run one episode of a skill.

    Args:
        skill: Skill to evaluate.
        case: Initial state and arguments.
        library: Skills that prepare the case.
        seed: Seed of the world and the disturbance.
        perturbed: Whether to disturb the skill once.
        watch: Callback with each observation of the skill and the final one.
        arm: Arm that moves; None for the default one.

    Returns:
        The trial.
    """
    rng = np.random.default_rng((seed, 3))
    world = World(seed, case.objects, arm=arm)
    episode = Episode(world)
    reached = begin(case, episode, library, rng)
    if reached.code is not SkillErrorCode.SUCCEEDED:
        return Trial(seed, False, reached, world.time, valid=False)
    began = episode.observe()
    try:
        run = skill.start(case.arguments, began)
    except SkillError as refusal:  # refused before any motion, such as for lack of space
        return Trial(seed, False, SkillResult(refusal.code, str(refusal)), 0.0, valid=False)
    shove = Shove(world, case.arguments, rng, began) if perturbed else None
    result = _ran(episode, run, shove, watch)
    ended = episode.observe()
    watch(ended)
    done = shows_effects(skill.manifest, case.arguments, began, ended)
    trial = Trial(seed, done, result, world.time - began.time, shove.told if shove else "")
    if trial.succeeded or shove is None or shove.left is None:
        return trial
    decision = decision_of(skill.manifest, ArmSettings(), case.arguments, began)
    return replace(trial, valid=goes_on(decision, began, shove.left))


def goes_on(decision: Decision, began: Observation, left: Observation) -> bool:
    """Return whether the demonstrator, having seen the start, can continue after the disturbance."""
    try:
        decision.aim(began)
        decision.aim(left)
    except SkillError:
        return False
    return True


def _ran(episode: Episode, run: SkillRun, shove: Shove | None, watch: Callable[[Observation], None]) -> SkillResult:
    result = None
    while result is None:
        observation = episode.observe()
        if shove:
            shove.see(observation)
        watch(observation)
        result = episode.advance(run, observation)
    if shove:
        shove.end(episode.observe())
    episode.settle()
    return result


class Shove:
    """One disturbance of an episode: a push of the hand or a displacement of an object of the skill.

    `left` is the observation a moment after it; later failures count against the skill.
    """

    def __init__(self, world: World, arguments: Arguments, rng: np.random.Generator, began: Observation) -> None:
        self._world, self._rng = world, rng
        self._names = named_in(world.scene(), arguments)
        self._time = began.time + rng.uniform(*SHOVED_AFTER)
        self._until = math.inf
        self.told = ""
        self.left: Observation | None = None

    def see(self, observation: Observation) -> None:
        """Start or end the disturbance when its time has come."""
        time = observation.time
        if not self.told and time >= self._time:
            if self._rng.random() < 0.5 and shove_thing(self._world, self._names, self._rng):
                self.told = "thing"
            else:
                self.told, self._until = "hand", time + FORCE_TIME
                shove_hand(self._world, self._rng)
        elif time >= self._until:
            self._until = math.inf
            release_hand(self._world)
        if self.told and self.left is None and time >= self._time + AT_ONCE:
            self.left = observation

    def end(self, observation: Observation) -> None:
        """Record the observation at the end of the skill."""
        release_hand(self._world)
        if self.told and self.left is None:
            self.left = observation


FIRST_SEED = 900_000_000  # of trials; distinct from the seeds of demonstrations


@dataclass(frozen=True)
class _Job:
    task: TrainingTask
    seed: int
    perturbed: bool
    scripted: bool


def try_out(
    task: TrainingTask, episodes: int, seed: int, pool: Pool, report: Callable[[int], None], scripted: bool = False
) -> tuple[Tally, Tally]:
    """Run `episodes` trials without and `episodes` with disturbances; `scripted` tries the demonstrator instead.

    `report` receives the number of trials just finished. Raises InputError if all trials are invalid.
    """
    first = FIRST_SEED + 10_000 * seed
    jobs = [_Job(task, first + k, perturbed, scripted) for perturbed in (False, True) for k in range(episodes)]
    trials: dict[int, Trial] = {}
    for position, trial in pool.results(_tried, jobs):
        trials[position] = trial
        report(1)
    in_order = [trials[position] for position in range(len(jobs))]
    return tally(in_order[:episodes]), tally(in_order[episodes:])


def tally(trials: Sequence[Trial]) -> Tally:
    """Summarise the trials under one condition; raise InputError if all are invalid."""
    valid = [trial for trial in trials if trial.valid]
    if not valid:
        raise InputError("no trial got as far as the skill: what has to be done before it failed in all of them")
    successes, seeds = sum(trial.succeeded for trial in valid), [trial.seed for trial in trials]
    failures = tuple(_failure(trial) for trial in valid if not trial.succeeded)
    left_out = tuple(_failure(trial) for trial in trials if not trial.valid)
    interval = wilson(successes, len(valid))
    return Tally(successes, len(valid), interval, (min(seeds), max(seeds)), failures, left_out)


UNSEEN = "EFFECT_NOT_SEEN"  # the skill reported success, but the scene does not show it


def _failure(trial: Trial) -> Failure:
    code = trial.result.code
    reason = UNSEEN if code is SkillErrorCode.SUCCEEDED else code.name
    return Failure(trial.seed, reason, trial.result.message, trial.shoved)


def try_one(
    task: TrainingTask, seed: int, perturbed: bool, scripted: bool = False,
    watch: Callable[[Observation], None] = lambda observation: None,
) -> Trial:  # fmt: skip
    """Run one trial, determined by its seed; see `evaluate` for `watch`."""
    library, case = demonstrators(task.skills), task.draw_case(seed)
    if task.contract.by_sight and not scripted:
        with seeing(task) as skill:
            return evaluate(skill, case, library, seed, perturbed, watch, task.arm)
    if scripted:
        skill = library.find(task.manifest.demonstrator if task.contract.by_sight else task.name)
    else:
        sampler = load_sampler(task.manifest, task.policy)
        skill = CheckedSkill(task.manifest, learned_skill(task.manifest, sampler, ArmSettings()))
    return evaluate(skill, case, library, seed, perturbed, watch, task.arm)


def _tried(job: _Job) -> Trial:
    return try_one(job.task, job.seed, job.perturbed, job.scripted)


@contextmanager
def seeing(task: TrainingTask) -> Iterator[CheckedSkill]:
    """Open the skill with its policy and a camera; raise InputError if the policy is unreadable."""
    manifest, network = task.manifest, load_sight(task.policy)
    with SceneCamera() as camera:
        script = picking_by_sight(manifest.name, network, camera)
        skill = ScriptedSkill(
            manifest.name, script, manifest.timeout, lambda seen, began: Arm(seen, ArmSettings(), began)
        )
        yield CheckedSkill(manifest, _Possible(manifest, skill))


@dataclass(frozen=True)
class _Possible:
    """Skill wrapper that refuses to start if the demonstrator would refuse."""

    manifest: Manifest
    skill: Skill

    @property
    def name(self) -> str:
        return self.skill.name

    def start(self, arguments: Arguments, observation: Observation) -> SkillRun:
        """See `Skill`; raise SkillError if the demonstrator does."""
        decision_of(self.manifest, ArmSettings(), arguments, observation).aim(observation)
        return self.skill.start(arguments, observation)

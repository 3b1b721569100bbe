"""How often a skill succeeds, left alone or shoved in the middle: by what the simulator's scene shows.

Many trials of a skill, and what they say of it.

How sure a share is that was counted in trials.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from llm_planner.learning.cases import FORCE_TIME, Case, draw_case, release_hand, shove_hand, shove_thing
from llm_planner.learning.demonstrations import begin, named_in
from llm_planner.learning.pool import Pool
from llm_planner.learning.sight_trials import seeing
from llm_planner.learning.training_task import TrainingTask, demonstrators
from llm_planner.programs.values import Argument
from llm_planner.robots.motion import Observation
from llm_planner.simulation.world import World
from llm_planner.skills.arm import ArmSettings
from llm_planner.skills.contract import SkillError, SkillErrorCode, SkillResult, SkillRun
from llm_planner.skills.episode import Episode
from llm_planner.skills.learned.chunk import Decision
from llm_planner.skills.learned.loading import decision_of, learned_skill, load_sampler, shows_effects
from llm_planner.skills.library import CheckedSkill, SkillLibrary

SHOVED_AFTER = (0.3, 3.0)  # [s]
AT_ONCE = 1.0  # [s]


@dataclass(frozen=True)
class Trial:
    """How one episode went. `done` is what the scene shows, `result` what the skill said, `seconds` simulated;
    `valid` is false where no skill could do it: what came before failed, it was refused before anything moved, or the
    shove left the thing where the demonstrator cannot take it either."""

    seed: int
    done: bool
    result: SkillResult
    seconds: float
    shoved: str = ""
    valid: bool = True

    @property
    def succeeded(self) -> bool:
        """The scene shows the effects, and the skill said that it had succeeded."""
        return self.done and self.result.code is SkillErrorCode.SUCCEEDED


def evaluate(
    skill: CheckedSkill, case: Case, library: SkillLibrary, seed: int, perturbed: bool,
    watch: Callable[[Observation], None] = lambda observation: None,
) -> Trial:  # fmt: skip
    """One episode of `skill` in the world of `case`; `library` does what is to be done before.

    `watch` is shown what the skill sees, and how it ended.
    """
    rng = np.random.default_rng((seed, 3))
    world = World(seed, case.objects)
    episode = Episode(world)
    reached = begin(case, episode, library, rng)
    if reached.code is not SkillErrorCode.SUCCEEDED:
        return Trial(seed, False, reached, world.time, valid=False)
    began = episode.observe()
    try:
        run = skill.start(case.arguments, began)
    except SkillError as refusal:  # nothing has moved: there is no room, or nothing to take hold of
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
    """Whether the demonstrator goes on, which saw how it began, from what a shove left."""
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
    """Once in an episode the hand is shoved, or a thing that the skill is about is moved.

    `left` is what was seen a moment after that: what goes wrong later is the skill's own doing.
    """

    def __init__(
        self, world: World, arguments: Mapping[str, Argument], rng: np.random.Generator, began: Observation
    ) -> None:
        self._world, self._rng = world, rng
        self._names = named_in(world.scene(), arguments)
        self._time = began.time + rng.uniform(*SHOVED_AFTER)
        self._until = math.inf
        self.told = ""
        self.left: Observation | None = None

    def see(self, observation: Observation) -> None:
        """Begin or end it as the time has come."""
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
        """The skill ended, and this is what was seen then."""
        release_hand(self._world)
        if self.told and self.left is None:
            self.left = observation


Z = 1.959964  # deviations of a normal distribution around 95 % of it


def wilson(successes: int, trials: int) -> tuple[float, float]:
    """The 95 % interval of a success rate (Wilson, 1927)."""
    z, n = Z, max(trials, 1)
    rate, z2 = successes / n, z**2 / n
    middle = (rate + z2 / 2) / (1 + z2)
    half = z / (1 + z2) * math.sqrt(rate * (1 - rate) / n + z2 / (4 * n))
    return max(0.0, middle - half), min(1.0, middle + half)


def paired_difference(both: int, first: int, second: int, neither: int) -> tuple[float, float]:
    """The 95 % interval of how much likelier the first of two is to succeed than the second, tried in pairs.

    Args:
        both: pairs in which both succeeded.
        first: pairs in which only the first succeeded.
        second: pairs in which only the second succeeded.
        neither: pairs in which both failed.

    Returns:
        Lower and upper end of the difference of the two rates (Newcombe, 1998, method 10).
    """
    n = max(1, both + first + second + neither)
    p, q = (both + first) / n, (both + second) / n
    (p_low, p_high), (q_low, q_high) = wilson(both + first, n), wilson(both + second, n)
    marginals = (both + first) * (second + neither) * (both + second) * (first + neither)
    correlation = (both * neither - first * second) / math.sqrt(marginals) if marginals else 0.0
    down, up = (
        math.sqrt(max(0.0, a**2 - 2 * correlation * a * b + b**2))
        for a, b in ((p - p_low, q_high - q), (p_high - p, q - q_low))
    )
    return p - q - down, p - q + up


FIRST_SEED = 900_000_000  # of trials: no demonstration has such a seed


@dataclass(frozen=True)
class _Job:
    lesson: TrainingTask
    seed: int
    perturbed: bool
    scripted: bool


@dataclass(frozen=True)
class Outcome:
    """Of trials under one condition: `trials` in the order of their seeds; `left_out` are those that say nothing about
    the skill, see `Trial.valid`."""

    perturbed: bool
    trials: tuple[Trial, ...]
    left_out: tuple[Trial, ...] = ()

    @property
    def successes(self) -> int:
        return sum(trial.succeeded for trial in self.trials)

    @property
    def rate(self) -> float:
        return self.successes / max(1, len(self.trials))

    @property
    def interval(self) -> tuple[float, float]:
        """95 %."""
        return wilson(self.successes, len(self.trials))


def try_out(
    lesson: TrainingTask, episodes: int, seed: int, pool: Pool, report: Callable[[int], None], scripted: bool = False
) -> tuple[Outcome, Outcome]:
    """So many trials left alone, and as many perturbed; `scripted` tries the demonstrator instead."""
    first = FIRST_SEED + 10_000 * seed
    jobs = [_Job(lesson, first + k, perturbed, scripted) for perturbed in (False, True) for k in range(episodes)]
    trials: dict[int, Trial] = {}
    for position, trial in pool.results(_tried, jobs):
        trials[position] = trial
        report(1)
    plain, shoved = (
        _outcome(perturbed, [trials[k] for k in range(len(jobs)) if jobs[k].perturbed is perturbed])
        for perturbed in (False, True)
    )
    return plain, shoved


def _outcome(perturbed: bool, trials: Sequence[Trial]) -> Outcome:
    valid, left_out = (tuple(trial for trial in trials if trial.valid is kind) for kind in (True, False))
    return Outcome(perturbed, valid, left_out)


def try_one(
    lesson: TrainingTask, seed: int, perturbed: bool, scripted: bool = False,
    watch: Callable[[Observation], None] = lambda observation: None,
) -> Trial:  # fmt: skip
    """One trial: the seed decides everything; see `evaluate` for `watch`."""
    library, case = demonstrators(lesson.skills), draw_case(lesson.contract.world, seed)
    if lesson.contract.by_sight and not scripted:
        with seeing(lesson) as skill:
            return evaluate(skill, case, library, seed, perturbed, watch)
    if scripted:
        skill = library.find(lesson.manifest.script if lesson.contract.by_sight else lesson.name)
    else:
        sampler = load_sampler(lesson.manifest, lesson.policy)
        skill = CheckedSkill(lesson.manifest, learned_skill(lesson.manifest, sampler, ArmSettings()))
    return evaluate(skill, case, library, seed, perturbed, watch)


def _tried(job: _Job) -> Trial:
    return try_one(job.lesson, job.seed, job.perturbed, job.scripted)

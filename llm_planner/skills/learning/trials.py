"""Many trials of a skill, and what they say of it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from llm_planner.skills.arm import ArmSettings
from llm_planner.skills.contract import Observation
from llm_planner.skills.learned.loading import learned_skill, load_sampler
from llm_planner.skills.learning.cases import draw_case
from llm_planner.skills.learning.evaluating import Trial, evaluate
from llm_planner.skills.learning.intervals import wilson
from llm_planner.skills.learning.lesson import Lesson, demonstrators
from llm_planner.skills.learning.pool import Pool
from llm_planner.skills.library import CheckedSkill
from llm_planner.skills.sight.trying import seeing

FIRST_SEED = 900_000_000  # of trials: no demonstration has such a seed


@dataclass(frozen=True)
class _Job:
    lesson: Lesson
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
    lesson: Lesson, episodes: int, seed: int, pool: Pool, report: Callable[[int], None], scripted: bool = False
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
    lesson: Lesson, seed: int, perturbed: bool, scripted: bool = False,
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

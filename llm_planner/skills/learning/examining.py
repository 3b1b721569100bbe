"""The examination of a learned skill: its trials are counted, its failures shown, and that is kept with the policy."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from llm_planner.errors import SimulationError
from llm_planner.skills.learned.loading import load_sampler
from llm_planner.skills.learning.command_tally import tally_commands
from llm_planner.skills.learning.command_trials import CommandTrial
from llm_planner.skills.learning.lesson import Lesson
from llm_planner.skills.learning.pool import Pool
from llm_planner.skills.learning.report import Evaluated, Latency, SkillReport, tally, write_report
from llm_planner.skills.learning.report_page import write_page
from llm_planner.skills.learning.strip import PICTURE_FILE, draw_strip, scenes_of
from llm_planner.skills.learning.teaching import report_of
from llm_planner.skills.learning.trials import try_out
from llm_planner.skills.policies.conditioning import Conditioning
from llm_planner.skills.policies.seams import ChunkSampler
from llm_planner.skills.sight.trying import look_times

CHUNKS = 300  # whose latency is measured


def examine(lesson: Lesson, episodes: int, seed: int, pool: Pool, report: Callable[[int], None]) -> SkillReport:
    """Try the policy out, and write report.json, report.md and their pictures.

    `report` hears of each trial that is over. Raises InputError where there is no policy.
    """
    known = report_of(lesson)
    latency = _latency(lesson)
    plain, perturbed = (tally(outcome) for outcome in try_out(lesson, episodes, seed, pool, report))
    result = replace(known, evaluated=Evaluated(plain, perturbed, latency))
    write_report(lesson.folder, result)
    write_page(lesson.folder, result, _picture(lesson, result))
    return result


def examine_on_commands(lesson: Lesson, trials: Sequence[CommandTrial]) -> SkillReport:
    """Write into the report of a skill what its trials on commands say, and with it what is to move it.

    Raises InputError where there is no policy.
    """
    result = replace(report_of(lesson), commands=tally_commands(trials))
    write_report(lesson.folder, result)
    drawn = (lesson.folder / PICTURE_FILE).exists() or result.evaluated is None
    write_page(lesson.folder, result, "" if drawn else "none was drawn")
    return result


def _latency(lesson: Lesson) -> Latency:
    if lesson.contract.by_sight:
        return latency_from(look_times(lesson))
    return latency_of(load_sampler(lesson.manifest, lesson.policy), time.perf_counter)


def latency_of(sampler: ChunkSampler, clock: Callable[[], float]) -> Latency:
    """Of chunks from no noise, by the `clock` [s]."""
    spec = sampler.spec
    conditioning = Conditioning(
        np.zeros((spec.n_obs_steps, spec.observation_dim), np.float32), np.zeros(spec.goal_dim, np.float32)
    )
    noise, times = np.zeros((1, spec.horizon, spec.action_dim), np.float32), []
    for _ in range(CHUNKS):
        began = clock()
        sampler.sample(conditioning, noise)
        times.append(clock() - began)
    return latency_from(times)


def latency_from(times: Sequence[float]) -> Latency:
    """Of chunks, or looks, that took so long [s]."""
    median, p99 = np.percentile(np.array(times) * 1000, [50, 99]).tolist()
    return Latency(median, p99)


def _picture(lesson: Lesson, report: SkillReport) -> str:
    """Why there is no picture, empty where there is one."""
    try:
        draw_strip(scenes_of(lesson, report), lesson.folder / PICTURE_FILE)
    except SimulationError as error:
        return str(error)
    return ""

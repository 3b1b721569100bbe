"""Improvement and examination of learned policies.

A policy is improved in a copy of its skill, which replaces the skill only if it succeeds at least as often. The
examination counts the trials, pictures failures and stores the report with the policy.
"""

from __future__ import annotations

import shutil
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from llm_planner.errors import InputError, SimulationError
from llm_planner.learning.command_trials import CommandTrial, tally_commands
from llm_planner.learning.dataset import read_recordings
from llm_planner.learning.evaluating import evaluate, try_out
from llm_planner.learning.pool import Pool
from llm_planner.learning.recording import Recording
from llm_planner.learning.report import Evaluated, Latency, SkillReport, write_report
from llm_planner.learning.report_page import PICTURE_FILE, draw_strip, scenes_of, write_page
from llm_planner.learning.skill_training import report_of
from llm_planner.learning.training_task import TrainingTask, demonstrators
from llm_planner.robots.arm_model import default_arm
from llm_planner.simulation.renderers import SIZE
from llm_planner.skills.arm import ArmSettings
from llm_planner.skills.learned.loading import CRITIC_FILE, POLICY_FILE, REPORT_FILE, learned_skill, load_sampler
from llm_planner.skills.learned.samplers import ChunkSampler, Rollout, save_critic
from llm_planner.skills.learned.velocity_field import Array, Conditioning, PolicySpec
from llm_planner.skills.learned.weights_file import load_policy, write_atomically
from llm_planner.skills.library import CheckedSkill
from llm_planner.skills.sight_picking import glimpse, load_sight

if TYPE_CHECKING:
    from llm_planner.learning.policy_training import CriticSettings


FIRST_ROLLOUT = 950_000_000  # seed; distinct from those of trials and demonstrations


class RecordingSampler:
    """`ChunkSampler` that samples with its own noise and records its inputs and outputs."""

    def __init__(self, sampler: ChunkSampler, rng: np.random.Generator) -> None:
        self._sampler, self._rng = sampler, rng
        self.conditionings: list[Conditioning] = []
        self.chunks: list[Array] = []

    @property
    def spec(self) -> PolicySpec:
        return self._sampler.spec

    def sample(self, conditioning: Conditioning, noise: Array) -> Array:
        chunks = self._sampler.sample(conditioning, self._rng.standard_normal(noise.shape, dtype=np.float32))
        self.conditionings.append(conditioning)
        self.chunks.append(chunks[0])
        return chunks


@dataclass(frozen=True)
class _Job:
    task: TrainingTask
    seed: int


def roll_out(
    task: TrainingTask, episodes: int, seed: int, pool: Pool, report: Callable[[int], None]
) -> list[Rollout]:  # fmt: skip
    """Run perturbed episodes of the policy; return the rollouts in which it was sampled.

    `report` receives the number of episodes just finished.
    """
    first, rollouts = FIRST_ROLLOUT + 10_000 * seed, {}
    for position, rollout in pool.results(_rolled_out, [_Job(task, first + k) for k in range(episodes)]):
        rollouts[position] = rollout
        report(1)
    return [rollouts[position] for position in sorted(rollouts) if len(rollouts[position].chunks)]


def _rolled_out(job: _Job) -> Rollout:
    task, library = job.task, demonstrators(job.task.skills)
    noted = RecordingSampler(load_sampler(task.manifest, task.policy), np.random.default_rng((job.seed, 4)))
    skill = CheckedSkill(task.manifest, learned_skill(task.manifest, noted, ArmSettings()))
    trial = evaluate(skill, task.draw_case(job.seed), library, job.seed, True, arm=task.arm)
    return Rollout(tuple(noted.conditionings), np.array(noted.chunks, np.float32), trial.succeeded)


def criticise(task: TrainingTask, rollouts: Sequence[Rollout], seed: int, settings: CriticSettings) -> None:
    """Train a critic on the rollouts and store it with the skill.

    Raises InputError if all rollouts have the same outcome.
    """
    import torch

    from llm_planner.learning.policy_training import train_critic

    torch.set_num_threads(1)  # two threads slow down a small network
    critic = train_critic(load_policy(task.policy), rollouts, seed, settings)
    save_critic(task.folder / CRITIC_FILE, critic)
    # The command trials evaluated the policy without the critic.
    write_report(task.folder, replace(report_of(task), commands=None))


def read_corrections(task: TrainingTask, folder: Path) -> list[Recording]:
    """Read the corrections in a dataset; raise InputError if there are none or the format differs."""
    if not folder.is_dir():
        raise InputError(f"there are no corrections in {folder}; docs/concepts/skills.md tells how they are written")
    format, recordings = read_recordings(folder)
    corrections = [recording for recording in recordings if recording.source == "correction"]
    if not corrections:
        raise InputError(f"{folder} has no corrections: none of its {len(recordings)} recordings has that source")
    if format != task.format:
        raise InputError(f"{folder} holds {format}, but {task.name} learns from {task.format}")
    return corrections


WRITTEN = frozenset((POLICY_FILE, CRITIC_FILE, REPORT_FILE, "report.md", "report.png", "report.svg"))  # by training


def candidate_of(task: TrainingTask) -> TrainingTask:
    """Copy the library, and the learned files of this skill, to the work folder."""
    folder = task.drafts / "candidate"
    shutil.rmtree(folder, ignore_errors=True)
    learned = [task.folder / name for name in (POLICY_FILE, REPORT_FILE)]
    for path in (*(path for path in task.skills.glob("*/*") if path.name not in WRITTEN), *learned):
        if path.is_file():
            copy = folder / "skills" / path.relative_to(task.skills)
            copy.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(path, copy)
    return replace(task, skills=folder / "skills", work=folder / "work")


def adopt(task: TrainingTask, candidate: TrainingTask) -> None:
    """Replace the learned files of the skill by those of the candidate."""
    written = (path for path in candidate.folder.iterdir() if path.name in WRITTEN)
    names = sorted(path.name for path in written)
    if CRITIC_FILE not in names:
        (task.folder / CRITIC_FILE).unlink(missing_ok=True)
    for name in names:
        write_atomically(task.folder / name, (candidate.folder / name).read_bytes())


def is_no_worse(after: Evaluated, before: Evaluated) -> bool:
    """Return whether the successes of the same trials, over both conditions, have not decreased."""
    return after.plain.successes + after.perturbed.successes >= before.plain.successes + before.perturbed.successes


CHUNKS, LOOKS = 300, 60  # chunks, or looks without rendering, in the latency measurement


def examine(task: TrainingTask, episodes: int, seed: int, pool: Pool, report: Callable[[int], None]) -> SkillReport:
    """Evaluate the policy and write report.json, report.md and their pictures.

    `report` receives the number of trials just finished. Raises InputError if the skill has no policy.
    """
    known = report_of(task)
    latency = _latency(task)
    plain, perturbed = try_out(task, episodes, seed, pool, report)
    result = replace(known, evaluated=Evaluated(plain, perturbed, latency))
    write_report(task.folder, result)
    write_page(task.folder, result, _picture(task, result))
    return result


def examine_on_commands(task: TrainingTask, trials: Sequence[CommandTrial]) -> SkillReport:
    """Add the results of command trials to a skill's report, and with them who moves the skill.

    Raises InputError if the skill has no policy.
    """
    result = replace(report_of(task), commands=tally_commands(trials))
    write_report(task.folder, result)
    drawn = (task.folder / PICTURE_FILE).exists() or result.evaluated is None
    write_page(task.folder, result, "" if drawn else "none was drawn")
    return result


def _latency(task: TrainingTask) -> Latency:
    if not task.contract.by_sight:
        return latency_of(load_sampler(task.manifest, task.policy), time.perf_counter)
    network, picture = load_sight(task.policy), np.zeros((SIZE[1], SIZE[0], 3), np.uint8)
    kind, color = network.spec.kinds[0], network.spec.colors[0]
    return _timed(lambda: glimpse(network, picture, kind, color, default_arm().shape), LOOKS, time.perf_counter)


def latency_of(sampler: ChunkSampler, clock: Callable[[], float]) -> Latency:
    """Measure the latency of sampling chunks from zero noise; `clock` returns the time [s]."""
    spec = sampler.spec
    conditioning = Conditioning(
        np.zeros((spec.n_obs_steps, spec.observation_dim), np.float32), np.zeros(spec.goal_dim, np.float32)
    )
    noise = np.zeros((1, spec.horizon, spec.action_dim), np.float32)
    return _timed(lambda: sampler.sample(conditioning, noise), CHUNKS, clock)


def _timed(answer: Callable[[], object], count: int, clock: Callable[[], float]) -> Latency:
    times = []
    for _ in range(count):
        began = clock()
        answer()
        times.append(clock() - began)
    median, p99 = np.percentile(np.array(times) * 1000, [50, 99]).tolist()
    return Latency(median, p99)


def _picture(task: TrainingTask, report: SkillReport) -> str:
    """Draw the picture of trials; return why it cannot be drawn, or ""."""
    try:
        draw_strip(scenes_of(task, report), task.folder / PICTURE_FILE)
    except SimulationError as error:
        return str(error)
    return ""

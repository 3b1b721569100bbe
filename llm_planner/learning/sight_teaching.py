"""Training of a policy by sight, from rendered pictures to the skill's folder; interrupted runs resume."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from llm_planner.learning.cases import KINDS
from llm_planner.learning.collecting import SEEDS
from llm_planner.learning.pool import Pool
from llm_planner.learning.report import SkillReport, Trained
from llm_planner.learning.sight_data import (
    CASES,
    LAYOUTS,
    Album,
    collected_album,
    draw_pictures,
    joined,
    read_album,
    write_album,
)
from llm_planner.learning.teaching import CHECKPOINTS, Progress, progress_file, require_torch, trained_report, versions
from llm_planner.learning.training_task import TrainingTask
from llm_planner.simulation.objects import COLORS
from llm_planner.skills.sight_network import SightSpec
from llm_planner.skills.sight_picking import save_sight

OBJECTIVE = "likelihood"
SPEC = SightSpec(KINDS, ("", *COLORS))


@dataclass(frozen=True)
class _Job:
    world: str
    seeds: Sequence[int]
    path: Path


def pictures(lesson: TrainingTask, seed: int, pool: Pool, report: Callable[[int], None]) -> Album:
    """Render the pictures of a training task, skipping those on disk.

    `report` receives the number of cases just finished. Raises JobError if a worker has no OpenGL, and InputError if a
    file of pictures is unreadable.
    """
    jobs, paths = [], []
    for first in range(seed * SEEDS, seed * SEEDS + lesson.contract.episodes, CASES):
        seeds = range(first, min(first + CASES, seed * SEEDS + lesson.contract.episodes))
        paths.append(album_folder(lesson) / f"{first:09d}_{len(seeds)}.npz")
        if paths[-1].exists():
            report(len(seeds))
        else:
            jobs.append(_Job(lesson.contract.world, seeds, paths[-1]))
    for position, _ in pool.results(_draw, jobs):
        report(len(jobs[position].seeds))
    return joined([read_album(path) for path in paths])


def album_folder(lesson: TrainingTask) -> Path:
    return lesson.work / lesson.name / "pictures"


def _draw(job: _Job) -> None:
    write_album(job.path, collected_album(draw_pictures(job.world, job.seeds), SPEC))


def teach_sight(lesson: TrainingTask, seed: int, album: Album, report: Callable[[int, float], None]) -> SkillReport:
    """Train a policy by sight, and store it with its report.

    `report` receives the number of steps and the loss. Raises InputError without torch.
    """
    require_torch()
    from llm_planner.learning.sight_training import train_sight

    contract, progress = lesson.contract, Progress(progress_file(lesson), time.monotonic)

    def told(step: int, loss: float) -> None:
        progress.add(step, loss)
        report(step, loss)

    every = max(1, contract.steps // CHECKPOINTS)
    network = train_sight(SPEC, album, seed, contract.steps, lesson.checkpoint, told, every)
    save_sight(lesson.policy, network, {"skill": lesson.name, "seed": seed})
    trained = Trained(
        demonstrator=lesson.manifest.demonstrator,
        contract=contract,
        seed=seed,
        objective=OBJECTIVE,
        episodes=len(album) // LAYOUTS,
        recordings=len(album),
        moments=len(album.shown),
        corrections=0,
        seconds=progress.seconds,
        curve=tuple(progress.curve),
        parameters=sum(weight.size for weight in network.weights.values()),
        versions=versions(),
    )
    return trained_report(lesson, trained)

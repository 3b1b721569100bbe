"""Collection of demonstrations with a pool of workers.

Each session is written to its own file, so that an interrupted run loses only unfinished sessions.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from llm_planner.learning.cases import draw_case
from llm_planner.learning.dataset import arrow, read_recordings, sessions_in, write_session
from llm_planner.learning.demonstrations import demonstrate
from llm_planner.learning.pool import Pool
from llm_planner.learning.recording import Recording
from llm_planner.learning.training_task import TrainingTask, demonstrators
from llm_planner.skills.arm import ArmSettings

SESSION = 10  # episodes per session
SEEDS = 1_000_000  # episode seeds reserved per seed


@dataclass(frozen=True)
class _Job:
    lesson: TrainingTask
    session: int
    seeds: Sequence[int]

    @property
    def seed(self) -> int:
        """Seed of the first episode, for error messages."""
        return self.seeds[0]


def collect(lesson: TrainingTask, episodes: int, seed: int, pool: Pool, report: Callable[[int], None]) -> None:
    """Collect demonstrations until `episodes` episodes are on disk, skipping finished sessions.

    `report` receives the number of episodes just finished. Raises InputError if pyarrow is not installed.
    """
    arrow()
    there = sessions_in(lesson.demonstrations)
    jobs = []
    for first in range(seed * SEEDS, seed * SEEDS + episodes, SESSION):
        seeds = range(first, min(first + SESSION, seed * SEEDS + episodes))
        session = first // SESSION
        if session in there:
            report(len(seeds))
        else:
            jobs.append(_Job(lesson, session, seeds))
    for position, recordings in pool.results(_demonstrated, jobs):
        if recordings:
            write_session(lesson.demonstrations, lesson.format, recordings, jobs[position].session)
        report(len(jobs[position].seeds))


def collected(lesson: TrainingTask, episodes: int, seed: int) -> list[Recording]:
    """Read the recordings that `collect` wrote for the same arguments; raise InputError if there is no dataset."""
    wanted = range(seed * SEEDS, seed * SEEDS + episodes)
    _, recordings = read_recordings(lesson.demonstrations)
    return [recording for recording in recordings if recording.seed in wanted]


def _demonstrated(job: _Job) -> list[Recording]:
    lesson, library = job.lesson, demonstrators(job.lesson.skills)
    show = lesson.show(ArmSettings())
    return [
        recording
        for seed in job.seeds
        for recording in demonstrate(show, draw_case(lesson.contract.world, seed), library, seed)
    ]

"""A task that is learned in no time: made-up demonstrations of picking, and a library of one's own."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from llm_planner.learning.recording import Recording
from llm_planner.learning.training_task import TrainingTask, open_training_task
from llm_planner.share import share_folder

STEPS = 6


@pytest.fixture
def make_task(tmp_path: Path) -> Callable[..., TrainingTask]:
    """Of the skill in a library of one's own: `make_task("pick", episodes=2, steps=6, timeout=1.0, robot="arm")`."""

    def make(name: str = "pick", episodes: int = 2, steps: int = STEPS, timeout: float = 1.0, robot: str = "arm"):
        folder = tmp_path / "skills"
        if not folder.exists():
            for copied in ("pick", "go_home"):
                (folder / copied).mkdir(parents=True)
                for file in ("skill.yaml", "skill.py"):
                    shutil.copy(share_folder("skills") / copied / file, folder / copied)
        task = open_training_task(folder, tmp_path / "work", name, robot)
        task = replace(task, manifest=replace(task.manifest, timeout=timeout))
        return task.with_amounts(episodes, steps)

    return make


@pytest.fixture
def made_up() -> Callable[[TrainingTask], list[Recording]]:
    """Two recordings of a task, whose numbers mean nothing."""

    def make(task: TrainingTask) -> list[Recording]:
        rng = np.random.default_rng(0)
        return [
            Recording(
                "pick",
                {
                    column: rng.standard_normal((9, len(names)), dtype=np.float32)
                    for column, names in task.format.names.items()
                },
                True,
                seed,
            )
            for seed in (3, 4)
        ]

    return make


class Here:
    """A pool of this process alone."""

    def results(self, function, jobs) -> Iterator[tuple[int, object]]:
        yield from ((position, function(job)) for position, job in enumerate(jobs))


@pytest.fixture
def here() -> Here:
    return Here()

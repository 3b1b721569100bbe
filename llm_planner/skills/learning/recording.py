"""What is kept of a demonstration, and what the numbers in it are called."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from llm_planner.errors import InputError
from llm_planner.skills.policies.conditioning import Array

SOURCES = ("demonstrator", "correction", "policy")
RESERVED = ("timestamp", "frame_index", "episode_index", "index", "task_index")  # what LeRobot adds to every frame


@dataclass(frozen=True)
class Recording:
    """One undisturbed piece of a demonstration: T moments of `columns`, each (T, n) float32 and finite.

    The usual columns are "observation.state", "observation.goal", "observation.frame" and "action"; "weight" (T, 1) is
    how much each moment counts in training. `task` is a sentence, `source` one of SOURCES, `seed` that of the episode.
    """

    task: str
    columns: Mapping[str, Array]
    success: bool
    seed: int
    source: str = "demonstrator"

    def __post_init__(self) -> None:
        if not self.task.strip():
            raise InputError("the task of a recording is empty; say in a sentence what is done")
        if self.source not in SOURCES:
            raise InputError(f"the source of a recording is {self.source!r}; the sources are: {', '.join(SOURCES)}")
        if not self.columns:
            raise InputError("a recording needs at least one column, such as 'action'")
        for name, values in self.columns.items():
            if values.dtype != np.float32 or values.ndim != 2 or values.size == 0:
                raise InputError(f"column {name!r} must be (T, n) float32, not {values.shape} {values.dtype}")
            if len(values) != len(self):
                raise InputError(f"column {name!r} has {len(values)} moments where the others have {len(self)}")
            if not np.isfinite(values).all():
                raise InputError(
                    f"column {name!r} of the recording with seed {self.seed} has numbers that are not finite"
                )

    def __len__(self) -> int:
        """T, the moments."""
        return len(next(iter(self.columns.values())))


@dataclass(frozen=True)
class DatasetFormat:
    """`fps` moments a second, of the robot `robot_type`; `names` of the numbers of each column, in their order."""

    fps: float
    robot_type: str
    names: Mapping[str, tuple[str, ...]]

    def __post_init__(self) -> None:
        if not (np.isfinite(self.fps) and self.fps > 0):
            raise InputError(f"fps of a data set must be above 0, not {self.fps}")
        if not self.names:
            raise InputError("the format of a data set needs at least one column, such as 'action'")
        for column, names in self.names.items():
            if column in RESERVED or "/" in column:
                raise InputError(f"a column may not be called {column!r}: LeRobot keeps that name for itself")
            if not names or len(set(names)) != len(names):
                raise InputError(f"the numbers of column {column!r} need names of their own, not {list(names)}")

    def check(self, recording: Recording) -> None:
        """Raise InputError unless `recording` has these columns, each as wide as it has names."""
        wrong = sorted(set(self.names) ^ set(recording.columns))
        if wrong:
            raise InputError(f"column {wrong[0]!r} is missing or unknown; the columns are: {', '.join(self.names)}")
        for column, names in self.names.items():
            width = recording.columns[column].shape[1]
            if width != len(names):
                raise InputError(f"column {column!r} has {width} numbers where the format names {len(names)}")

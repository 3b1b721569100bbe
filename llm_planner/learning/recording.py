"""Recordings of demonstrations and corrections, the format of a dataset, and training windows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from llm_planner.errors import InputError
from llm_planner.skills.learned.velocity_field import Array, PolicySpec

SOURCES = ("demonstrator", "correction", "policy")
RESERVED = ("timestamp", "frame_index", "episode_index", "index", "task_index")  # columns that LeRobot adds


@dataclass(frozen=True)
class Recording:
    """Undisturbed piece of a demonstration: T steps of `columns`, each (T, n) float32 and finite.

    The usual columns are "observation.state", "observation.goal", "observation.frame" and "action"; "weight" (T, 1) is
    the training weight of each step. `task` is a sentence, `source` one of `SOURCES`, `seed` that of the episode.
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
        return len(next(iter(self.columns.values())))


@dataclass(frozen=True)
class DatasetFormat:
    """Format of a dataset: `fps` frames per second, the robot, and the names of each column's numbers in order."""

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
        """Check the columns and widths of a recording; raise InputError if they differ."""
        wrong = sorted(set(self.names) ^ set(recording.columns))
        if wrong:
            raise InputError(f"column {wrong[0]!r} is missing or unknown; the columns are: {', '.join(self.names)}")
        for column, names in self.names.items():
            width = recording.columns[column].shape[1]
            if width != len(names):
                raise InputError(f"column {column!r} has {width} numbers where the format names {len(names)}")


@dataclass(frozen=True)
class Windows:
    """Training windows, in physical units.

    Attributes:
        observations: Observations (N, n_obs_steps, D).
        goals: Goals (N, G).
        chunks: Action chunks (N, horizon, A).
        weights: Relative sampling frequencies (N,); 0 excludes a window.
    """

    observations: Array
    goals: Array
    chunks: Array
    weights: Array

    def __len__(self) -> int:
        return len(self.chunks)

    def drawn(self) -> Windows:
        """Return the windows with a positive weight."""
        used = self.weights > 0
        return Windows(self.observations[used], self.goals[used], self.chunks[used], self.weights[used])

    def check(self, spec: PolicySpec) -> None:
        """Check the shapes and values against a policy; raise InputError if they do not fit or all weights are 0."""
        expected = {
            "observations": (len(self), spec.n_obs_steps, spec.observation_dim),
            "goals": (len(self), spec.goal_dim),
            "chunks": (len(self), spec.horizon, spec.action_dim),
            "weights": (len(self),),
        }
        for name, shape in expected.items():
            value = getattr(self, name)
            if value.shape != shape:
                raise InputError(f"{name} of the windows have the shape {value.shape}; the policy asks for {shape}")
            if not np.isfinite(value).all():
                raise InputError(f"{name} of the windows are not all finite")
        if not (self.weights >= 0).all() or not self.weights.sum() > 0:
            raise InputError("no window has a weight above 0: there is nothing to learn from")


def joined(parts: Sequence[Windows]) -> Windows:
    """Concatenate windows."""
    columns = ([getattr(part, name) for part in parts] for name in ("observations", "goals", "chunks", "weights"))
    return Windows(*(np.concatenate(column) for column in columns))


def episode_windows(spec: PolicySpec, observations: Array, goals: Array, actions: Array) -> Windows:
    """Cut an episode into one window per step, from `observations` (T, D), `goals` (T, G) and `actions` (T, A).

    The first observation is repeated before the start and the last action after the end, so that a finished hand stays.
    """
    steps = np.arange(len(actions))
    seen = np.maximum(steps[:, None] + np.arange(1 - spec.n_obs_steps, 1), 0)
    ahead = np.minimum(steps[:, None] + np.arange(spec.horizon), len(actions) - 1)
    return Windows(observations[seen], goals, actions[ahead], np.ones(len(actions), np.float32))

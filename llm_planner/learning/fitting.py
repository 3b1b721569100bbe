"""Training of a skill's policy on recordings."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from llm_planner.errors import InputError
from llm_planner.learning.policy_training import Report, TrainingSettings, train_policy
from llm_planner.learning.recording import (
    DEMONSTRATION,
    POLICY,
    TAKEOVER,
    Recording,
    Windows,
    episode_windows,
    joined,
    step_weights,
    weighted,
)
from llm_planner.learning.training_task import ACTION, GOAL, STATE, TrainingTask
from llm_planner.skills.learned.features import ACTIONS
from llm_planner.skills.learned.velocity_field import NetworkField, PolicySpec

_ACTED = {"demonstrator": DEMONSTRATION, "correction": TAKEOVER, "policy": POLICY}


def windows_of(spec: PolicySpec, recordings: Sequence[Recording]) -> Windows:
    """Cut the recordings into training windows; raise InputError if there are none."""
    if not recordings:
        raise InputError("there are no demonstrations to learn from: every one of them failed, or none was made")
    return joined([_windows(spec, recording) for recording in recordings])


def _windows(spec: PolicySpec, recording: Recording) -> Windows:
    columns = recording.columns
    goals = columns.get(GOAL, np.zeros((len(recording), 0), np.float32))
    windows = episode_windows(spec, columns[STATE], goals, columns[ACTION])
    return weighted(windows, step_weights([_ACTED[recording.source]] * len(recording), recording.success))


def fit(
    lesson: TrainingTask, spec: PolicySpec, recordings: Sequence[Recording], seed: int, settings: TrainingSettings,
    checkpoint: Path, report: Report,
) -> NetworkField:  # fmt: skip
    """Train a policy on recordings, continuing from the checkpoint if it exists.

    Training uses one thread, since two slow down a small network.
    """
    import torch

    torch.set_num_threads(1)
    return train_policy(spec, windows_of(spec, recordings), ACTIONS, seed, settings, checkpoint, report)

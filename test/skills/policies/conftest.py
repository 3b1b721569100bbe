"""Toys that are learned in a second: a chunk that follows from what is seen and wanted, and one of two right ways."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
import torch

from llm_planner.learning.policy_training import TrainingSettings, train_policy
from llm_planner.learning.recording import Windows
from llm_planner.skills.learned.velocity_field import Array, Conditioning, NetworkField, PolicySpec, fitted

SPEC = PolicySpec(
    observation_dim=2, goal_dim=2, action_dim=2, n_obs_steps=2, horizon=4, n_action_steps=2, width=48, depth=1
)
SETTINGS = TrainingSettings(steps=300, batch=128, learning_rate=8e-3, warmup=20, average=0.98, checkpoint_every=100)


def _windows(follow: Callable[[Array, Array, np.random.Generator], Array], count: int = 2000, seed: int = 0) -> Windows:
    rng = np.random.default_rng(seed)
    observations = rng.uniform(-1, 1, (count, 2, 2)).astype(np.float32)
    goals = rng.uniform(-1, 1, (count, 2)).astype(np.float32)
    chunks = follow(observations, goals, rng).astype(np.float32)
    return Windows(observations, goals, chunks, np.ones(count, np.float32))


def _toward(observations: Array, goals: Array, rng: np.random.Generator) -> Array:
    """From the last observation a quarter, a half, three quarters and all of the way to the goal."""
    here, share = observations[:, -1:], np.linspace(0.25, 1, 4)[None, :, None]
    return here + share * (goals[:, None] - here)


def _either_way(observations: Array, goals: Array, rng: np.random.Generator) -> Array:
    """Round something to the left or to the right, whatever is seen."""
    return np.broadcast_to(rng.choice([-1.0, 1.0], len(goals))[:, None, None], (len(goals), 4, 2))


@pytest.fixture(scope="session", autouse=True)
def _one_thread() -> None:
    torch.set_num_threads(1)


@pytest.fixture(scope="session")
def spec() -> PolicySpec:
    return SPEC


@pytest.fixture(scope="session")
def settings() -> TrainingSettings:
    return SETTINGS


@pytest.fixture(scope="session")
def toward() -> Windows:
    return _windows(_toward)


@pytest.fixture(scope="session")
def either_way() -> Windows:
    return _windows(_either_way)


@pytest.fixture(scope="session")
def train(settings):
    """Train the toy's network on windows, by "flow" or by "regression"."""

    def run(windows: Windows, objective: str = "flow", **changes: int) -> NetworkField:
        return train_policy(
            replace(SPEC, objective=objective), windows, fitted(windows.chunks), 0, replace(settings, **changes)
        )

    return run


@pytest.fixture(scope="session")
def toward_field(toward, train) -> NetworkField:
    return train(toward)


@pytest.fixture(scope="session")
def either_way_field(either_way, train) -> NetworkField:
    return train(either_way)


@pytest.fixture(scope="session")
def ask() -> Callable[..., Conditioning]:
    """What the toy is told: that it stands here and does not move, and its goal."""

    def conditioning(here: tuple[float, float] = (0.0, 0.0), goal: tuple[float, float] | None = None) -> Conditioning:
        return Conditioning(np.array([here, here], np.float32), None if goal is None else np.array(goal, np.float32))

    return conditioning


@pytest.fixture
def noise() -> Callable[[int], Array]:
    """The same K draws for each test."""
    return lambda count: np.random.default_rng(7).standard_normal((count, 4, 2)).astype(np.float32)

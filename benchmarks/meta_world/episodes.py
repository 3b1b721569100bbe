"""Episodes of a task, played by an expert or a policy, and a file of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from llm_planner.skills.learned.weights_file import write_atomically
from meta_world.environment import ACTION, GOAL, STATE, STEPS_MAX, Array, Environment, Expert

AFTER_SUCCESS = 8  # steps that a demonstration goes on, so that a policy learns to stay


@dataclass(frozen=True)
class Episode:
    """`observations` (T, 39) and `actions` (T, 4), each before it was carried out; `corrected` (T,): by the expert."""

    seed: int
    observations: Array
    actions: Array
    corrected: np.ndarray
    success: bool


def demonstrations(task: str, count: int, first_seed: int = 0, noise: float = 0.0) -> list[Episode]:
    """`count` successes of the expert, at seeds from `first_seed` on; `noise` is the deviation of what its hand does
    from what it means (a sloppy demonstrator: what it did is what is shown)."""
    environment, expert, shown = Environment(task), Expert(task), []
    seed = first_seed
    while len(shown) < count:
        episode = _demonstration(environment, expert, seed, noise)
        shown += [episode] if episode.success else []
        seed += 1
    return shown


def _demonstration(environment: Environment, expert: Expert, seed: int, noise: float) -> Episode:
    rng = np.random.default_rng(seed)
    observation, rows, left = environment.reset(seed), [], AFTER_SUCCESS
    succeeded = False
    while len(rows) < STEPS_MAX and left:
        action = expert.action(observation) + noise * rng.standard_normal(ACTION).astype(np.float32)
        rows.append((observation, np.clip(action, -1, 1)))
        step = environment.step(action)
        observation, succeeded = step.observation, succeeded or step.success
        left -= succeeded
    seen, done = (np.array(column, np.float32) for column in zip(*rows, strict=True))
    return Episode(seed, seen, done, np.ones(len(done), bool), succeeded)


def save(path: Path, episodes: Sequence[Episode]) -> None:
    """As one npz, whole or not at all."""
    import io

    file = io.BytesIO()
    np.savez_compressed(
        file,
        seeds=[episode.seed for episode in episodes],
        lengths=[len(episode.actions) for episode in episodes],
        success=[episode.success for episode in episodes],
        **{
            name: np.concatenate([getattr(episode, name) for episode in episodes])
            for name in ("observations", "actions", "corrected")
        },
    )
    write_atomically(path, file.getvalue())


def load(path: Path) -> list[Episode]:
    with np.load(path) as file:
        upto = np.cumsum(file["lengths"])[:-1]
        columns = [np.split(file[name], upto) for name in ("observations", "actions", "corrected")]
        return [
            Episode(int(seed), *parts, bool(success))
            for seed, *parts, success in zip(file["seeds"], *columns, file["success"], strict=True)
        ]


def cached_demonstrations(
    folder: Path, task: str, count: int, first_seed: int = 0, noise: float = 0.0
) -> list[Episode]:
    """As `demonstrations`, from `folder` if they are there, and kept there."""
    path = folder / f"{task}-{count}-from-{first_seed}-noise-{noise}.npz"
    if not path.exists():
        save(path, demonstrations(task, count, first_seed, noise))
    return load(path)


def split(observation: Array) -> tuple[Array, Array]:
    """State (..., 36) and goal (..., 3) of what the environment shows (..., 39)."""
    assert observation.shape[-1] == STATE + GOAL
    return observation[..., :STATE], observation[..., STATE:]

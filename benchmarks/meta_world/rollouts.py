"""A policy plays a task: episodes by seeds, its success with an interval, and what a chunk costs."""

from __future__ import annotations

import json
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from llm_planner.learning.report import wilson
from llm_planner.skills.learned.weights_file import write_atomically
from meta_world.environment import STEPS_MAX, Array, Environment
from meta_world.episodes import Episode

FIRST_SEED = 100_000  # of episodes that judge: no demonstration comes near


class ChunkPolicy(Protocol):
    """What rollouts ask: what to do next, seen the last `n_obs_steps` observations."""

    n_obs_steps: int

    def chunk(self, observations: Array, rng: np.random.Generator) -> Array:
        """Actions (n, 4) to carry out before the next chunk, after `observations` (n_obs_steps, 39)."""
        ...


def rollout(environment: Environment, policy: ChunkPolicy, seed: int, steps_max: int = STEPS_MAX) -> Episode:
    """Until the environment calls it a success, or the steps are used up; the seed decides on all chance."""
    rng = np.random.default_rng(seed)
    seen, done, success = [environment.reset(seed)] * policy.n_obs_steps, [], False
    while len(done) < steps_max and not success:
        for action in policy.chunk(np.array(seen[-policy.n_obs_steps :]), rng):
            step = environment.step(action)
            done.append(np.clip(action, -1, 1))
            seen.append(step.observation)
            success = step.success
            if success or len(done) == steps_max:
                break
    acted_on = np.array(seen[policy.n_obs_steps - 1 : -1], np.float32)
    return Episode(seed, acted_on, np.array(done, np.float32), np.zeros(len(done), bool), success)


def judged(path: Path, policy: ChunkPolicy, task: str, episodes: int) -> list[bool]:
    """Success of each episode, from the first judging seed on; those played before are read from `path`."""
    played: list[bool] = json.loads(path.read_text()) if path.exists() else []
    environment = Environment(task)
    for index in range(len(played), episodes):
        played.append(rollout(environment, policy, FIRST_SEED + index).success)
        write_atomically(path, json.dumps(played).encode())
    return played[:episodes]


def share(count: int, of: int) -> dict[str, float]:
    """A share and its 95 % interval (Wilson)."""
    low, high = wilson(count, of)
    return {"share": round(count / of, 4), "low": round(low, 4), "high": round(high, 4), "of": of}


def latencies(policies: dict[str, tuple[ChunkPolicy, int]], observations: Sequence[Array]) -> dict[str, Any]:
    """CPU milliseconds of a chunk, of each policy, in turn and side by side; each with how many chunks it is given.

    `observations` are (39,) each, of consecutive steps."""
    taken: dict[str, list[float]] = {name: [] for name in policies}
    for index in range(max(count for _, count in policies.values())):
        for name, (policy, count) in policies.items():
            if index < count:
                first = index % (len(observations) - policy.n_obs_steps)
                seen = np.array(observations[first : first + policy.n_obs_steps])
                taken[name].append(_seconds(policy, seen, index))
    return {name: _milliseconds(seconds) for name, seconds in taken.items()}


def _seconds(policy: ChunkPolicy, seen: Array, seed: int) -> float:
    rng = np.random.default_rng(seed)
    began = time.process_time()
    policy.chunk(seen, rng)
    return time.process_time() - began


def _milliseconds(seconds: list[float]) -> dict[str, float]:
    kept = 1e3 * np.array(seconds[1:] if len(seconds) > 1 else seconds)  # the first one also warms up
    return {"median": float(np.median(kept)), "p99": float(np.quantile(kept, 0.99)), "of": len(kept)}

"""Run by test_meta_world.py in the interpreter that has metaworld: plays a little, and tells what came of it."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import numpy as np
from meta_world.corrections import corrected_episode, is_shoved
from meta_world.environment import Environment, Expert
from meta_world.episodes import demonstrations, load, save
from meta_world.rollouts import rollout


class ClosedHand:
    """A policy that closes its hand and comes down beside everything."""

    n_obs_steps = 2

    def chunk(self, observations: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        return np.tile(np.array([0, 0, -0.2, 1], np.float32), (8, 1))


def main(folder: Path) -> None:
    environment, policy = Environment("pick-place"), ClosedHand()
    first = environment.reset(7)
    rollout(environment, policy, 3)
    shown = demonstrations("pick-place", 2)
    save(folder / "shown.npz", shown)
    kept = load(folder / "shown.npz")
    corrected = corrected_episode(environment, Expert("pick-place"), policy, 5)
    slid, lifted = first.copy(), first.copy()
    slid[4:6] += 0.03
    lifted[4:7] += 0.03
    told = {
        "shoved": [is_shoved(first, seen) for seen in (first, slid, lifted)],
        "same start": bool(np.array_equal(first, environment.reset(7))),
        "expert succeeds": all(episode.success for episode in shown),
        "kept": all(np.array_equal(a.actions, b.actions) for a, b in zip(shown, kept, strict=True)),
        "policy succeeds": rollout(environment, policy, 5, steps_max=100).success,
        "corrected": corrected.success,
        "corrector waits": not corrected.corrected[0] and bool(corrected.corrected[-1]),
    }
    print(json.dumps(told))


if __name__ == "__main__":
    main(Path(sys.argv[1]))

"""A Meta-World task: its environment, the state that policies see, its success, and its scripted expert."""

from __future__ import annotations

import warnings
from dataclasses import dataclass

import numpy as np
from metaworld.env_dict import ALL_V3_ENVIRONMENTS_GOAL_OBSERVABLE
from metaworld.policies import ENV_POLICY_MAP
from numpy.typing import NDArray

Array = NDArray[np.float32]

TASKS = ("push", "pick-place", "drawer-open")
STATE, GOAL, ACTION = 36, 3, 4
"""What is seen are the 39 numbers of the environment. State: the hand's x, y, z [m], how far it is open (0 to 1), the
thing's x, y, z [m] and quaternion, seven zeros (there is no second thing), and the same a step (0.0125 s x 5) before.
Goal: its x, y, z [m]. An action: how far the hand's target moves along x, y, z (1 is 1 cm), and how hard it closes."""
STEPS_MAX = 200  # of an episode: the experts take 50 to 95; the environment's own bound of 500 only prolongs failures


@dataclass(frozen=True)
class Step:
    """What an action led to: `observation` (39,), and whether the environment calls the task done."""

    observation: Array
    success: bool


class Environment:
    """One task; things and goal are placed by the seed of an episode alone, whatever was played before."""

    def __init__(self, task: str) -> None:
        self.task = task
        self._env = ALL_V3_ENVIRONMENTS_GOAL_OBSERVABLE[f"{task}-v3-goal-observable"]()
        self._env._freeze_rand_vec, self._env.seeded_rand_vec = False, True  # no other way to place by a seed

    def reset(self, seed: int) -> Array:
        """The first observation (39,)."""
        self._env.seed(seed)
        observation, _ = self._env.reset()
        return observation.astype(np.float32)

    def step(self, action: Array) -> Step:
        """One step of the arm; the action is clipped to -1 to 1."""
        observation, _, _, _, info = self._env.step(np.clip(action, -1, 1).astype(np.float32))
        return Step(observation.astype(np.float32), bool(info["success"]))


class Expert:
    """The scripted policy of the package; it looks where things are and goes on from there."""

    def __init__(self, task: str) -> None:
        self._policy = ENV_POLICY_MAP[f"{task}-v3"]()

    def action(self, observation: Array) -> Array:
        """What it would do now (4,), -1 to 1."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # it says at every step that it asks for more than the arm does
            action = self._policy.get_action(observation.astype(np.float64))
        clipped: Array = np.clip(action, -1, 1).astype(np.float32)
        return clipped

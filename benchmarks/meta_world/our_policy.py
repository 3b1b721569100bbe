"""The policies of this package on Meta-World: flow matching, and regression through the same code."""

from __future__ import annotations

import time
from collections.abc import Sequence

import numpy as np

from llm_planner.learning.recording import Windows, episode_windows, joined
from llm_planner.skills.learned.samplers import ChunkSampler, FlowSampler
from llm_planner.skills.learned.velocity_field import Conditioning, NetworkField, Normaliser, PolicySpec
from meta_world.environment import ACTION, GOAL, STATE, Array
from meta_world.episodes import Episode, split

ACTIONS = Normaliser(np.zeros(ACTION, np.float32), np.full(ACTION, 0.5, np.float32))
"""One for all tasks, because policies that are composed must share it."""
N_ACTION_STEPS = 8  # as lerobot's default


def spec(objective: str = "flow") -> PolicySpec:
    return PolicySpec(STATE, GOAL, ACTION, n_action_steps=N_ACTION_STEPS, objective=objective)


def windows(sizes: PolicySpec, episodes: Sequence[Episode]) -> Windows:
    """One for each step of the episodes."""
    return joined([episode_windows(sizes, *split(episode.observations), episode.actions) for episode in episodes])


class OurPolicy:
    """Any sampler, as rollouts ask it; `deviation` of the noise it starts from: 1, or 0 for none.

    It asks for `samples` chunks and takes the first: of a re-ranking the best.
    """

    def __init__(self, sampler: ChunkSampler, deviation: float = 1.0, samples: int = 1) -> None:
        self.sampler, self.deviation, self.samples = sampler, np.float32(deviation), samples
        self.n_obs_steps = sampler.spec.n_obs_steps

    def chunk(self, observations: Array, rng: np.random.Generator) -> Array:
        """What to do next (n_action_steps, 4) after `observations` (n_obs_steps, 39)."""
        sizes = self.sampler.spec
        state, goal = split(observations)
        noise = self.deviation * rng.standard_normal((self.samples, sizes.horizon, sizes.action_dim), dtype=np.float32)
        chunk = self.sampler.sample(Conditioning(state, goal[-1]), noise)[0]
        return chunk[: sizes.n_action_steps]


def train(
    episodes: Sequence[Episode], objective: str, steps: int, seed: int = 0
) -> tuple[NetworkField, dict[str, float]]:
    """The trained field, and how long that took."""
    from llm_planner.learning.policy_training import TrainingSettings, train_policy

    sizes, began = spec(objective), time.process_time()
    settings = TrainingSettings(steps=steps, drop_goal=0.0)
    field = train_policy(sizes, windows(sizes, episodes), ACTIONS, seed, settings)
    return field, {"steps": steps, "cpu s": time.process_time() - began}


def policy(field: NetworkField, flow_steps: int, deviation: float) -> OurPolicy:
    return OurPolicy(FlowSampler(field, flow_steps), deviation)

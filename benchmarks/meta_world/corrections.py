"""Episodes in which an expert takes over from a policy that gets no further."""

from __future__ import annotations

import numpy as np
from policy_methods.interventions import POLICY, TAKEOVER, step_weights, weighted

from llm_planner.learning.recording import Windows
from llm_planner.skills.learned.velocity_field import PolicySpec
from meta_world.environment import Array, Environment, Expert
from meta_world.episodes import AFTER_SUCCESS, Episode
from meta_world.our_policy import windows
from meta_world.rollouts import ChunkPolicy

PATIENCE = 25  # steps that the expert waits
PROGRESS = 0.01  # [m] by which the best must be bettered in them
SLID, RISEN = 0.03, 0.01  # [m] along the table and up, of a thing to be lifted: not gripped, and soon out of reach
RISING = 12  # steps of a corrector that begins
CORRECTED_STEPS_MAX = 400  # of an episode: a corrector who takes over late is not cut off (only successes teach)


class Patience:
    """Whoever watches: takes over when the way left, of the hand to the thing and of the thing to its goal, has not
    become shorter for a while."""

    def __init__(self) -> None:
        self._best, self._since = float("inf"), 0

    def is_over(self, observation: Array) -> bool:
        """Asked once a step."""
        hand, thing, goal = observation[:3], observation[4:7], observation[-3:]
        left = float(np.linalg.norm(hand - thing) + np.linalg.norm(thing - goal))
        if left < self._best - PROGRESS:
            self._best, self._since = left, 0
        self._since += 1
        return self._since > PATIENCE


class Corrector:
    """The expert made to recover from where a policy left the hand. For an episode.

    It begins by opening the hand and rising, and does so again whenever it gets no further: an expert that comes down
    on the thing with a closed hand stays there. Where the expert leaves the hand as it is, it opens.
    """

    def __init__(self, expert: Expert) -> None:
        self._expert, self._patience, self._rising = expert, Patience(), RISING

    def action(self, observation: Array) -> Array:
        """What to do now (4,)."""
        if self._patience.is_over(observation):
            self._rising = RISING
        if self._rising:
            self._rising, self._patience = self._rising - 1, Patience()
            return np.array([0.0, 0.0, 1.0, -1.0], np.float32)
        action = self._expert.action(observation)
        closing = action[3] if action[3] > 0 else -1.0
        return np.array([*action[:3], closing], np.float32)


def is_shoved(first: Array, observation: Array) -> bool:
    """Whether a thing that is to be lifted slides along the table instead, by what was seen `first` and now."""
    place, goal = slice(4, 7), slice(-3, None)
    moved, wanted = observation[place] - first[place], observation[goal] - first[place]
    return bool(wanted[2] > SLID and moved[2] < RISEN and np.linalg.norm(moved[:2]) > SLID)


def corrected_episode(environment: Environment, expert: Expert, policy: ChunkPolicy, seed: int) -> Episode:
    """The policy begins, until it gets no further or shoves the thing away; a corrector then goes on to the end."""
    rng, patience, corrector = np.random.default_rng(seed), Patience(), Corrector(expert)
    seen, done, by_expert, planned = [environment.reset(seed)] * policy.n_obs_steps, [], [], []
    taken, success, left = False, False, AFTER_SUCCESS
    while len(done) < CORRECTED_STEPS_MAX and left:
        taken = taken or patience.is_over(seen[-1]) or is_shoved(seen[0], seen[-1])
        if taken:
            action = corrector.action(seen[-1])
        else:
            planned = planned or list(policy.chunk(np.array(seen[-policy.n_obs_steps :]), rng))
            action = np.clip(planned.pop(0), -1, 1)
        step = environment.step(action)
        done.append(action)
        by_expert.append(taken)
        seen.append(step.observation)
        success = success or step.success
        left -= success
    acted_on = np.array(seen[policy.n_obs_steps - 1 : -1], np.float32)
    return Episode(seed, acted_on, np.array(done, np.float32), np.array(by_expert), success)


def corrected_windows(sizes: PolicySpec, episode: Episode) -> Windows:
    """Its windows, weighed by who acted in each step."""
    sources = [TAKEOVER if by_expert else POLICY for by_expert in episode.corrected]
    return weighted(windows(sizes, [episode]), step_weights(sources, episode.success))

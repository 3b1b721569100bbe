"""lerobot's DiffusionPolicy (arXiv:2303.04137) on the same demonstrations: its own network, loss, optimiser, schedule,
normalisation and sampler, fed from arrays in place of a LeRobotDataset."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from lerobot.configs.types import FeatureType, NormalizationMode, PolicyFeature
from lerobot.policies.diffusion.configuration_diffusion import DiffusionConfig
from lerobot.policies.diffusion.modeling_diffusion import DiffusionPolicy
from lerobot.policies.diffusion.processor_diffusion import make_diffusion_pre_post_processors

from meta_world.environment import ACTION, GOAL, STATE, Array
from meta_world.episodes import Episode

SEEN, WANTED, DONE = "observation.state", "observation.environment_state", "action"
SMALL = {"down_dims": (64, 128, 256), "noise_scheduler_type": "DDIM", "num_inference_steps": 10}  # 4.7 M parameters
LEAST_RANGE = 1e-3  # a number that varies less in the data is passed as it is: its noise would be blown up


@dataclass(frozen=True)
class PeerSettings:
    """`changed` of lerobot's defaults; `steps` of `batch` windows (lerobot's own batch is 64)."""

    changed: dict[str, Any]
    steps: int
    batch: int = 64
    seed: int = 0


def configuration(changed: dict[str, Any]) -> DiffusionConfig:
    """lerobot's defaults, for a state of 36 numbers and a goal of 3; the goal is normalised like the state."""
    return DiffusionConfig(
        input_features={
            SEEN: PolicyFeature(FeatureType.STATE, (STATE,)),
            WANTED: PolicyFeature(FeatureType.ENV, (GOAL,)),
        },
        output_features={DONE: PolicyFeature(FeatureType.ACTION, (ACTION,))},
        normalization_mapping=dict.fromkeys(("STATE", "ENV", "ACTION"), NormalizationMode.MIN_MAX),
        device="cpu",
        **changed,
    )


class PeerPolicy:
    """A trained one, as rollouts ask it."""

    def __init__(self, policy: DiffusionPolicy, statistics: dict[str, dict[str, torch.Tensor]]) -> None:
        self.policy, self.statistics = policy.eval(), statistics
        self._before, self._after = make_diffusion_pre_post_processors(policy.config, statistics)
        self.n_obs_steps = policy.config.n_obs_steps

    @torch.no_grad()
    def chunk(self, observations: Array, rng: np.random.Generator) -> Array:
        """What to do next (n_action_steps, 4) after `observations` (n_obs_steps, 39)."""
        torch.manual_seed(int(rng.integers(2**31)))
        batch = self._before(_inputs(torch.from_numpy(observations[None])))
        actions = self.policy.diffusion.generate_actions(batch)
        chunk: Array = self._after(actions)[0].numpy()
        return chunk

    @property
    def parameters(self) -> int:
        return sum(value.numel() for value in self.policy.parameters())


def train_peer(
    episodes: Sequence[Episode], settings: PeerSettings, seconds: float = float("inf")
) -> tuple[PeerPolicy, dict[str, float]]:
    """Trained for `settings.steps` or until `seconds` of CPU are spent; and how long that took."""
    torch.manual_seed(settings.seed)
    config = configuration(settings.changed)
    statistics = _statistics(episodes)
    peer = PeerPolicy(DiffusionPolicy(config), statistics)
    policy = peer.policy.train()
    optimiser = config.get_optimizer_preset().build(policy.get_optim_params())
    schedule = config.get_scheduler_preset().build(optimiser, settings.steps)
    windows, rng = _Windows(episodes, config), np.random.default_rng(settings.seed)
    began, step = time.process_time(), 0
    while step < settings.steps and time.process_time() - began < seconds:
        batch = peer._before(windows.draw(rng, settings.batch))
        loss, _ = policy(batch)
        optimiser.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(policy.parameters(), 10.0)
        optimiser.step()
        schedule.step()
        step += 1
        if step % 500 == 0:
            print(
                f"  step {step}, {time.process_time() - began:.0f} s of CPU, loss {float(loss.detach()):.5f}",
                flush=True,
            )
    policy.eval()
    return peer, {"steps": step, "cpu s": time.process_time() - began}


def save_peer(path: Path, peer: PeerPolicy) -> None:
    torch.save({"weights": peer.policy.state_dict(), "statistics": peer.statistics}, path)


def load_peer(path: Path, changed: dict[str, Any]) -> PeerPolicy:
    kept = torch.load(path, weights_only=True)
    policy = DiffusionPolicy(configuration(changed))
    policy.load_state_dict(kept["weights"])
    return PeerPolicy(policy, kept["statistics"])


def _inputs(observations: torch.Tensor) -> dict[str, torch.Tensor]:
    return {SEEN: observations[..., :STATE], WANTED: observations[..., STATE:]}


def _statistics(episodes: Sequence[Episode]) -> dict[str, dict[str, torch.Tensor]]:
    seen = torch.from_numpy(np.concatenate([episode.observations for episode in episodes]))
    done = torch.from_numpy(np.concatenate([episode.actions for episode in episodes]))
    return {name: _range(values) for name, values in (_inputs(seen) | {DONE: done}).items()}


def _range(values: torch.Tensor) -> dict[str, torch.Tensor]:
    low, high = values.amin(dim=0), values.amax(dim=0)
    still = high - low < LEAST_RANGE
    return {"min": torch.where(still, low - 1, low), "max": torch.where(still, low + 1, high)}


class _Windows:
    """What lerobot's dataset gives of each step but the last few of an episode: two observations, 16 actions from the
    first of them on, the ends repeated."""

    def __init__(self, episodes: Sequence[Episode], config: DiffusionConfig) -> None:
        seen, done = [], []
        for episode in episodes:
            last = len(episode.actions) - 1
            steps = np.arange(max(1, len(episode.actions) - config.drop_n_last_frames))[:, None]
            seen.append(episode.observations[np.clip(steps + config.observation_delta_indices, 0, last)])
            done.append(episode.actions[np.clip(steps + config.action_delta_indices, 0, last)])
        self._seen, self._done = torch.from_numpy(np.concatenate(seen)), torch.from_numpy(np.concatenate(done))

    def draw(self, rng: np.random.Generator, count: int) -> dict[str, torch.Tensor]:
        rows = torch.from_numpy(rng.integers(len(self._done), size=count))
        done = self._done[rows]
        return _inputs(self._seen[rows]) | {DONE: done, "action_is_pad": torch.zeros(done.shape[:2], dtype=torch.bool)}

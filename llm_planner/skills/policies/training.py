"""Fits a velocity network to windows; killed at any moment it goes on to the very same weights.

Every step draws its batch and its noise from the seed and its own number, so nothing but the network, the optimiser and
the running average has to be kept. The average of the weights (arXiv:1907.08610 is a cousin) is what is shipped.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

import numpy as np
import torch
from torch import Tensor, nn

from llm_planner.errors import InputError
from llm_planner.skills.policies.conditioning import Array
from llm_planner.skills.policies.field import NetworkField
from llm_planner.skills.policies.network import VelocityNetwork
from llm_planner.skills.policies.normaliser import Normaliser, fitted
from llm_planner.skills.policies.spec import PolicySpec
from llm_planner.skills.policies.training_state import TrainingState, read_state, write_state
from llm_planner.skills.policies.windows import Windows

Report = Callable[[int, float], None]  # steps done, loss


@dataclass(frozen=True)
class TrainingSettings:
    """How a policy is trained; `drop_goal` is the share of windows whose goal is hidden."""

    steps: int = 12_000
    batch: int = 512
    learning_rate: float = 1e-3
    warmup: int = 200
    average: float = 0.999
    drop_goal: float = 0.1
    clip: float = 1.0
    checkpoint_every: int = 1000

    def __post_init__(self) -> None:
        if self.steps < 1 or self.batch < 1:
            raise InputError(f"training takes at least 1 step of 1 window, not {self.steps} of {self.batch}")

    def rate(self, step: int) -> float:
        """The learning rate: up in a line, then down along a cosine."""
        rising = min(1.0, (step + 1) / self.warmup)
        return self.learning_rate * rising * 0.5 * (1 + math.cos(math.pi * step / self.steps))


class Losses(Protocol):
    """What a network is fitted to. `fingerprint` tells data apart: a checkpoint belongs to its own."""

    @property
    def fingerprint(self) -> str: ...

    def loss(self, network: nn.Module, step: int) -> Tensor:
        """Of the batch of this step."""
        ...


def train_policy(
    spec: PolicySpec,
    windows: Windows,
    actions: Normaliser,
    seed: int,
    settings: TrainingSettings = TrainingSettings(),
    checkpoint: Path | None = None,
    report: Report = lambda step, loss: None,
    start: NetworkField | None = None,
) -> NetworkField:
    """The trained field; its observations and goals are normalised by the windows, or as those of `start`.

    Goes on from `checkpoint` where that file has steps of the same training; `start` are weights to begin from.
    Raises InputError as `Windows.check`, and for a checkpoint of another training.
    """
    windows.check(spec)
    windows = windows.drawn()
    seen = start.observations if start else fitted(windows.observations)
    wanted = start.goals if start else fitted(windows.goals)
    torch.manual_seed(seed)
    network = VelocityNetwork(spec)
    if start:
        network.load_state_dict({name: torch.from_numpy(value.copy()) for name, value in start.weights.items()})
    batches = Batches(spec, windows, seen, wanted, actions, settings, seed)
    return NetworkField(spec, fit(network, batches, settings, checkpoint, report), seen, wanted, actions)


def fit(
    network: nn.Module, batches: Losses, settings: TrainingSettings, checkpoint: Path | None, report: Report
) -> dict[str, Array]:
    """The averaged weights of `network` after all steps, under the names that it gives them.

    What it has that needs no gradient stays as it is. See `train_policy`.
    """
    state = TrainingState.begin(network, settings.learning_rate)
    print_of = f"{settings} {batches.fingerprint} {_digest(network.state_dict().values())}"
    if checkpoint is not None and checkpoint.exists():
        read_state(checkpoint, state, print_of)
    while state.step < settings.steps:
        loss = _step(state, batches, settings)
        if state.step % settings.checkpoint_every == 0 or state.step == settings.steps:
            if checkpoint is not None:
                write_state(checkpoint, state, print_of)
            report(state.step, loss)
    return {name: value.numpy() for name, value in state.average.items()}


def _step(state: TrainingState, batches: Losses, settings: TrainingSettings) -> float:
    for group in state.optimiser.param_groups:
        group["lr"] = settings.rate(state.step)
    loss = batches.loss(state.network, state.step)
    state.optimiser.zero_grad(set_to_none=True)
    torch.autograd.backward(loss)
    torch.nn.utils.clip_grad_norm_(state.network.parameters(), settings.clip)
    state.optimiser.step()
    state.step += 1
    # Early on the weights of a moment ago are worth little: the average is short then.
    keep = min(settings.average, (1 + state.step) / (10 + state.step))
    with torch.no_grad():
        for name, value in state.network.state_dict().items():
            state.average[name].lerp_(value, 1 - keep)
    return float(loss.detach())


class Batches:
    """The windows, normalised, and the batch of each step, for a network that is called like a `VelocityNetwork`."""

    def __init__(
        self, spec: PolicySpec, windows: Windows, seen: Normaliser, wanted: Normaliser, actions: Normaliser,
        settings: TrainingSettings, seed: int,
    ) -> None:  # fmt: skip
        self._spec, self._settings, self._seed = spec, settings, seed
        self._observations = torch.from_numpy(seen.normalise(windows.observations).reshape(len(windows), -1))
        self._goals = torch.from_numpy(wanted.normalise(windows.goals))
        self._chunks = torch.from_numpy(actions.normalise(windows.chunks).reshape(len(windows), -1))
        upto = np.cumsum(windows.weights, dtype=np.float64)
        self._upto = upto / upto[-1]

    @property
    def fingerprint(self) -> str:
        """See `Losses`."""
        data = _digest((self._observations, self._goals, self._chunks, torch.from_numpy(self._upto)))
        return f"{self._seed} {self._spec} {data}"

    def loss(self, network: nn.Module, step: int) -> Tensor:
        """How far the guessed chunks are from those that were shown."""
        noisy, times, condition, chunks = self.draw(step)
        loss: Tensor = (network(noisy, times, condition) - chunks).square().mean()
        return loss

    def draw(self, step: int) -> tuple[Tensor, Tensor, Tensor, Tensor]:
        """Noisy chunks, their times, what the network is told, and the chunks behind them."""
        rng = np.random.default_rng((self._seed, step))
        settings, count = self._settings, self._settings.batch
        rows = torch.from_numpy(np.searchsorted(self._upto, rng.random(count), side="right"))
        chunks = self._chunks[rows]
        kept = torch.from_numpy((rng.random((count, 1)) >= settings.drop_goal).astype(np.float32))
        condition = torch.cat([self._observations[rows], self._goals[rows] * kept, kept], dim=1)
        if self._spec.objective == "regression":
            return torch.zeros_like(chunks), torch.zeros(count), condition, chunks
        times = torch.from_numpy(rng.random(count, dtype=np.float32))
        noise = torch.from_numpy(rng.standard_normal(chunks.shape, dtype=np.float32))
        return noise + times[:, None] * (chunks - noise), times, condition, chunks


def _digest(tensors: Iterable[Tensor]) -> str:
    digest = hashlib.blake2b(digest_size=16)
    for tensor in tensors:
        digest.update(tensor.contiguous().numpy().tobytes())
    return digest.hexdigest()

"""Training of velocity networks and critics in torch.

An interrupted training resumes to identical weights: each step draws its batch and noise from the seed and the step
number, so only the network, the optimiser and the running average need storing. The averaged weights are the result
(compare arXiv:1907.08610). `NetworkField` runs the same weights in numpy.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Protocol

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional as F  # noqa: N812  (torch's own convention)

from llm_planner.errors import InputError
from llm_planner.learning.recording import Windows
from llm_planner.skills.learned.samplers import MEMBERS, Critic, Rollout
from llm_planner.skills.learned.velocity_field import (
    TIME_FREQUENCIES,
    Array,
    NetworkField,
    Normaliser,
    PolicySpec,
    condition_vector,
    fitted,
)
from llm_planner.skills.learned.weights_file import under, write_atomically


class Block(nn.Module):
    """Residual block of two layers; the second is initialised to zero."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.first, self.second = nn.Linear(width, width), nn.Linear(width, width)
        nn.init.zeros_(self.second.weight)
        nn.init.zeros_(self.second.bias)

    def forward(self, hidden: Tensor) -> Tensor:
        out: Tensor = hidden + self.second(F.silu(self.first(F.silu(hidden))))
        return out


class VelocityNetwork(nn.Module):
    """Network that predicts the clean chunk from a noisy one; see `NetworkField`."""

    def __init__(self, spec: PolicySpec) -> None:
        super().__init__()
        self.spec = spec
        self.enter = nn.Linear(spec.input_dim, spec.width)
        self.blocks = nn.ModuleList(Block(spec.width) for _ in range(spec.depth))
        self.leave = nn.Linear(spec.width, spec.chunk_dim)

    def forward(self, chunks: Tensor, times: Tensor, condition: Tensor) -> Tensor:
        """Predict chunks (B, chunk_dim) from noisy ones (B, chunk_dim), times (B,) and condition (B, condition_dim)."""
        hidden = self.enter(torch.cat([chunks, time_features(times), condition], dim=1))
        for block in self.blocks:
            hidden = block(hidden)
        out: Tensor = self.leave(F.silu(hidden))
        return out


def time_features(times: Tensor) -> Tensor:
    """Compute time features (B, 2 * TIME_FREQUENCIES) of times (B,); counterpart of `velocity_field.time_features`."""
    angles = times[:, None] * torch.pi * 2.0 ** torch.arange(TIME_FREQUENCIES) / 2
    return torch.cat([angles.sin(), angles.cos()], dim=1)


@dataclass
class TrainingState:
    """State of a training: network, optimiser, running average of the weights and number of steps."""

    network: nn.Module
    optimiser: torch.optim.Optimizer
    average: dict[str, Tensor]
    step: int = 0

    @classmethod
    def begin(cls, network: nn.Module, rate: float) -> TrainingState:
        """Create the initial state with AdamW on the trainable parameters, at learning rate `rate`."""
        trained = [parameter for parameter in network.parameters() if parameter.requires_grad]
        optimiser = torch.optim.AdamW(trained, lr=rate, weight_decay=1e-4)
        return cls(network, optimiser, {name: value.clone() for name, value in network.state_dict().items()})


def write_state(path: Path, state: TrainingState, print_of: str) -> None:
    """Write a checkpoint atomically; `print_of` identifies the training."""
    from safetensors.torch import save

    tensors = {f"average.{name}": value for name, value in state.average.items()}
    tensors |= {f"network.{name}": value for name, value in state.network.state_dict().items()}
    for index, memory in state.optimiser.state_dict()["state"].items():
        tensors |= {f"adam.{index}.{name}": value for name, value in memory.items()}
    write_atomically(path, save(tensors, {"step": str(state.step), "print": print_of}))


def read_state(path: Path, state: TrainingState, print_of: str) -> None:
    """Load a checkpoint into `state`; raise InputError if it is unreadable or of another training."""
    from safetensors import SafetensorError, safe_open

    try:
        with safe_open(str(path), framework="pt") as file:
            metadata = file.metadata() or {}
            tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
    except (OSError, SafetensorError) as error:
        raise InputError(f"{path}: no checkpoint that can be read ({error}); delete it to begin anew") from error
    if metadata.get("print") != print_of:
        raise InputError(
            f"{path}: a checkpoint of another training (other data, seed or settings); delete it to begin anew"
        )
    state.network.load_state_dict(under("network.", tensors))
    state.average = under("average.", tensors)
    memory = state.optimiser.state_dict()
    memory["state"] = {
        index: under(f"adam.{index}.", tensors) for index in range(len(memory["param_groups"][0]["params"]))
    }
    state.optimiser.load_state_dict(memory)
    state.step = int(metadata["step"])


Report = Callable[[int, float], None]  # steps done, loss


@dataclass(frozen=True)
class TrainingSettings:
    """Settings of policy training; `drop_goal` is the share of windows whose goal is masked."""

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
        """Return the learning rate at a step: linear warm-up, then cosine decay."""
        rising = min(1.0, (step + 1) / self.warmup)
        return self.learning_rate * rising * 0.5 * (1 + math.cos(math.pi * step / self.steps))


class Losses(Protocol):
    """Loss of a network on batches; `fingerprint` identifies the data, so that checkpoints are not mixed up."""

    @property
    def fingerprint(self) -> str: ...

    def loss(self, network: nn.Module, step: int) -> Tensor:
        """Compute the loss on the batch of this step."""
        ...


def train_policy(
    spec: PolicySpec,
    windows: Windows,
    actions: Normaliser,
    seed: int,
    settings: TrainingSettings = TrainingSettings(),
    checkpoint: Path | None = None,
    report: Report = lambda step, loss: None,
) -> NetworkField:
    """Train a velocity field on windows.

    Args:
        spec: Sizes of the policy.
        windows: Training windows.
        actions: Normaliser of the actions.
        seed: Seed of the training.
        settings: Settings of the training.
        checkpoint: File to resume from, if it exists, and to write to.
        report: Callback with the number of steps and the loss, at each checkpoint.

    Returns:
        The field with the averaged weights.

    Raises:
        InputError: The windows do not fit the spec, or the checkpoint belongs to another training.
    """
    windows.check(spec)
    windows = windows.drawn()
    seen, wanted = fitted(windows.observations), fitted(windows.goals)
    torch.manual_seed(seed)
    network = VelocityNetwork(spec)
    batches = Batches(spec, windows, seen, wanted, actions, settings, seed)
    return NetworkField(spec, fit(network, batches, settings, checkpoint, report), seen, wanted, actions)


def fit(
    network: nn.Module, batches: Losses, settings: TrainingSettings, checkpoint: Path | None, report: Report
) -> dict[str, Array]:
    """Fit a network and return its averaged weights by name; frozen parameters do not change.

    See `train_policy` for `checkpoint` and `report`.
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
    # Early weights are poor, so the average is short at first.
    keep = min(settings.average, (1 + state.step) / (10 + state.step))
    with torch.no_grad():
        for name, value in state.network.state_dict().items():
            state.average[name].lerp_(value, 1 - keep)
    return float(loss.detach())


class Batches:
    """Normalised windows, and the batch of each step, for a network with the interface of `VelocityNetwork`."""

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
        data = _digest((self._observations, self._goals, self._chunks, torch.from_numpy(self._upto)))
        return f"{self._seed} {self._spec} {data}"

    def loss(self, network: nn.Module, step: int) -> Tensor:
        """Compute the mean square error of the predicted chunks on the batch of this step."""
        noisy, times, condition, chunks = self.draw(step)
        loss: Tensor = (network(noisy, times, condition) - chunks).square().mean()
        return loss

    def draw(self, step: int) -> tuple[Tensor, Tensor, Tensor, Tensor]:
        """Draw the noisy chunks, times, conditions and clean chunks of a step."""
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


def layers(*sizes: int) -> nn.Sequential:
    """Create linear layers of these sizes with SiLU between them."""
    linear = [nn.Linear(inputs, outputs) for inputs, outputs in pairwise(sizes)]
    parts: list[nn.Module] = [linear[0]]
    for layer in linear[1:]:
        parts += [nn.SiLU(), layer]
    return nn.Sequential(*parts)


def tensors_of(network: nn.Sequential) -> dict[str, Array]:
    """Extract the weights for a numpy `Perceptron` with the same layers."""
    linear = [part for part in network if isinstance(part, nn.Linear)]
    return {
        f"{layer}.{name}": value.detach().numpy().copy()
        for layer, part in enumerate(linear)
        for name, value in part.named_parameters()
    }


@dataclass(frozen=True)
class CriticSettings:
    """Settings of critic training; `discount` is the discount factor per chunk."""

    steps: int = 4000
    batch: int = 256
    width: int = 256
    learning_rate: float = 1e-3
    weight_decay: float = 1e-2
    discount: float = 0.9


def train_critic(
    policy: NetworkField, rollouts: Sequence[Rollout], seed: int, settings: CriticSettings = CriticSettings()
) -> Critic:
    """Train a critic on rollouts of `policy`, deterministically in the seed.

    Raises InputError if all rollouts have the same outcome, since nothing distinguishes good chunks then.
    """
    if len({rollout.succeeded for rollout in rollouts}) < 2:
        raise InputError(f"a critic learns from successes and failures; of {len(rollouts)} rollouts all end alike")
    inputs, returns = _examples(policy, rollouts, settings.discount)
    members = [_member(inputs, returns, seed + index, settings) for index in range(MEMBERS)]
    return Critic(policy.spec, members, policy.normalisers)


def _examples(policy: NetworkField, rollouts: Sequence[Rollout], discount: float) -> tuple[Tensor, Tensor]:
    inputs = []
    for rollout in rollouts:
        done = policy.actions.normalise(rollout.chunks[:, : policy.spec.n_action_steps])
        for conditioning, actions in zip(rollout.conditionings, done, strict=True):
            seen = condition_vector(conditioning, policy.observations, policy.goals)
            inputs.append(np.concatenate([seen, actions.ravel()]).astype(np.float32))
    returns = np.concatenate([rollout.returns(discount) for rollout in rollouts])
    return torch.from_numpy(np.stack(inputs)), torch.from_numpy(returns)


def _member(inputs: Tensor, returns: Tensor, seed: int, settings: CriticSettings) -> dict[str, Array]:
    torch.manual_seed(seed)
    network = layers(inputs.shape[1], settings.width, settings.width, 1)
    optimiser = torch.optim.AdamW(network.parameters(), lr=settings.learning_rate, weight_decay=settings.weight_decay)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimiser, settings.steps)
    for _ in range(settings.steps):
        rows = torch.randint(len(returns), (settings.batch,))
        loss = F.binary_cross_entropy_with_logits(network(inputs[rows])[:, 0], returns[rows])
        optimiser.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        optimiser.step()
        schedule.step()
    return tensors_of(network)

"""Trains an adapter: the policy's own weights are frozen, what is added to its linear layers is not."""

from __future__ import annotations

from pathlib import Path

import torch
from torch import Tensor, nn

from llm_planner.errors import InputError
from llm_planner.skills.policies.adapters import Adapter, adapted_layers, adapter_size
from llm_planner.skills.policies.field import NetworkField
from llm_planner.skills.policies.network import VelocityNetwork
from llm_planner.skills.policies.spec import PolicySpec
from llm_planner.skills.policies.training import Batches, Report, TrainingSettings, fit
from llm_planner.skills.policies.windows import Windows

SIZE_MOST = 0.1  # of the policy's weights
ADAPTER_TRAINING = TrainingSettings(steps=6000, batch=256, learning_rate=5e-3)
"""So few weights, which begin at nothing, need larger steps than a whole network, and more of them."""


class AdaptedLinear(nn.Module):
    """A linear layer that stays, and an addition that begins at nothing."""

    def __init__(self, base: nn.Linear, rank: int) -> None:
        super().__init__()
        self.base = base.requires_grad_(False)
        self.down = nn.Linear(base.in_features, rank, bias=False)
        self.up = nn.Linear(rank, base.out_features, bias=False)
        nn.init.zeros_(self.up.weight)

    def forward(self, inputs: Tensor) -> Tensor:
        out: Tensor = self.base(inputs) + self.up(self.down(inputs))
        return out


def train_adapter(
    base: NetworkField,
    windows: Windows,
    seed: int,
    settings: TrainingSettings = ADAPTER_TRAINING,
    rank: int | None = None,
    checkpoint: Path | None = None,
    report: Report = lambda step, loss: None,
) -> Adapter:
    """An adapter of `base` for what `windows` show, in the units of `base`; as `train_policy` otherwise.

    Its rank is the largest that keeps it within a tenth of the policy's weights, where none is given.
    """
    windows.check(base.spec)
    torch.manual_seed(seed)
    network = VelocityNetwork(base.spec)
    network.load_state_dict({name: torch.from_numpy(value.copy()) for name, value in base.weights.items()})
    _adapt(network, base.spec, largest_rank(base.spec) if rank is None else rank)
    batches = Batches(base.spec, windows.drawn(), base.observations, base.goals, base.actions, settings, seed)
    weights = fit(network, batches, settings, checkpoint, report)
    tensors = {
        f"{layer}.{part}": weights[f"{layer}.{part}.weight"]
        for layer in adapted_layers(base.spec)
        for part in ("down", "up")
    }
    return Adapter(base, tensors)


def largest_rank(spec: PolicySpec) -> int:
    """Of an adapter within `SIZE_MOST`; raises InputError for a policy too small for any."""
    rank = int(SIZE_MOST / adapter_size(spec, 1))
    if rank < 1:
        raise InputError(f"a policy of width {spec.width} is too small for an adapter within {SIZE_MOST:.0%} of it")
    return rank


def _adapt(network: VelocityNetwork, spec: PolicySpec, rank: int) -> None:
    if rank < 1:
        raise InputError(f"the rank of an adapter is 1 or more, not {rank!r}")
    network.requires_grad_(False)
    for layer in adapted_layers(spec):
        parent, _, name = layer.rpartition(".")
        setattr(network.get_submodule(parent), name, AdaptedLinear(network.get_submodule(layer), rank))  # type: ignore[arg-type]

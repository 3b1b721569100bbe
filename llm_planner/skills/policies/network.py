"""The velocity network in torch, for training; `field.NetworkField` runs the same weights in numpy."""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional as F  # noqa: N812  (torch's own convention)

from llm_planner.skills.policies.spec import TIME_FREQUENCIES, PolicySpec


class Block(nn.Module):
    """Two layers whose outcome is added to what came in; the second begins at zero."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.first, self.second = nn.Linear(width, width), nn.Linear(width, width)
        nn.init.zeros_(self.second.weight)
        nn.init.zeros_(self.second.bias)

    def forward(self, hidden: Tensor) -> Tensor:
        out: Tensor = hidden + self.second(F.silu(self.first(F.silu(hidden))))
        return out


class VelocityNetwork(nn.Module):
    """Guesses the chunk behind a noisy one; see `NetworkField`."""

    def __init__(self, spec: PolicySpec) -> None:
        super().__init__()
        self.spec = spec
        self.enter = nn.Linear(spec.input_dim, spec.width)
        self.blocks = nn.ModuleList(Block(spec.width) for _ in range(spec.depth))
        self.leave = nn.Linear(spec.width, spec.chunk_dim)

    def forward(self, chunks: Tensor, times: Tensor, condition: Tensor) -> Tensor:
        """Of `chunks` (B, chunk_dim) at `times` (B,), told `condition` (B, condition_dim): (B, chunk_dim)."""
        hidden = self.enter(torch.cat([chunks, time_features(times), condition], dim=1))
        for block in self.blocks:
            hidden = block(hidden)
        out: Tensor = self.leave(F.silu(hidden))
        return out


def time_features(times: Tensor) -> Tensor:
    """As `field.time_features`, of (B,): (B, 2 * TIME_FREQUENCIES)."""
    angles = times[:, None] * torch.pi * 2.0 ** torch.arange(TIME_FREQUENCIES) / 2
    return torch.cat([angles.sin(), angles.cos()], dim=1)

"""The network that sees in torch, for training; `network.SightNetwork` runs the same weights in numpy."""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional as F  # noqa: N812  (torch's own convention)

from llm_planner.skills.sight.spec import CHANNELS, SightSpec


class SightModule(nn.Module):
    """Its parameters have the names and shapes of `SightSpec.shapes`."""

    def __init__(self, spec: SightSpec) -> None:
        super().__init__()
        self.spec, width = spec, spec.width
        self.first = nn.Conv2d(CHANNELS, spec.fine, 3, stride=2, padding=1)
        self.edges = nn.Conv2d(spec.fine, spec.fine, 3, padding=1)
        self.second = nn.Conv2d(spec.fine, width, 3, stride=2, padding=1)
        self.around = nn.ModuleList(nn.Conv2d(width, width, 3, padding=d, dilation=d) for d in spec.dilations)
        self.leave = nn.Conv2d(width, spec.outputs, 1)
        self.nothing = nn.Parameter(torch.zeros(len(spec.kinds) + len(spec.colors)))

    def forward(self, tables: Tensor) -> Tensor:
        """Of (B, CHANNELS, ROWS, COLUMNS), as `network.inputs_of`: (B, outputs, CELL_ROWS, CELL_COLUMNS)."""
        with torch.autocast("cpu", torch.bfloat16):  # half the time, on processors that know it
            hidden = F.relu(self.first(tables))
            hidden = F.relu(self.second(hidden + F.relu(self.edges(hidden))))
            for layer in self.around:
                hidden = hidden + F.relu(layer(hidden))
        out: Tensor = self.leave(hidden.float())
        return out

"""Where a training stands, and how it is kept on disk."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import torch
from torch import Tensor, nn

from llm_planner.errors import InputError
from llm_planner.skills.policies.weights_file import under, write_whole


@dataclass
class TrainingState:
    """The network, Adam's memory of what is trained in it, the running average of the weights, and the steps done."""

    network: nn.Module
    optimiser: torch.optim.Optimizer
    average: dict[str, Tensor]
    step: int = 0

    @classmethod
    def begin(cls, network: nn.Module, rate: float) -> TrainingState:
        trained = [parameter for parameter in network.parameters() if parameter.requires_grad]
        optimiser = torch.optim.AdamW(trained, lr=rate, weight_decay=1e-4)
        return cls(network, optimiser, {name: value.clone() for name, value in network.state_dict().items()})


def write_state(path: Path, state: TrainingState, print_of: str) -> None:
    """Whole or not at all; `print_of` tells which training this is."""
    from safetensors.torch import save

    tensors = {f"average.{name}": value for name, value in state.average.items()}
    tensors |= {f"network.{name}": value for name, value in state.network.state_dict().items()}
    for index, memory in state.optimiser.state_dict()["state"].items():
        tensors |= {f"adam.{index}.{name}": value for name, value in memory.items()}
    write_whole(path, save(tensors, {"step": str(state.step), "print": print_of}))


def read_state(path: Path, state: TrainingState, print_of: str) -> None:
    """Puts what `path` holds into `state`; raises InputError for a file that is none, or of another training."""
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

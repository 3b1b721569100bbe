"""The layers of `Perceptron` in torch, for training."""

from __future__ import annotations

from itertools import pairwise

from torch import nn

from llm_planner.skills.policies.conditioning import Array


def layers(*sizes: int) -> nn.Sequential:
    """Linear layers from the first size to the last, with SiLU between them."""
    linear = [nn.Linear(inputs, outputs) for inputs, outputs in pairwise(sizes)]
    parts: list[nn.Module] = [linear[0]]
    for layer in linear[1:]:
        parts += [nn.SiLU(), layer]
    return nn.Sequential(*parts)


def tensors_of(network: nn.Sequential) -> dict[str, Array]:
    """What a `Perceptron` of the same layers takes."""
    linear = [part for part in network if isinstance(part, nn.Linear)]
    return {
        f"{layer}.{name}": value.detach().numpy().copy()
        for layer, part in enumerate(linear)
        for name, value in part.named_parameters()
    }

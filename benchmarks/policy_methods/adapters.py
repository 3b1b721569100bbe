"""A new skill in a few weights: low-rank additions to a policy (LoRA, arXiv:2106.09685; PSEC, arXiv:2502.05932).

Merged they cost nothing at run time: the outcome is a policy like any other. Mixed, shares of each are added.

Trains an adapter: the policy's own weights are frozen, what is added to its linear layers is not.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from llm_planner.errors import InputError
from llm_planner.learning.policy_training import Batches, Report, TrainingSettings, VelocityNetwork, fit
from llm_planner.learning.recording import Windows
from llm_planner.skills.learned.velocity_field import (
    Array,
    Conditioning,
    NetworkField,
    Normaliser,
    PolicySpec,
    weight_shapes,
)
from llm_planner.skills.learned.weights_file import read_tensors, refuse_unknown, write_tensors

MIXES_KEPT = 8  # merged networks, of shares asked for before


def adapted_layers(spec: PolicySpec) -> dict[str, tuple[int, int]]:
    """The linear layers of a policy, and what each gives and takes (out, in)."""
    suffix = ".weight"
    shapes = {name.removesuffix(suffix): shape for name, shape in weight_shapes(spec).items() if name.endswith(suffix)}
    return {layer: (outputs, inputs) for layer, (outputs, inputs) in shapes.items()}


def adapter_size(spec: PolicySpec, rank: int) -> float:
    """Weights of an adapter, as a share of those of the policy."""
    added = sum(rank * (outputs + inputs) for outputs, inputs in adapted_layers(spec).values())
    return added / sum(int(np.prod(shape)) for shape in weight_shapes(spec).values())


class Adapter:
    """For each linear layer "down" (rank, in) and "up" (out, rank), whose product is added to the layer's weights."""

    def __init__(self, base: NetworkField, tensors: Mapping[str, Array]) -> None:
        """Raises InputError where `tensors`, "LAYER.down" and "LAYER.up", do not fit the layers of `base`."""
        refuse_unknown(tensors, [f"{layer}.{part}" for layer in adapted_layers(base.spec) for part in ("down", "up")])
        for layer, (outputs, inputs) in adapted_layers(base.spec).items():
            down, up = tensors.get(f"{layer}.down", np.zeros(0)), tensors.get(f"{layer}.up", np.zeros(0))
            if down.shape != (*down.shape[:1], inputs) or up.shape != (outputs, *down.shape[:1]):
                raise InputError(
                    f"the additions to {layer!r} must be (rank, {inputs}) and ({outputs}, rank), "
                    f"not {down.shape} and {up.shape}"
                )
            if not (np.isfinite(down).all() and np.isfinite(up).all()):
                raise InputError(f"the additions to {layer!r} hold numbers that are not finite")
        self.base, self.tensors = base, dict(tensors)

    def addition(self, layer: str) -> Array:
        """To the weights of `layer` (out, in)."""
        product: Array = self.tensors[f"{layer}.up"] @ self.tensors[f"{layer}.down"]
        return product


def merged(base: NetworkField, adapters: Sequence[Adapter], shares: Sequence[float] | None = None) -> NetworkField:
    """The policy that `base` becomes with a share of each adapter, all of each where none are given.

    Raises InputError for an adapter of another policy, and for shares that are not one finite number an adapter.
    """
    shares = [1.0] * len(adapters) if shares is None else shares
    if len(shares) != len(adapters) or not np.isfinite(shares).all():
        raise InputError(f"{len(adapters)} adapters are mixed by as many finite shares, not {list(shares)}")
    if any(fingerprint(adapter.base) != fingerprint(base) for adapter in adapters):
        raise InputError("an adapter belongs to the policy that it was trained on; this one has other weights")
    weights = dict(base.weights)
    for layer in adapted_layers(base.spec):
        for adapter, share in zip(adapters, shares, strict=True):
            weights[f"{layer}.weight"] = weights[f"{layer}.weight"] + np.float32(share) * adapter.addition(layer)
    return NetworkField(base.spec, weights, **base.normalisers)


class MixedByContext:
    """A `VelocityField` whose shares of adapters follow from what is seen: `shares_of` gives one an adapter."""

    def __init__(
        self,
        base: NetworkField,
        adapters: Sequence[Adapter],
        shares_of: Callable[[Conditioning], Sequence[float]],
    ) -> None:
        self.spec: PolicySpec = base.spec
        self.actions: Normaliser = base.actions
        self._shares_of = shares_of
        self._mixed = lru_cache(MIXES_KEPT)(lambda shares: merged(base, adapters, shares))

    def velocity(self, chunks: Array, time: float, conditioning: Conditioning) -> Array:
        """See `VelocityField`."""
        # Shares that hardly differ give the same policy, which need not be merged again.
        shares = tuple(round(float(share), 2) for share in self._shares_of(conditioning))
        return self._mixed(shares).velocity(chunks, time, conditioning)


def save_adapter(path: Path, adapter: Adapter) -> None:
    """Write it to `path` in half precision, whole or not at all."""
    tensors: dict[str, Any] = {name: value.astype(np.float16) for name, value in adapter.tensors.items()}
    write_tensors(path, tensors, {"adapter_of": fingerprint(adapter.base)})


def load_adapter(path: Path, base: NetworkField) -> Adapter:
    """The adapter of `base` in `path`; raises InputError that says what is wrong with the file."""
    tensors, metadata = read_tensors(path)
    try:
        if metadata.get("adapter_of") != fingerprint(base):
            raise InputError(
                "it is no adapter of this policy; train it anew on it, or load the policy it was trained on"
            )
        return Adapter(base, tensors)
    except InputError as error:
        raise InputError(f"{path}: {error}") from error


def fingerprint(field: NetworkField) -> str:
    """Tells weights apart, at the precision in which they are kept in files."""
    digest = hashlib.blake2b(digest_size=16)
    for name in sorted(field.weights):
        digest.update(field.weights[name].astype(np.float16).tobytes())
    return digest.hexdigest()


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

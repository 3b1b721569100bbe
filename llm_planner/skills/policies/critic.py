"""How likely, and how soon, a chunk leads to success: a small network fitted to what became of rollouts."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from llm_planner.errors import InputError
from llm_planner.skills.policies.conditioning import Array, Conditioning
from llm_planner.skills.policies.field import condition_vector
from llm_planner.skills.policies.normaliser import Normaliser
from llm_planner.skills.policies.perceptron import Perceptron
from llm_planner.skills.policies.spec import PolicySpec
from llm_planner.skills.policies.weights_file import (
    normaliser_tensors,
    read_normalisers,
    read_spec,
    read_tensors,
    refuse_unknown,
    under,
    write_tensors,
)

MEMBERS = 2  # each has its own mistakes


@dataclass(frozen=True)
class Rollout:
    """What a policy was asked each time, the `chunks` (T, horizon, action_dim) that it began, and how it ended."""

    conditionings: Sequence[Conditioning]
    chunks: Array
    succeeded: bool

    def returns(self, discount: float) -> Array:
        """Of each chunk (T,): `discount` to the number of chunks that still followed, 0 after a failure."""
        left = np.arange(len(self.chunks))[::-1]
        return (float(self.succeeded) * discount**left).astype(np.float32)


class Critic:
    """A `ChunkCritic` from trained weights: the least of its members' opinions, each between 0 and 1."""

    def __init__(
        self, spec: PolicySpec, members: Sequence[Mapping[str, Array]], normalisers: Mapping[str, Normaliser]
    ) -> None:
        """`normalisers` are those of the policy that is judged, by the names in its file."""
        self.spec, self.normalisers = spec, dict(normalisers)
        self.members = [Perceptron(tensors, critic_inputs(spec), 1) for tensors in members]

    def values(self, chunks: Array, conditioning: Conditioning) -> Array:
        """See `ChunkCritic`."""
        seen = condition_vector(conditioning, self.normalisers["observations"], self.normalisers["goals"])
        done = self.normalisers["actions"].normalise(chunks[:, : self.spec.n_action_steps]).reshape(len(chunks), -1)
        inputs = np.concatenate([np.broadcast_to(seen, (len(chunks), len(seen))), done], axis=1).astype(np.float32)
        logits: Array = np.min([member(inputs)[:, 0] for member in self.members], axis=0)
        # Half of tanh and a half is the logistic function, and cannot overflow.
        values: Array = 0.5 + 0.5 * np.tanh(0.5 * logits)
        return values


def critic_inputs(spec: PolicySpec) -> int:
    """Numbers that a critic is told: as the policy is, and the actions that would be carried out."""
    return spec.condition_dim + spec.n_action_steps * spec.action_dim


def save_critic(path: Path, critic: Critic) -> None:
    """Write it to `path`, whole or not at all."""
    write_tensors(path, _tensors_of(critic), {"critic_of": json.dumps(critic.spec.to_table())})


def load_critic(path: Path) -> Critic:
    """The critic in `path`; raises InputError that says what is wrong with the file."""
    tensors, metadata = read_tensors(path)
    try:
        spec = read_spec(metadata, "critic_of")
        members = [under(f"members.{index}.", tensors) for index in range(MEMBERS)]
        critic = Critic(spec, members, read_normalisers(tensors, spec))
        refuse_unknown(tensors, _tensors_of(critic))
    except InputError as error:
        raise InputError(f"{path}: {error}") from error
    return critic


def _tensors_of(critic: Critic) -> dict[str, Array]:
    tensors = normaliser_tensors(critic.normalisers)
    for index, member in enumerate(critic.members):
        tensors |= {f"members.{index}.{name}": value for name, value in member.tensors.items()}
    return tensors

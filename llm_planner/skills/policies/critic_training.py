"""Fits a critic to what became of a policy's rollouts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional as F  # noqa: N812  (torch's own convention)

from llm_planner.errors import InputError
from llm_planner.skills.policies.conditioning import Array
from llm_planner.skills.policies.critic import MEMBERS, Critic, Rollout
from llm_planner.skills.policies.field import NetworkField, condition_vector
from llm_planner.skills.policies.perceptron_training import layers, tensors_of


@dataclass(frozen=True)
class CriticSettings:
    """How a critic is trained; `discount` is what success is worth one chunk later."""

    steps: int = 4000
    batch: int = 256
    width: int = 256
    learning_rate: float = 1e-3
    weight_decay: float = 1e-2
    discount: float = 0.9


def train_critic(
    policy: NetworkField, rollouts: Sequence[Rollout], seed: int, settings: CriticSettings = CriticSettings()
) -> Critic:
    """Of the chunks that `policy` gave, or one like it; the same seed gives the same critic.

    Raises InputError where all rollouts end alike: nothing tells a good chunk from a bad one then.
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

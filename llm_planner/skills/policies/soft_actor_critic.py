"""Soft actor-critic (arXiv:1801.01290, 1812.05905): two critics, an actor that stays as random as is asked of it."""

from __future__ import annotations

import copy
import math
from typing import Protocol

import torch
from torch import Tensor, nn
from torch.nn import functional as F  # noqa: N812  (torch's own convention)

from llm_planner.skills.policies.conditioning import Array
from llm_planner.skills.policies.perceptron_training import layers
from llm_planner.skills.policies.replay import Transitions
from llm_planner.skills.policies.steering import LOG_DEVIATION

FIRST_TEMPERATURE = 0.1


class LearnerSettings(Protocol):
    """See `SteeringSettings`."""

    @property
    def width(self) -> int: ...
    @property
    def learning_rate(self) -> float: ...
    @property
    def discount(self) -> float: ...
    @property
    def target_rate(self) -> float: ...
    @property
    def entropy(self) -> float: ...


class SoftActorCritic:
    """Learns choices in (-1, 1) of `choice` numbers from `told` numbers. It begins with choices around 0."""

    def __init__(self, told: int, choice: int, settings: LearnerSettings) -> None:
        width = settings.width
        self._settings, self._aim = settings, settings.entropy * choice
        self.actor = layers(told, width, width, 2 * choice)
        nn.init.zeros_(self.actor[-1].weight)  # type: ignore[arg-type]
        nn.init.zeros_(self.actor[-1].bias)  # type: ignore[arg-type]
        self._critics = nn.ModuleList(layers(told + choice, width, width, 1) for _ in range(2))
        self._targets = copy.deepcopy(self._critics).requires_grad_(False)
        self._log_temperature = torch.tensor(math.log(FIRST_TEMPERATURE), requires_grad=True)
        rate = settings.learning_rate
        self._actor_steps = torch.optim.Adam(self.actor.parameters(), rate)
        self._critic_steps = torch.optim.Adam(self._critics.parameters(), rate)
        self._temperature_steps = torch.optim.Adam([self._log_temperature], rate)

    def choose(self, told: Array) -> Array:
        """A random choice (choice,) for (told,)."""
        with torch.no_grad():
            choice: Array = self._drawn(torch.from_numpy(told)[None])[0][0].numpy()
        return choice

    def update(self, batch: Transitions) -> None:
        """One step of the critics, of the actor and of its randomness."""
        self._step(self._critic_steps, self._critic_loss(batch))
        choice, log_density = self._drawn(batch.told)
        # The actor's loss reaches into the critics, whose own gradients are wiped before their next step.
        temperature = self._log_temperature.exp().detach()
        self._step(
            self._actor_steps, (temperature * log_density - self._least(self._critics, batch.told, choice)).mean()
        )
        self._step(self._temperature_steps, -self._log_temperature * (log_density.detach().mean() + self._aim))
        with torch.no_grad():
            for target, critic in zip(self._targets.parameters(), self._critics.parameters(), strict=True):
                target.lerp_(critic, self._settings.target_rate)

    def _critic_loss(self, batch: Transitions) -> Tensor:
        with torch.no_grad():
            choice, log_density = self._drawn(batch.told_next)
            later = self._least(self._targets, batch.told_next, choice) - self._log_temperature.exp() * log_density
            wanted = batch.reward + self._settings.discount * batch.goes_on * later
        told = torch.cat([batch.told, batch.choice], dim=1)
        return sum((F.mse_loss(critic(told)[:, 0], wanted) for critic in self._critics), torch.zeros(()))

    def _drawn(self, told: Tensor) -> tuple[Tensor, Tensor]:
        """Choices (B, choice) and the logarithm of their density (B,)."""
        mean, log_deviation = self.actor(told).chunk(2, dim=1)
        deviation = log_deviation.clamp(*LOG_DEVIATION).exp()
        noise = torch.randn_like(mean)
        inner = mean + deviation * noise
        normal = -0.5 * noise.square() - deviation.log() - 0.5 * math.log(2 * math.pi)
        squashed = 2 * (math.log(2) - inner - F.softplus(-2 * inner))  # log of the slope of tanh
        return inner.tanh(), (normal - squashed).sum(dim=1)

    def _least(self, critics: nn.ModuleList, told: Tensor, choice: Tensor) -> Tensor:
        both = torch.cat([told, choice], dim=1)
        return torch.minimum(*(critic(both)[:, 0] for critic in critics))

    @staticmethod
    def _step(optimiser: torch.optim.Optimizer, loss: Tensor) -> None:
        optimiser.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        optimiser.step()

"""A policy that needs no training: it says where its aim is, that the fingers shall be so wide, and that it is done."""

from dataclasses import dataclass

import numpy as np
import pytest

from llm_planner.skills.arm import ArmSettings
from llm_planner.skills.learned.chunk import Decision
from llm_planner.skills.learned.loading import shows_effects, spec_of
from llm_planner.skills.learned.skill import LearnedMotion, LearnedSkill
from llm_planner.skills.learned.velocity_field import Conditioning, PolicySpec
from llm_planner.skills.scripts.pick_and_place import pick


@dataclass
class AimSampler:
    """Leads the hand straight to its aim, and then closes the fingers; it counts how often it was asked."""

    spec: PolicySpec
    done: float = 0.0
    width: float = 0.05
    asked: int = 0
    noises: tuple = ()

    def sample(self, conditioning: Conditioning, noise: np.ndarray) -> np.ndarray:
        self.asked += 1
        self.noises += (noise,)
        hand = conditioning.observations[-1][:4]
        share = np.linspace(1 / self.spec.horizon, 1.0, self.spec.horizon)[:, None]
        actions = np.zeros((1, self.spec.horizon, 6), np.float32)
        actions[0, :, :4] = (1 - share) * hand
        actions[0, :, 4], actions[0, :, 5] = self.width, self.done
        return actions


@pytest.fixture
def sampler(library):
    return AimSampler(spec_of(library.find("pick").manifest))


@pytest.fixture
def learned_pick(library, sampler):
    """The skill `pick`, moved by that policy."""
    manifest = library.find("pick").manifest

    def achieved(arguments, began):
        return lambda now: shows_effects(manifest, arguments, began, now)

    return LearnedSkill(
        "pick",
        LearnedMotion(sampler, manifest.policy.observe, manifest.policy.goal),
        lambda arguments, began: Decision(pick, ArmSettings(), arguments, began),
        achieved,
        manifest.timeout,
    )

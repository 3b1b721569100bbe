"""Candidates that differ because the thing is taken to be a little elsewhere."""

import importlib
import sys
from pathlib import Path

import numpy as np

sys.path.append(str(Path(__file__).parents[2] / "benchmarks"))
elsewhere = importlib.import_module("meta_world.elsewhere")

from llm_planner.skills.policies.conditioning import Conditioning  # noqa: E402 - after the path to the benchmarks is known
from llm_planner.skills.policies.spec import PolicySpec  # noqa: E402

ASKED = Conditioning(np.arange(72, dtype=np.float32).reshape(2, 36), np.zeros(3, np.float32))


class Asked:
    """A sampler that gives back its noise, and remembers what it was asked."""

    spec = PolicySpec(36, 3, 4)

    def __init__(self):
        self.seen = []

    def sample(self, conditioning, noise):
        self.seen.append(conditioning.observations - ASKED.observations)
        return noise


def test_each_look_moves_the_thing_alone_and_all_noise_is_answered_in_its_order():
    sampler, noise = Asked(), np.random.default_rng(0).standard_normal((7, 16, 4), dtype=np.float32)
    looking = elsewhere.SeenElsewhere(sampler, looks=3)
    assert (looking.sample(ASKED, noise) == noise).all()
    assert looking.spec == sampler.spec
    assert len(sampler.seen) == 3
    for moved, first in zip(sampler.seen, (0, 3, 5), strict=True):
        assert np.allclose(moved[:, elsewhere.THING], elsewhere.SHIFT * noise[first, -1, :3], atol=1e-5)
        assert np.allclose(moved[:, elsewhere.THING], moved[:, elsewhere.THING_BEFORE], atol=1e-5)
        assert np.count_nonzero(moved) == 12


def test_fewer_chunks_than_looks_are_a_look_each():
    sampler = Asked()
    assert elsewhere.SeenElsewhere(sampler, looks=16).sample(ASKED, np.ones((2, 16, 4), np.float32)).shape == (2, 16, 4)
    assert len(sampler.seen) == 2

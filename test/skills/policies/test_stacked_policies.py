"""What improves a policy stacks: each wrapper is a policy for the next one."""

import numpy as np
import pytest
from policy_methods.composition import ClassifierFree, ComposedField
from policy_methods.steering import NoiseActor, Steered
from policy_methods.temporal_guidance import Below, GuidedField, LawfulFirst, TemporalRobustness, placed_path

from llm_planner.ltl.parser import parse
from llm_planner.skills.learned.samplers import FlowSampler, Reranked

HIGHEST = 0.4


class Toward:
    """The nearer the end of a chunk to where it should lead, the better."""

    def values(self, chunks, conditioning):
        return -np.linalg.norm(chunks[:, -1] - conditioning.goal, axis=-1)


@pytest.fixture
def below():
    """The second number of an action stands for a height."""
    path = placed_path(4, columns=(0, 0, 1))
    return TemporalRobustness(parse("G low"), {"low": Below(HIGHEST)}, path, period=0.1)


@pytest.fixture
def outward():
    """An actor whose noise is always 1, whatever it is told."""

    def make(field):
        spec = field.spec
        bias = np.repeat(np.float32([np.arctanh(0.5), -5.0]), spec.action_dim)
        tensors = {"0.weight": np.zeros((2 * spec.action_dim, spec.condition_dim), np.float32), "0.bias": bias}
        return NoiseActor(spec, tensors, field.normalisers, bound=2.0)

    return make


def test_all_of_it_at_once(toward_field, below, outward, ask):
    composed = ComposedField([toward_field, ClassifierFree(toward_field, 1.2)], [0.5, 0.5])
    guided = GuidedField(composed, below)
    steered = Steered(FlowSampler(guided, steps=4), outward(toward_field))
    policy = Reranked(steered, LawfulFirst(below, critic=Toward()), np.random.default_rng(0), samples=8)
    asked, start = ask(goal=(0.5, 0.7)), np.zeros((1, 4, 2), np.float32)

    free = FlowSampler(composed, steps=4).sample(asked, start)
    kept = policy.sample(asked, start)
    assert below.values(free, asked)[0] < -0.15
    assert below.values(kept, asked)[0] > -1e-3
    assert kept[0, -1] == pytest.approx([0.5, HIGHEST], abs=0.25)
    assert policy.spec == toward_field.spec


def test_a_steered_policy_can_be_ranked_because_normal_noise_spreads_the_actor(either_way_field, outward, ask, noise):
    chosen = outward(either_way_field).noise(ask(), noise(20))
    assert chosen.mean() == pytest.approx(1.0, abs=0.02)
    assert chosen.std(axis=0).min() > 1e-3
    steered = Steered(FlowSampler(either_way_field, steps=8), outward(either_way_field))
    assert (steered.sample(ask(), noise(20)).mean(axis=(1, 2)) > 0.5).all()

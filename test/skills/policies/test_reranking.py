"""A critic learns from rollouts which chunks succeed, and picks among those that a policy may give."""

import json
from dataclasses import asdict

import numpy as np
import pytest
from safetensors.numpy import load_file, save_file

from llm_planner.errors import InputError
from llm_planner.learning.policy_training import CriticSettings, train_critic
from llm_planner.skills.learned.samplers import (
    Critic,
    FlowSampler,
    Reranked,
    Rollout,
    critic_inputs,
    load_critic,
    save_critic,
)
from llm_planner.skills.learned.velocity_field import Conditioning, Perceptron

SETTINGS = CriticSettings(steps=150, batch=128, width=32, learning_rate=1e-2)


class Rightmost:
    """The more to the right, the better."""

    def values(self, chunks, conditioning):
        return chunks.mean(axis=(1, 2))


def only_right_succeeds(rng, field, count=150):
    """Rollouts of a single chunk: where something stands in the way on the left."""
    asked = [Conditioning(rng.uniform(-1, 1, (2, 2)).astype(np.float32)) for _ in range(count)]
    chunks = [FlowSampler(field).sample(one, rng.standard_normal((1, 4, 2), dtype=np.float32)) for one in asked]
    return [Rollout([one], chunk, bool(chunk.mean() > 0)) for one, chunk in zip(asked, chunks, strict=True)]


@pytest.fixture(scope="module")
def critic(either_way_field):
    rollouts = only_right_succeeds(np.random.default_rng(0), either_way_field)
    return train_critic(either_way_field, rollouts, seed=0, settings=SETTINGS)


def share_to_the_right(sampler, ask, seed=3):
    noise = np.random.default_rng(seed).standard_normal((100, 1, 4, 2), dtype=np.float32)
    return np.mean([sampler.sample(ask(), one).mean() > 0 for one in noise])


def test_a_learned_critic_makes_a_policy_take_the_way_that_succeeds(either_way_field, critic, ask):
    plain = FlowSampler(either_way_field)
    picked = Reranked(plain, critic, np.random.default_rng(0), samples=8)
    assert 0.3 < share_to_the_right(plain, ask) < 0.7
    assert share_to_the_right(picked, ask) > 0.97
    assert picked.spec == plain.spec


def test_as_many_chunks_as_asked_for_the_best_first(either_way_field, ask, noise):
    picked = Reranked(FlowSampler(either_way_field), Rightmost(), np.random.default_rng(0), samples=16)
    values = picked.sample(ask(), noise(3)).mean(axis=(1, 2))
    assert list(values) == sorted(values, reverse=True)
    assert len(values) == 3


def test_more_noise_than_samples_is_ranked_as_it_is(either_way_field, ask, noise):
    plain = FlowSampler(either_way_field)
    picked = Reranked(plain, Rightmost(), np.random.default_rng(0), samples=2)
    best = max(plain.sample(ask(), noise(5)), key=np.mean)
    assert (picked.sample(ask(), noise(5))[0] == best).all()


def test_among_equals_what_was_asked_for_stays(either_way_field, ask, noise):
    class Indifferent:
        def values(self, chunks, conditioning):
            return np.zeros(len(chunks), np.float32)

    plain = FlowSampler(either_way_field)
    same = Reranked(plain, Indifferent(), np.random.default_rng(0), samples=8).sample(ask(), noise(1))
    assert same == pytest.approx(plain.sample(ask(), noise(1)), abs=1e-5)


def test_the_same_seed_picks_the_same(either_way_field, ask, noise):
    first, second = (Reranked(FlowSampler(either_way_field), Rightmost(), np.random.default_rng(5)) for _ in range(2))
    assert (first.sample(ask(), noise(1)) == second.sample(ask(), noise(1))).all()


@pytest.mark.parametrize("samples", [0, 1025])
def test_a_pick_among_none_or_too_many_is_refused(either_way_field, samples):
    with pytest.raises(InputError, match=f"a critic picks among 1 to 1024 chunks, not {samples}"):
        Reranked(FlowSampler(either_way_field), Rightmost(), np.random.default_rng(0), samples)


def test_sooner_is_worth_more_and_failure_nothing(ask):
    chunks = np.zeros((3, 4, 2), np.float32)
    assert Rollout([ask()] * 3, chunks, True).returns(0.5) == pytest.approx([0.25, 0.5, 1.0])
    assert Rollout([ask()] * 3, chunks, False).returns(0.5).tolist() == [0, 0, 0]


def test_a_value_is_the_return_that_came_of_it(critic, ask):
    left, right = (np.full((1, 4, 2), side, np.float32) for side in (-1.0, 1.0))
    assert critic.values(left, ask())[0] < 0.1
    assert critic.values(right, ask())[0] > 0.9
    assert critic.values(np.concatenate([left, right]) * 1e6, ask()).tolist() == pytest.approx([0, 1])


def test_only_the_actions_that_are_carried_out_are_judged(critic, ask):
    chunk = np.ones((2, 4, 2), np.float32)
    chunk[1, 2:] = -1
    values = critic.values(chunk, ask())
    assert values[0] == values[1]


def test_the_same_seed_gives_the_same_critic(either_way_field, critic, ask):
    rollouts = only_right_succeeds(np.random.default_rng(0), either_way_field)
    again = train_critic(either_way_field, rollouts, seed=0, settings=SETTINGS)
    for ours, theirs in zip(critic.members, again.members, strict=True):
        assert all((ours.tensors[name] == theirs.tensors[name]).all() for name in ours.tensors)


@pytest.mark.parametrize("succeeded", [True, False])
def test_rollouts_that_all_end_alike_teach_nothing(either_way_field, ask, succeeded):
    rollouts = [Rollout([ask()], np.zeros((1, 4, 2), np.float32), succeeded)] * 3
    with pytest.raises(InputError, match="successes and failures; of 3 rollouts all end alike"):
        train_critic(either_way_field, rollouts, seed=0)


def test_a_critic_survives_a_file(critic, ask, noise, tmp_path):
    save_critic(tmp_path / "critic.safetensors", critic)
    again = load_critic(tmp_path / "critic.safetensors")
    assert (again.values(noise(5), ask()) == critic.values(noise(5), ask())).all()
    assert again.spec == critic.spec


def test_a_file_of_something_else_is_refused(critic, tmp_path):
    path = tmp_path / "critic.safetensors"
    save_critic(path, critic)
    tensors, metadata = load_file(path), {"critic_of": json.dumps(asdict(critic.spec))}

    def refused(match, metadata=metadata, **changes):
        save_file({name: value for name, value in (tensors | changes).items() if value is not None}, path, metadata)
        with pytest.raises(InputError, match=rf"critic\.safetensors: {match}"):
            load_critic(path)

    refused("its metadata has no sizes of a policy under 'critic_of'", metadata={})
    refused("'members.2.0.bias' is not a known tensor", **{"members.2.0.bias": np.zeros(3, np.float32)})
    refused("layers are numbered from 0, each with weight and bias", **{"members.1.0.bias": None})
    refused("the weights lack 'goals.scale'", **{"goals.scale": None})


def test_layers_that_do_not_fit_are_refused(spec):
    inputs = critic_inputs(spec)
    good = {"0.weight": np.ones((3, inputs)), "0.bias": np.ones(3), "1.weight": np.ones((1, 3)), "1.bias": np.ones(1)}
    assert Perceptron(good, inputs, 1)(np.ones((5, inputs), np.float32)).shape == (5, 1)
    for changes, match in (
        ({"1.weight": np.ones((1, 4))}, r"layer 1 must take 3 numbers to 1, not \(4, 1\)"),
        ({"0.weight": np.ones((3, 2))}, rf"layer 0 must take {inputs} numbers to 3, not \(2, 3\)"),
        ({"0.bias": np.full(3, np.nan)}, "a layer holds numbers that are not finite"),
    ):
        with pytest.raises(InputError, match=match):
            Perceptron(good | changes, inputs, 1)
    with pytest.raises(InputError, match="the last layer must give 2 numbers, not 1"):
        Perceptron(good, inputs, 2)
    with pytest.raises(InputError, match="layers are numbered from 0"):
        Perceptron({}, inputs, 1)
    with pytest.raises(InputError, match="layers are numbered from 0"):
        Critic(spec, [{}], {})

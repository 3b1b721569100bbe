"""A policy: its sizes, its numbers in numpy and in torch, what it learns, and how noise becomes a chunk."""

from dataclasses import asdict, replace

import numpy as np
import pytest
import torch
from policy_methods.composition import ClassifierFree

from llm_planner.errors import InputError
from llm_planner.learning.policy_training import VelocityNetwork
from llm_planner.skills.learned.samplers import FlowSampler
from llm_planner.skills.learned.velocity_field import (
    Conditioning,
    NetworkField,
    Normaliser,
    PolicySpec,
    check_tensors,
    fitted,
    spec_from_table,
    weight_shapes,
)

WAY = np.linspace(0.25, 1, 4)[:, None]


def zeros(count=1):
    return np.zeros((count, 4, 2), np.float32)


def test_a_spec_survives_a_file(spec):
    assert spec_from_table(PolicySpec, asdict(spec)) == spec


@pytest.mark.parametrize("name", ["observation_dim", "action_dim", "n_obs_steps", "horizon", "width", "depth"])
@pytest.mark.parametrize("value", [0, -1, 2.0, True, "2"])
def test_a_size_that_is_no_number_above_zero_is_refused(spec, name, value):
    with pytest.raises(InputError, match=f"{name} of a policy must be a whole number above 0, not {value!r}"):
        replace(spec, **{name: value})


def test_a_spec_that_contradicts_itself_is_refused(spec):
    with pytest.raises(InputError, match="goal_dim of a policy must be a whole number, 0 or more, not -1"):
        replace(spec, goal_dim=-1)
    with pytest.raises(InputError, match=r"n_action_steps \(5\) must not exceed the horizon \(4\)"):
        replace(spec, n_action_steps=5)
    with pytest.raises(InputError, match="objective is 'guess'; the objectives are: flow, regression"):
        replace(spec, objective="guess")


@pytest.mark.parametrize("wrong", ["width", "depht"])
def test_a_table_of_other_keys_is_refused(spec, wrong):
    table = asdict(spec) | {"depht": 1} if wrong == "depht" else {k: v for k, v in asdict(spec).items() if k != wrong}
    with pytest.raises(InputError, match=f"the sizes must be action_dim, .*; '{wrong}' is missing or unknown"):
        spec_from_table(PolicySpec, table)


def test_what_is_normalised_has_mean_0_and_deviation_1_and_comes_back():
    values = np.random.default_rng(0).normal([3, -500], [0.1, 90], (400, 2)).astype(np.float32)
    normaliser = fitted(values)
    normal = normaliser.normalise(values)
    assert normal.mean(axis=0) == pytest.approx([0, 0], abs=1e-4)
    assert normal.std(axis=0) == pytest.approx([1, 1], abs=1e-4)
    assert normaliser.denormalise(normal) == pytest.approx(values, rel=1e-5)


def test_a_number_that_never_varied_is_only_shifted():
    assert fitted(np.full((9, 1), 0.2, np.float32)).scale == 1.0


@pytest.mark.parametrize("shape", [(0, 3), (5, 0), (5, 2, 0)])
def test_nothing_at_all_is_left_as_it_is(shape):
    normaliser = fitted(np.zeros(shape, np.float32))
    assert (normaliser.mean == 0).all()
    assert (normaliser.scale == np.ones(shape[-1])).all()


def test_numpy_and_torch_give_the_same_numbers(toward_field, spec, ask, noise):
    network = VelocityNetwork(spec)
    network.load_state_dict({name: torch.from_numpy(value) for name, value in toward_field.weights.items()})
    for time in (0.0, 0.37, 0.9):
        for asked, told in ((ask((0.3, -0.2), (0.5, 0.9)), 1.0), (ask((0.3, -0.2)), 0.0)):
            seen = toward_field.observations.normalise(asked.observations).ravel()
            wanted = toward_field.goals.normalise(asked.goal) if told else np.zeros(2, np.float32)
            known = torch.from_numpy(np.concatenate([seen, wanted, [told]]).astype(np.float32))
            with torch.no_grad():
                guess = network(torch.from_numpy(noise(3).reshape(3, -1)), torch.full((3,), time), known.expand(3, -1))
            expected = (guess.numpy().reshape(3, 4, 2) - noise(3)) / (1 - time)
            assert toward_field.velocity(noise(3), time, asked) == pytest.approx(expected, abs=1e-4)


def test_an_observation_from_far_away_gives_a_finite_chunk(toward_field, ask):
    assert np.isfinite(FlowSampler(toward_field).sample(ask((1e6, -1e6), (0, 0)), zeros())).all()


@pytest.mark.parametrize("objective", ["flow", "regression"])
def test_what_follows_from_what_is_seen_and_wanted_is_learned(toward, train, toward_field, ask, objective):
    field = toward_field if objective == "flow" else train(toward, objective)
    sampler = FlowSampler(field, steps=3 if objective == "flow" else 1)
    for here, goal in (((0.5, 0.5), (-0.5, 0.1)), ((-0.2, 0.4), (0.8, 0.8)), ((0, 0), (0, -0.7))):
        expected = np.array(here) + WAY * (np.array(goal) - here)
        assert sampler.sample(ask(here, goal), zeros())[0] == pytest.approx(expected, abs=0.12)


def test_of_two_right_ways_a_flow_takes_one_and_regression_the_middle(either_way, train, either_way_field, ask, noise):
    flowed = FlowSampler(either_way_field, steps=8).sample(ask(goal=(0, 0)), noise(40))
    averaged = FlowSampler(train(either_way, "regression"), steps=1).sample(ask(goal=(0, 0)), zeros())
    assert (abs(abs(flowed.mean(axis=(1, 2))) - 1) < 0.3).mean() > 0.9
    assert 8 < (flowed.mean(axis=(1, 2)) > 0).sum() < 32
    assert abs(averaged).max() < 0.25


def test_the_same_noise_gives_the_same_chunk(either_way_field, ask, noise):
    sampler = FlowSampler(either_way_field)
    for start in (zeros(2), noise(2)):
        assert (sampler.sample(ask(), start) == sampler.sample(ask(), start)).all()
    assert (sampler.sample(ask(), zeros(2))[0] == sampler.sample(ask(), zeros(2))[1]).all()


def test_each_chunk_flows_by_itself(toward_field, ask, noise):
    sampler, asked = FlowSampler(toward_field), ask((0.1, 0.2), (0.3, 0.4))
    together = sampler.sample(asked, noise(3))
    alone = [sampler.sample(asked, noise(3)[k : k + 1])[0] for k in range(3)]
    assert together == pytest.approx(np.array(alone), abs=1e-5)
    assert sampler.spec == toward_field.spec


@pytest.mark.parametrize("steps", [0, -3, 101])
def test_a_flow_of_no_steps_or_too_many_is_refused(toward_field, steps):
    with pytest.raises(InputError, match=f"a flow is integrated in 1 to 100 steps, not {steps}"):
        FlowSampler(toward_field, steps)


def test_the_weight_of_the_goal(toward_field, ask, noise):
    asked = ask((0.2, 0.2), (-0.9, 0.9))

    def velocity(weight, conditioning=asked):
        return ClassifierFree(toward_field, weight).velocity(noise(2), 0.3, conditioning)

    assert (velocity(0.0) == toward_field.velocity(noise(2), 0.3, Conditioning(asked.observations))).all()
    assert velocity(1.0) == pytest.approx(toward_field.velocity(noise(2), 0.3, asked), abs=1e-6)
    assert velocity(2.0) - velocity(1.0) == pytest.approx(velocity(1.0) - velocity(0.0), abs=1e-5)
    assert (velocity(3.0, ask()) == toward_field.velocity(noise(2), 0.3, ask())).all()
    assert ClassifierFree(toward_field, 1.0).spec == toward_field.spec
    assert ClassifierFree(toward_field, 1.0).actions == toward_field.actions


def test_more_weight_goes_further_toward_the_goal(toward_field, ask):
    ends = [
        FlowSampler(ClassifierFree(toward_field, weight)).sample(ask(goal=(0.5, 0.5)), zeros())[0, -1].mean()
        for weight in (0.0, 1.0, 1.5)
    ]
    assert ends == sorted(ends)
    assert ends == pytest.approx([0.0, 0.5, 0.75], abs=0.12)


def test_weights_that_do_not_fit_are_refused(toward_field, spec):
    def refused(weights, match):
        with pytest.raises(InputError, match=match):
            check_tensors(weights, weight_shapes(spec))

    good = dict(toward_field.weights)
    check_tensors(good, weight_shapes(spec))
    refused(
        {name: good[name] for name in good if name != "leave.bias"}, r"the weights lack 'leave.bias', of shape \(8,\)"
    )
    refused(good | {"leave.bias": np.zeros(9)}, r"'leave.bias' has the shape \(9,\), but the sizes ask for \(8,\)")
    refused(good | {"leave.bias": np.full(8, np.nan)}, "'leave.bias' holds numbers that are not finite")


def test_a_policy_without_a_goal_needs_none():
    spec = PolicySpec(observation_dim=3, goal_dim=0, action_dim=1, width=8, depth=1)
    plain = {n: Normaliser(np.zeros(n, np.float32), np.ones(n, np.float32)) for n in (3, 0, 1)}
    weights = {name: np.ones(shape, np.float32) for name, shape in weight_shapes(spec).items()}
    field = NetworkField(spec, weights, plain[3], plain[0], plain[1])
    start = np.zeros((1, 16, 1), np.float32)
    assert FlowSampler(field).sample(Conditioning(np.zeros((2, 3), np.float32)), start).shape == (1, 16, 1)

"""A new skill in a few weights beside a policy that stays: trained, merged, mixed, kept."""

from dataclasses import replace

import numpy as np
import pytest
from policy_methods.adapters import (
    Adapter,
    MixedByContext,
    adapter_size,
    fingerprint,
    largest_rank,
    load_adapter,
    merged,
    save_adapter,
    train_adapter,
)
from safetensors.numpy import load_file, save_file

from llm_planner.errors import InputError
from llm_planner.skills.learned.samplers import FlowSampler
from llm_planner.skills.learned.velocity_field import PolicySpec
from llm_planner.skills.learned.weights_file import load_policy, save_policy

START = np.zeros((1, 4, 2), np.float32)
RANK = 4


@pytest.fixture(scope="module")
def away(toward_field, toward, settings):
    """An adapter that goes the opposite way."""
    return train_adapter(
        toward_field, replace(toward, chunks=-toward.chunks), 0, replace(settings, steps=200), rank=RANK
    )


def end(field, ask, goal):
    return FlowSampler(field).sample(ask(goal=goal), START)[0, -1]


def test_it_learns_something_new_and_leaves_the_policy_as_it_was(toward_field, away, ask):
    before = {name: value.copy() for name, value in toward_field.weights.items()}
    assert end(merged(toward_field, [away]), ask, (0.5, -0.5)) == pytest.approx([-0.5, 0.5], abs=0.2)
    assert end(toward_field, ask, (0.5, -0.5)) == pytest.approx([0.5, -0.5], abs=0.12)
    assert all((toward_field.weights[name] == before[name]).all() for name in before)


def test_merged_it_has_the_biases_and_the_units_of_the_policy(toward_field, away):
    field = merged(toward_field, [away])
    assert field.normalisers == toward_field.normalisers
    changed = {name for name in field.weights if (field.weights[name] != toward_field.weights[name]).any()}
    assert changed == {name for name in field.weights if name.endswith("weight")}


def test_a_rank_that_fits_keeps_it_within_a_tenth_of_the_policy():
    spec = PolicySpec(20, 3, 5)
    assert largest_rank(spec) == 9
    assert adapter_size(spec, largest_rank(spec)) <= 0.1 < adapter_size(spec, largest_rank(spec) + 1)


def test_its_size_is_what_it_holds(spec, away, toward_field):
    held = sum(value.size for value in away.tensors.values())
    assert held / sum(value.size for value in toward_field.weights.values()) == adapter_size(spec, RANK)


def test_a_policy_too_small_for_an_adapter_is_refused():
    with pytest.raises(InputError, match="a policy of width 4 is too small for an adapter within 10% of it"):
        largest_rank(PolicySpec(2, 0, 1, width=4, depth=1))


def test_an_adapter_of_no_rank_is_refused(toward_field, toward, settings):
    with pytest.raises(InputError, match="the rank of an adapter is 1 or more, not 0"):
        train_adapter(toward_field, toward, 0, settings, rank=0)


def test_shares_lead_from_the_policy_to_the_adapter(toward_field, away, ask):
    none, all_of_it = merged(toward_field, [away], [0.0]), merged(toward_field, [away], [1.0])
    assert (end(none, ask, (0.5, 0)) == end(toward_field, ask, (0.5, 0))).all()
    twice = merged(toward_field, [away, away], [0.5, 0.5])
    assert end(twice, ask, (0.5, 0)) == pytest.approx(end(all_of_it, ask, (0.5, 0)), abs=1e-4)


def test_the_context_decides_between_policy_and_adapter(toward_field, away, ask):
    mixed = MixedByContext(toward_field, [away], lambda asked: [float(asked.goal[0] < 0)])
    assert (end(mixed, ask, (0.5, 0)) == end(toward_field, ask, (0.5, 0))).all()
    assert (end(mixed, ask, (-0.5, 0)) == end(merged(toward_field, [away]), ask, (-0.5, 0))).all()
    assert (mixed.spec, mixed.actions) == (toward_field.spec, toward_field.actions)


@pytest.mark.parametrize("shares", [[], [0.5, 0.5], [np.nan]])
def test_shares_that_are_none_are_refused(toward_field, away, shares):
    with pytest.raises(InputError, match="1 adapters are mixed by as many finite shares, not"):
        merged(toward_field, [away], shares)


def test_an_adapter_of_another_policy_is_refused(either_way_field, away):
    with pytest.raises(InputError, match="belongs to the policy that it was trained on; this one has other weights"):
        merged(either_way_field, [away])


def test_the_same_seed_gives_the_same_adapter_also_after_a_stop(toward_field, toward, settings, tmp_path):
    short = replace(settings, steps=12, checkpoint_every=6)

    class StoppedError(Exception):
        pass

    def stop(step, loss):
        if step == 6:
            raise StoppedError

    with pytest.raises(StoppedError):
        train_adapter(toward_field, toward, 0, short, RANK, tmp_path / "state", stop)
    runs = [train_adapter(toward_field, toward, 0, short, RANK, path).tensors for path in (tmp_path / "state", None)]
    assert all((runs[0][name] == runs[1][name]).all() for name in runs[0])
    assert any(runs[0][name].any() for name in runs[0] if name.endswith("up"))


def test_it_survives_a_file_beside_the_policy(toward_field, away, ask, tmp_path):
    save_policy(tmp_path / "policy.safetensors", toward_field)
    save_adapter(tmp_path / "adapter.safetensors", away)
    base = load_policy(tmp_path / "policy.safetensors")
    assert fingerprint(base) == fingerprint(toward_field)
    again = load_adapter(tmp_path / "adapter.safetensors", base)
    expected = end(merged(toward_field, [away]), ask, (0.3, 0.3))
    assert end(merged(base, [again]), ask, (0.3, 0.3)) == pytest.approx(expected, abs=5e-3)


def test_a_file_of_another_policy_is_refused(toward_field, either_way_field, away, tmp_path):
    save_adapter(tmp_path / "adapter.safetensors", away)
    with pytest.raises(InputError, match=r"adapter\.safetensors: it is no adapter of this policy; train it anew on it"):
        load_adapter(tmp_path / "adapter.safetensors", either_way_field)


def test_a_file_of_something_else_is_refused(toward_field, away, tmp_path):
    path = tmp_path / "adapter.safetensors"
    save_adapter(path, away)
    save_file(load_file(path) | {"enter.side": np.zeros(3)}, path, {"adapter_of": fingerprint(toward_field)})
    with pytest.raises(InputError, match=r"adapter\.safetensors: 'enter\.side' is not a known tensor; "):
        load_adapter(path, toward_field)


@pytest.mark.parametrize("shape", [(4, 3), (5, 48), (0,)])
def test_additions_that_do_not_fit_are_refused(toward_field, away, shape):
    tensors = away.tensors | {"leave.down": np.zeros(shape, np.float32)}
    with pytest.raises(InputError, match=r"additions to 'leave' must be \(rank, 48\) and \(8, rank\), not "):
        Adapter(toward_field, tensors)


def test_additions_that_are_missing_or_no_numbers_are_refused(toward_field, away):
    missing = {name: value for name, value in away.tensors.items() if name != "enter.up"}
    with pytest.raises(InputError, match="additions to 'enter' must be"):
        Adapter(toward_field, missing)
    with pytest.raises(InputError, match="additions to 'leave' hold numbers that are not finite"):
        Adapter(toward_field, away.tensors | {"leave.up": away.tensors["leave.up"] * np.nan})

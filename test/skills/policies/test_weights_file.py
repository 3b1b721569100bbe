"""A policy in a file: it comes back as it was, and a file that is not what it says is refused with the reason."""

import json
from dataclasses import asdict

import numpy as np
import pytest
from safetensors.numpy import load_file, save_file

from llm_planner.errors import InputError
from llm_planner.skills.learned.samplers import FlowSampler
from llm_planner.skills.learned.weights_file import (
    load_policy,
    read_tensors,
    save_policy,
    write_atomically,
    write_tensors,
)


@pytest.fixture
def path(tmp_path, toward_field):
    save_policy(tmp_path / "skill" / "policy.safetensors", toward_field, {"seed": 3})
    return tmp_path / "skill" / "policy.safetensors"


@pytest.fixture
def rewritten(path, spec):
    """The file with other tensors or other metadata, and the error that reading it ends with."""

    def error_of(metadata=None, **tensors):
        content = load_file(path) | tensors
        kept = {name: value for name, value in content.items() if value is not None}
        save_file(kept, path, {"spec": json.dumps(asdict(spec))} if metadata is None else metadata)
        with pytest.raises(InputError) as caught:
            load_policy(path)
        assert str(caught.value).startswith(f"{path}: ")
        return str(caught.value)

    return error_of


def test_it_comes_back_in_half_the_precision(path, toward_field, ask, noise):
    again = load_policy(path)
    assert again.spec == toward_field.spec
    asked = ask((0.2, -0.4), (0.7, 0.1))
    expected = FlowSampler(toward_field).sample(asked, noise(4))
    assert FlowSampler(again).sample(asked, noise(4)) == pytest.approx(expected, abs=5e-3)


def test_nothing_unfinished_stays_beside_it(path):
    write_atomically(path, b"new")
    assert path.read_bytes() == b"new"
    assert list(path.parent.iterdir()) == [path]


def test_a_file_that_is_missing_cut_or_something_else_is_refused(path):
    whole = path.read_bytes()
    for content in (whole[: len(whole) // 2], whole[:4], b"", b"not tensors at all"):
        path.write_bytes(content)
        with pytest.raises(InputError, match=r"policy\.safetensors: cannot be read as safetensors: "):
            load_policy(path)
    path.unlink()
    with pytest.raises(InputError, match=r"policy\.safetensors: cannot be read as safetensors: "):
        load_policy(path)


@pytest.mark.parametrize("metadata", [{}, {"spec": "{"}, {"spec": "{}"}, {"notes": "{}"}, {"spec": "[1, 2]"}])
def test_without_sizes_it_is_refused(rewritten, metadata):
    assert "its metadata has no sizes of a policy under 'spec': " in rewritten(metadata)


def test_tensors_of_another_shape_are_refused(rewritten):
    assert "'leave.bias' has the shape (3,), but the sizes ask for (8,)" in rewritten(**{"leave.bias": np.zeros(3)})


def test_missing_tensors_are_refused(rewritten):
    assert "the weights lack 'enter.bias', of shape (48,)" in rewritten(**{"enter.bias": None})


def test_tensors_that_mean_nothing_are_refused(rewritten):
    assert "'blocks.7.first.bias' is not a known tensor; the known ones are: actions.mean, " in rewritten(
        **{"blocks.7.first.bias": np.zeros(48)}
    )


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_weights_that_are_no_numbers_are_refused(rewritten, value):
    assert "'leave.bias' holds numbers that are not finite" in rewritten(**{"leave.bias": np.full(8, value)})


@pytest.mark.parametrize("value", [None, np.full(2, np.nan), np.zeros(3)])
def test_units_that_are_missing_or_no_numbers_are_refused(rewritten, value):
    assert "'goals.mean'" in rewritten(**{"goals.mean": value})


def test_units_without_size_are_refused(rewritten):
    assert "actions.scale must be above 0 throughout" in rewritten(**{"actions.scale": np.zeros(2)})


def test_the_same_content_makes_the_same_bytes(tmp_path):
    tensors, metadata = {"a": np.ones(3, np.float32)}, dict.fromkeys("abcdefgh", "1")
    for name in ("one", "other"):
        write_tensors(tmp_path / name, tensors, metadata)
    assert (tmp_path / "one").read_bytes() == (tmp_path / "other").read_bytes()
    found, said = read_tensors(tmp_path / "one")
    assert (found["a"].tolist(), said) == ([1.0, 1.0, 1.0], metadata)

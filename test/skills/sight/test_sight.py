"""What the network gives, what is read off it, and the file that it is kept in."""

import json
import math
from dataclasses import asdict

import numpy as np
import pytest
import torch

from llm_planner.errors import InputError
from llm_planner.learning.sight_training import SightModule
from llm_planner.robots.arm_model import arm_model
from llm_planner.robots.gripper import DEFAULT_HAND
from llm_planner.skills.learned.velocity_field import spec_from_table
from llm_planner.skills.learned.weights_file import read_tensors, write_tensors
from llm_planner.skills.sight_network import (
    BINS,
    COLUMNS,
    NUMBERS,
    ROWS,
    SightNetwork,
    SightSpec,
    inputs_of,
)
from llm_planner.skills.sight_picking import glimpse, load_sight, save_sight

PANDA = arm_model("panda")

PICTURE = np.zeros((48, 64, 3), np.uint8)


def drawn_table(seed: int) -> np.ndarray:
    return np.random.default_rng(seed).integers(0, 256, (ROWS, COLUMNS, 3), np.uint8)


def test_it_is_one_choice_among_all_places_and_nowhere(small):
    likely = small(0).likely(drawn_table(0), "bowl", "red")
    assert float(likely.places.sum()) + likely.nowhere == pytest.approx(1.0, abs=1e-4)
    assert likely.numbers.shape == (len(NUMBERS), *likely.places.shape[1:])


def test_the_words_choose(small):
    network, table = small(0), drawn_table(0)
    chances = [network.likely(table, kind, color).places for kind in ("block", "bowl") for color in ("red", "blue")]
    assert all(np.abs(a - b).max() > 1e-6 for i, a in enumerate(chances) for b in chances[:i])


def test_numpy_gives_what_torch_gives(small):
    network, table = small(1), drawn_table(1)
    module = SightModule(network.spec)
    module.load_state_dict({name: torch.from_numpy(value) for name, value in network.weights.items()})
    with torch.no_grad():
        out = module(torch.from_numpy(inputs_of(table)).permute(2, 0, 1)[None])[0].permute(1, 2, 0).numpy()
    kind, color = network.spec.words("bowl", "blue")
    logits = out[..., BINS * kind : BINS * (kind + 1)] + out[..., [2 * BINS + color]]
    nothing = network.weights["nothing"]
    logits = np.append(logits.transpose(2, 0, 1).ravel(), nothing[kind] + nothing[2 + color])
    chances = np.exp(logits - logits.max())
    likely = network.likely(table, "bowl", "blue")
    # Torch reckons in half precision there.
    np.testing.assert_allclose(likely.places.ravel(), (chances / chances.sum())[:-1], rtol=0.15)


def test_a_glimpse_is_an_aim(told):
    sight = told([(0.43, -0.123, 0.02, 0.038, 0.068)], nowhere=0.25)
    seen = glimpse(sight, PICTURE, "block", "red", PANDA.shape)
    assert (seen.aim.grip.x, seen.aim.grip.y, seen.aim.grip.z) == pytest.approx((0.43, -0.123, 0.02), abs=1e-6)
    assert seen.aim.grip.yaw % math.pi == pytest.approx(math.pi / 2)
    assert seen.aim.numbers == pytest.approx({"opening": 0.068, "width": 0.038})
    assert seen.sure == pytest.approx(0.75)


def test_an_aim_is_one_that_the_hand_can_take(told):
    seen = glimpse(told([(0.2, -0.05, -0.01, -0.02, 0.2)]), PICTURE, "block", "red", PANDA.shape)
    assert math.hypot(seen.aim.grip.x, seen.aim.grip.y) >= 0.275
    assert seen.aim.grip.z > DEFAULT_HAND.tip
    assert 0.0 < seen.aim.numbers["width"] <= seen.aim.numbers["opening"] <= DEFAULT_HAND.widest


def test_a_direction_between_two_bins_is_between_them(told):
    sight = told([(0.43, -0.123, 0.02, 0.038, 0.068)])
    likely = sight.likely(PICTURE, "block", "red")
    row, column = (int(i[0]) for i in np.nonzero(likely.places.any(axis=0)))
    likely.places[BINS // 2 : BINS // 2 + 2, row, column] = 0.6, 0.4
    sight.likely = lambda *asked: likely
    yaw = glimpse(sight, PICTURE, "block", "red", PANDA.shape).aim.grip.yaw
    assert yaw % math.pi == pytest.approx((BINS // 2 + 0.4) * math.pi / BINS)


def test_it_is_kept_in_a_file(small, tmp_path):
    network, table = small(2), drawn_table(2)
    save_sight(tmp_path / "policy.safetensors", network, {"seed": 2})
    read = load_sight(tmp_path / "policy.safetensors")
    assert read.spec == network.spec
    kept, given = (one.likely(table, "block", "red") for one in (read, network))
    np.testing.assert_allclose(kept.places, given.places, rtol=0.05)


def test_words_that_were_not_learned_are_told(small):
    with pytest.raises(InputError, match=r"sight has not learned the kind 'sponge'; it knows: block, bowl$"):
        small(0).likely(drawn_table(0), "sponge", "red")
    with pytest.raises(InputError, match=r"sight has not learned the colour 'pink'; it knows: none, red, blue$"):
        small(0).likely(drawn_table(0), "block", "pink")


def test_weights_that_do_not_fit_are_refused(small, tmp_path):
    network, path = small(0), tmp_path / "policy.safetensors"
    with pytest.raises(InputError, match=r"first\.bias"):
        SightNetwork(network.spec, network.weights | {"first.bias": np.full(3, np.nan, np.float32)})
    save_sight(path, network, {})
    tensors, metadata = read_tensors(path)
    write_tensors(path, tensors | {"stray": np.zeros(1, np.float32)}, metadata)
    with pytest.raises(InputError, match=r"not the weights of a sight network: 'stray' is not a known tensor"):
        load_sight(path)
    write_tensors(path, tensors, {})
    with pytest.raises(InputError, match=r"not the weights of a sight network: 'sight'"):
        load_sight(path)


def test_sizes_that_are_none_are_refused():
    with pytest.raises(InputError, match="a network that sees needs words, a width and layers, not"):
        SightSpec((), ("red",))
    table = asdict(SightSpec(("block",), ("",)))
    assert spec_from_table(SightSpec, json.loads(json.dumps(table))) == SightSpec(("block",), ("",))
    with pytest.raises(InputError, match=r"the sizes must be .*; 'depth' is missing or unknown"):
        spec_from_table(SightSpec, table | {"depth": 3})

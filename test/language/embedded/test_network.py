"""Whatever its weights are, the network writes results that the grammar allows, of words that were said."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from safetensors.numpy import save_file

from llm_planner.errors import LanguageModelError
from llm_planner.language.embedded.command_forms import COMMANDS
from llm_planner.language.embedded.forms import WORD, Derivation, terms_of
from llm_planner.language.embedded.network import (
    BETWEEN,
    FIRST,
    UNKNOWN,
    Hypothesis,
    Network,
    WordPieces,
    erf,
    load_network,
    source_of,
)
from llm_planner.language.embedded.reader import plain
from training.results import check_result, quantised

SAID = "put the red blocks in the bowl, 5 cm"
Drawn = Callable[[int], Network]
PIECES = WordPieces.of((UNKNOWN, FIRST, BETWEEN, "put", "block", "##s"))


def read(network: Network, said: str = SAID, beam: int = 4) -> list[Hypothesis]:
    return network.read(source_of(network.pieces, "command; table", said), COMMANDS, beam)


@pytest.mark.parametrize("seed", range(4))
def test_what_it_writes_is_a_result(drawn_network: Drawn, seed: int) -> None:
    for found in read(drawn_network(seed)):
        state = Derivation(COMMANDS, len(WORD.findall(SAID)))
        for symbol in found.symbols:
            state = state.allowed()[symbol]
        check_result(terms_of(found.symbols, SAID), COMMANDS)


def test_the_most_probable_comes_first(drawn_network: Drawn) -> None:
    found = [sum(one.log_probabilities) for one in read(drawn_network(0))]
    assert found == sorted(found, reverse=True)
    assert all(value <= 0.0 for value in found)


def test_the_same_words_are_read_the_same(drawn_network: Drawn) -> None:
    assert read(drawn_network(1)) == read(drawn_network(1))


def test_a_beam_of_one_gives_one_result_at_most(drawn_network: Drawn) -> None:
    assert len(read(drawn_network(2), beam=1)) <= 1


def test_each_word_is_shown_by_its_first_and_its_last_piece() -> None:
    source = source_of(PIECES, "rule; table", "put blocks")
    assert source.firsts == (len(source.pieces) - 4, len(source.pieces) - 3)
    assert source.lasts == (len(source.pieces) - 4, len(source.pieces) - 2)
    assert source.segments.count(1) == 4


@settings(max_examples=300, deadline=None)
@given(st.text(min_size=1, max_size=30))
@example("put \u0301 down")
@example("❤ \ufe0f")
def test_whatever_is_said_can_be_shown_to_the_network(text: str) -> None:
    said = plain(text)
    assume(WORD.search(said))
    source = source_of(PIECES, "command; table", said)
    assert len(source.firsts) == len(source.lasts) == len(WORD.findall(said))
    assert all(first <= last < len(source.pieces) for first, last in zip(source.firsts, source.lasts, strict=True))


def test_a_matrix_of_bytes_is_off_by_half_a_step_at_most() -> None:
    matrix = np.random.default_rng(0).normal(size=(20, 8)).astype(np.float32)
    found = quantised("m", matrix)
    scale = found["m.scale"].astype(np.float32)[:, None]
    assert np.abs(found["m"].astype(np.float32) * scale - matrix).max() <= scale.max() * 0.501
    assert found["m"].dtype == np.int8


def test_what_was_saved_reads_as_before(
    drawn_network: Drawn, drawn_weights: Callable[[int], dict[str, NDArray[np.generic]]], tmp_path: Path
) -> None:
    network = drawn_network(3)
    save_file(drawn_weights(3), tmp_path / "network.safetensors")
    (tmp_path / "symbols.json").write_text(json.dumps(network._symbols))
    (tmp_path / "pieces.txt").write_text("\n".join(network.pieces.numbers))
    assert read(load_network(tmp_path)) == read(network)


def test_a_folder_without_weights_is_told_with_what_to_do(tmp_path: Path) -> None:
    with pytest.raises(LanguageModelError, match=r"the embedded language model is incomplete: .*; install llm_planner"):
        load_network(tmp_path)


def test_the_error_function_is_that_of_the_library():
    x = np.concatenate([np.linspace(-6.0, 6.0, 20001), [-1e30, -np.inf, np.inf]]).astype(np.float32)
    expected = [math.erf(value) for value in x.tolist()]
    assert erf(x).dtype == np.float32
    assert np.abs(erf(x) - expected).max() < 5e-7

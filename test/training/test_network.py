"""What is trained is what is served: torch and numpy give a result the same probability."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import torch
from safetensors.numpy import load_file
from safetensors.torch import save_file

from llm_planner.language.correction_requests import REQUESTS
from llm_planner.language.embedded.forms import Derivation, Symbol, result_text
from llm_planner.language.embedded.network import Source, WordPieces, dequantised, load_network
from llm_planner.language.embedded.reader import WEIGHTS, EmbeddedReader, Task
from training.generate import FORMS, Sample
from training.network import Network
from training.results import vocabulary
from training.train import Batches, export, take_shipped

WORDS = "no, the blue one, 2.5 cm to the left of the mug"


def test_torch_and_numpy_give_a_result_the_same_probability(tmp_path: Path) -> None:
    torch.manual_seed(0)
    symbols = vocabulary(list(FORMS.values()))
    pieces = (WEIGHTS / "pieces.txt").read_text(encoding="utf-8").split("\n")
    network = Network(len(symbols)).eval()
    save_file(network.state_dict(), tmp_path / "network.safetensors")
    (tmp_path / "symbols.json").write_text("[" + ", ".join(f'"{symbol}"' for symbol in symbols) + "]")
    export(tmp_path, tmp_path / "shipped", pieces)
    reader = EmbeddedReader(load_network(tmp_path / "shipped"), {Task.CORRECTION: REQUESTS})
    sample = Sample("correction", ("blue block",), (), "mug", "", WORDS, "nothing")
    batches = Batches(WordPieces.of(pieces), symbols)
    for found in reader.network.read(batches.row(sample)[0], REQUESTS):
        source = batches.row(sample)[0]
        inputs, labels = batches.tensors([(source, list(found.symbols))])
        with torch.no_grad():
            scores = network(inputs)[0]
        state, expected = Derivation(REQUESTS, len(source.firsts)), []
        for row, label, symbol in zip(scores, labels[0], found.symbols, strict=True):
            allowed = state.allowed()
            among = [_label(batches, source, one) for one in allowed]
            expected.append(float(row[label] - row[among].logsumexp(0)))
            state = allowed[symbol]
        assert found.log_probabilities == pytest.approx(expected, abs=0.05)
    assert all(result_text(one.terms) for one in reader.read(Task.CORRECTION, sample.situation, WORDS))


def _label(batches: Batches, source: Source, symbol: Symbol) -> int:
    return int(batches.tensors([(source, [symbol])])[1][0, 0])


def test_what_ships_can_be_trained_further_with_more_symbols() -> None:
    shipped = json.loads((WEIGHTS / "symbols.json").read_text(encoding="utf-8"))
    symbols = tuple(sorted([*shipped, "a_new_one("]))
    network = Network(len(symbols))
    take_shipped(network, WEIGHTS, symbols)
    weights = dequantised(load_file(WEIGHTS / "network.safetensors"))
    ours = network.state_dict()["out.weight"]
    assert torch.equal(ours[symbols.index("never(")], torch.from_numpy(weights["out.weight"][shipped.index("never(")]))
    assert torch.equal(network.state_dict()["symbols.weight"][-3:], torch.from_numpy(weights["symbols.weight"][-3:]))

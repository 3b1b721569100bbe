"""The network: numpy inference equals torch, training learns, and what was saved can be loaded."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
import torch

from llm_planner.errors import LanguageModelError
from llm_planner.language.compact.encoding import Sample
from llm_planner.language.compact.generator.examples import draw_sample
from llm_planner.language.compact.grammar import START
from llm_planner.language.compact.inference import NumpyNetwork, load_weights
from llm_planner.language.compact.lessons import program_lesson
from llm_planner.language.compact.network import Network, NetworkSize
from llm_planner.language.compact.program_grammar import PROGRAM
from llm_planner.language.compact.search import search
from llm_planner.language.compact.training import (
    ExampleStream,
    TrainingSettings,
    collate,
    learning_rate,
    log_probabilities,
    train,
)

SIZE = {"heads": 4, "encoder_layers": 3, "decoder_layers": 3}


def both(seed: int = 0) -> tuple[Network, NumpyNetwork]:
    torch.manual_seed(seed)
    network = Network(PROGRAM).eval()
    return network, NumpyNetwork({name: value.numpy() for name, value in network.state_dict().items()}, SIZE)


def test_numpy_search_gives_its_readings_the_probability_that_torch_gives_them() -> None:
    network, numpy_network = both()
    item = draw_sample(np.random.default_rng(5)).item
    readings = search(numpy_network, item, beam=3)
    assert readings
    for reading in readings:
        with torch.no_grad():
            expected = log_probabilities(network, collate([Sample(item, reading.steps)])).sum().exp().item()
        assert reading.probability == pytest.approx(expected, rel=1e-3)


def test_readings_are_complete_distinct_and_sorted() -> None:
    _, numpy_network = both(1)
    readings = search(numpy_network, draw_sample(np.random.default_rng(8)).item, beam=5)
    for reading in readings:
        stack = START
        for step in reading.steps:
            stack = PROGRAM.advance(stack, step)
        assert stack == ()
    assert len({reading.steps for reading in readings}) == len(readings)
    assert [r.probability for r in readings] == sorted((r.probability for r in readings), reverse=True)


def test_padding_does_not_change_an_examples_probability() -> None:
    network, _ = both()
    samples = [draw_sample(np.random.default_rng(seed)) for seed in range(6)]
    with torch.no_grad():
        together = log_probabilities(network, collate(samples)).sum(-1)
        alone = torch.stack([log_probabilities(network, collate([sample])).sum() for sample in samples])
    assert torch.allclose(together, alone, atol=1e-3)


def test_a_few_steps_of_training_lower_the_loss_and_write_weights_that_load(tmp_path: Path) -> None:
    settings = TrainingSettings(steps=20, batch=16, warmup=2, seed=3)
    batch = next(iter(ExampleStream(settings, draw_sample)))
    torch.manual_seed(settings.seed)
    before = -log_probabilities(Network(PROGRAM).eval(), batch).sum(-1).mean().item()
    train(program_lesson(), settings, tmp_path)
    weights, size = load_weights(tmp_path)
    trained = Network(PROGRAM, NetworkSize(**size)).eval()
    trained.load_state_dict({name: torch.from_numpy(value) for name, value in weights.items()})
    assert -log_probabilities(trained, batch).sum(-1).mean().item() < before - 1.0
    assert json.loads((tmp_path / "report.json").read_text())["step"] == 20


def test_the_same_seed_gives_the_same_data() -> None:
    first, second = (next(iter(ExampleStream(TrainingSettings(batch=8, seed=4), draw_sample))) for _ in range(2))
    assert torch.equal(first.target, second.target)
    assert torch.equal(first.grams, second.grams)


def test_the_learning_rate_rises_then_falls_to_nothing() -> None:
    settings = TrainingSettings(steps=100, warmup=10)
    rates = [learning_rate(step, settings) for step in range(100)]
    assert rates[9] == max(rates)
    assert rates[-1] < 0.01 * rates[9]


def test_missing_weights_are_an_error_that_says_how_to_get_them(tmp_path: Path) -> None:
    with pytest.raises(LanguageModelError, match=r"weights cannot be read.*train-language"):
        load_weights(tmp_path)

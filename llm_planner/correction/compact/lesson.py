"""What the network of corrections learns, how large it is, and how far it can be trusted once it has."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np

from llm_planner.correction.compact.conformal import calibrated
from llm_planner.correction.compact.generator.examples import Example, draw_example, draw_sample
from llm_planner.correction.compact.grammar import REQUESTS
from llm_planner.correction.compact.meaning import requests_of
from llm_planner.correction.compact_reader import WEIGHTS, CompactReader
from llm_planner.language.compact.inference import NumpyNetwork, load_weights
from llm_planner.language.compact.network import NetworkSize
from llm_planner.language.compact.training import Lesson

SIZE = NetworkSize(width=128, heads=4, hidden=384, encoder_layers=3, decoder_layers=1)
CALIBRATION = 2000  # examples that training never saw, every other of a wording that it never shows
TEST = 1000  # examples of either sort, to report what the calibration is worth
_SEED = 7


def correction_lesson() -> Lesson:
    """Corrections and the requests that they make; at its end the reader is calibrated, and its report written."""
    return Lesson(REQUESTS, SIZE, draw_sample, WEIGHTS, finish)


def finish(folder: Path) -> None:
    """Adds to the report of the weights: the calibration, and how well it reads wordings that are new to it."""
    raw = CompactReader(NumpyNetwork(*load_weights(folder)))
    rng = np.random.default_rng([_SEED, 1])
    calibration = calibrated([_scored(raw, draw_example(rng, kept=index % 2 == 0)) for index in range(CALIBRATION)])
    reader = CompactReader(raw.network, calibration)
    path = folder / "report.json"
    facts = json.loads(path.read_text(encoding="utf-8"))
    facts["calibration"] = calibration.as_json()
    facts["new wordings"] = measured(reader, [draw_example(rng, kept=True) for _ in range(TEST)])
    facts["usual wordings"] = measured(reader, [draw_example(rng) for _ in range(TEST)])
    path.write_text(json.dumps(facts, indent=1) + "\n", encoding="utf-8")


def _scored(reader: CompactReader, example: Example) -> tuple[tuple[float, ...], int]:
    """The log-probabilities of its readings, and which of them is right, -1 for none."""
    right = requests_of(example.steps, example.words)
    found = reader.derived(example.words)
    place = next((index for index, (requests, _) in enumerate(found) if requests == right), -1)
    return tuple(log_probability for _, log_probability in found), place


def measured(reader: CompactReader, examples: list[Example]) -> dict[str, float]:
    """Shares of examples: read exactly, with the right intents, right within the prediction set, sure, and sure but
    wrong; and how many readings a set holds."""
    exact, intents, covered, sizes, sure, wrong = 0, 0, 0, 0, 0, 0
    for example in examples:
        right = requests_of(example.steps, example.words)
        found = reader.read_heard(example.words)
        best = found.readings[0].requests
        exact += best == right
        intents += [request.intent for request in best] == [request.intent for request in right]
        covered += any(reading.requests == right for reading in found.conformal)
        sizes += len(found.conformal)
        sure += found.is_sure
        wrong += found.is_sure and found.conformal[0].requests != right
    counts = {
        "exact": exact,
        "intents": intents,
        "covered": covered,
        "set size": sizes,
        "sure": sure,
        "sure, wrong": wrong,
    }
    return {name: round(count / len(examples), 4) for name, count in counts.items()}

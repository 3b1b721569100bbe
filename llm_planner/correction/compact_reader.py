"""Reads corrections with a small network, offline, in milliseconds: what the rules have no reading of."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path

import numpy as np

from llm_planner.correction.compact.conformal import Calibration, calibration_from_json
from llm_planner.correction.compact.doubts import doubt
from llm_planner.correction.compact.grammar import REQUESTS
from llm_planner.correction.compact.hearing import MOST_WORDS, Heard, Names, heard
from llm_planner.correction.compact.meaning import requests_of
from llm_planner.correction.requests import Request
from llm_planner.errors import LanguageModelError
from llm_planner.language.compact.encoding import encode
from llm_planner.language.compact.inference import NumpyNetwork, load_weights
from llm_planner.language.compact.search import search

WEIGHTS = Path(__file__).parent / "compact" / "weights"
COVERAGE = 0.9
SURE = 0.5  # probability above which what is alone in the prediction set is done
BEAM = 5  # readings that are weighed against each other


@dataclass(frozen=True)
class Reading:
    """Requests in the order in which they were said, and how probable it is that these are meant."""

    requests: tuple[Request, ...]
    probability: float


@dataclass(frozen=True)
class Readings:
    """The `readings` of an utterance, the most probable first; from `least` on they are in the set."""

    readings: tuple[Reading, ...] = ()
    least: float = 1.0

    @property
    def conformal(self) -> tuple[Reading, ...]:
        """The prediction set."""
        return tuple(reading for reading in self.readings if reading.probability >= self.least)

    @property
    def is_sure(self) -> bool:
        """Whether exactly one reading is left, and more probable than not; otherwise the person is to be asked."""
        return len(self.conformal) == 1 and self.conformal[0].probability > SURE


@dataclass(frozen=True)
class CompactReader:
    """A network over the words of a correction; `coverage` is the share of prediction sets that shall hold what is
    meant."""

    network: NumpyNetwork
    calibration: Calibration = field(default_factory=Calibration)
    coverage: float = COVERAGE

    def read(self, words: str, names: Names) -> Readings:
        """What the words may ask for; `names` are those of the scene. No readings: there are no words, or too many."""
        said = heard(words, names)
        return self.read_heard(said) if 0 < len(said) <= MOST_WORDS else Readings()

    def read_heard(self, said: tuple[Heard, ...]) -> Readings:
        """The same for words with their classes, at least one."""
        found = self.derived(said)
        shares = self.calibration.probabilities([log_probability for _, log_probability in found])
        readings = tuple(Reading(requests, float(share)) for (requests, _), share in zip(found, shares, strict=True))
        return Readings(readings, self.calibration.least_for(self.coverage))

    def derived(self, said: tuple[Heard, ...]) -> list[tuple[tuple[Request, ...], float]]:
        """Requests and their log-probability before it is calibrated, the most probable first: derivations that come
        to the same requests count together, and what the words speak against counts less."""
        together: dict[tuple[Request, ...], float] = {}
        for derivation in search(self.network, encode(said, (), REQUESTS), BEAM):
            requests = requests_of(derivation.steps, said)
            together[requests] = together.get(requests, 0.0) + derivation.probability * doubt(requests, said)
        ranked = sorted(together.items(), key=lambda pair: -pair[1])
        return [(requests, float(np.log(max(1e-300, probability)))) for requests, probability in ranked]


@lru_cache(maxsize=2)
def load_compact_reader(weights: Path = WEIGHTS) -> CompactReader:
    """The reader with the weights of a folder, those that ship; raises LanguageModelError when they are missing."""
    network = NumpyNetwork(*load_weights(weights))
    try:
        report = json.loads((weights / "report.json").read_text(encoding="utf-8"))
        return CompactReader(network, calibration_from_json(report["calibration"]))
    except (OSError, KeyError, ValueError) as error:
        raise LanguageModelError(
            f"the calibration of the network of corrections cannot be read from {weights} ({error!r}); reinstall the "
            "package or run `llm-planner train-language --network corrections`"
        ) from error

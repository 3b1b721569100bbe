"""How far a reading can be trusted: probabilities by temperature, and prediction sets that hold the right one mostly.

Split conformal prediction (Angelopoulos and Bates, arXiv:2107.07511) on examples that training never saw, as KnowNo
does for a robot that asks for help (arXiv:2307.01928): where the set does not hold exactly one reading, it asks. The
promise holds for what is said as the calibration examples are; it is not one about everything that people say.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from llm_planner.errors import InputError

COVERAGES = (0.9, 0.95, 0.99)  # shares of sets that shall hold the right reading
_TEMPERATURES = np.geomspace(0.5, 4.0, 43)

Scored = tuple[tuple[float, ...], int]  # log-probabilities of the readings of an example; the right one's place, or -1


@dataclass(frozen=True)
class Calibration:
    """`temperature` that probabilities are softened by; `least` is, by coverage, the probability from which on a
    reading is in the prediction set."""

    temperature: float = 1.0
    least: Mapping[float, float] = field(default_factory=lambda: dict.fromkeys(COVERAGES, 0.5))

    def probabilities(self, log_probabilities: Sequence[float]) -> NDArray[np.float64]:
        """Calibrated ones; what was not among the readings keeps its share."""
        logs = np.array(log_probabilities) / self.temperature
        left = max(0.0, 1.0 - float(np.exp(log_probabilities).sum()))
        scores = np.exp(logs)
        shares: NDArray[np.float64] = scores / (scores.sum() + left ** (1.0 / self.temperature))
        return shares

    def least_for(self, coverage: float) -> float:
        """The least probability of what is in a set; raises InputError for a coverage that was not calibrated."""
        if coverage not in self.least:
            known = ", ".join(f"{one:g}" for one in self.least)
            raise InputError(
                f"prediction sets are calibrated for a coverage of {known}, not {coverage:g}; take one of these"
            )
        return self.least[coverage]

    def as_json(self) -> dict[str, Any]:
        return {
            "temperature": self.temperature,
            "least": {f"{coverage:g}": least for coverage, least in self.least.items()},
        }


def calibration_from_json(values: Mapping[str, Any]) -> Calibration:
    """Inverse of `as_json`."""
    return Calibration(values["temperature"], {float(coverage): least for coverage, least in values["least"].items()})


def calibrated(examples: Sequence[Scored]) -> Calibration:
    """The calibration from examples that training never saw.

    A set is wrong about an example with probability at most 1 - coverage, over examples and calibrations alike: `least`
    is one minus the quantile of the scores 1 - p(right), corrected for their number (arXiv:2107.07511, section 1).
    """
    temperature = min(map(float, _TEMPERATURES), key=lambda one: _surprise(Calibration(one), examples))
    softened = Calibration(temperature)
    scores = np.sort([1.0 - _right(softened, example) for example in examples])
    return Calibration(round(temperature, 4), {coverage: _least(scores, coverage) for coverage in COVERAGES})


def _least(scores: NDArray[np.float64], coverage: float) -> float:
    rank = math.ceil((len(scores) + 1) * coverage)
    return round(1.0 - float(scores[rank - 1]), 6) if rank <= len(scores) else 0.0


def _right(calibration: Calibration, example: Scored) -> float:
    """The probability of the right reading, 0 where it was not found."""
    log_probabilities, place = example
    return float(calibration.probabilities(log_probabilities)[place]) if place >= 0 else 0.0


def _surprise(calibration: Calibration, examples: Sequence[Scored]) -> float:
    """Mean negative log-probability of what is right: least where probabilities are calibrated (arXiv:1706.04599)."""
    return float(np.mean([-math.log(max(1e-6, _right(calibration, example))) for example in examples]))

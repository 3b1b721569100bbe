"""The seam between sound and words."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from llm_planner.correction.speech.vocabulary import Vocabulary

RATE = 16_000  # [Hz] of all that recognisers hear
Samples = NDArray[np.float32]  # (n,) mono, within [-1, 1], at RATE


@dataclass(frozen=True)
class Transcript:
    """What was understood. Only `accepted` words may correct anything; `reason` says why they were not, or what else
    there is to know (that another recogniser took over). `confidence` is within [0, 1]; recognisers differ in what
    they mean by it."""

    words: str
    confidence: float
    accepted: bool
    reason: str = ""


class Recogniser(Protocol):
    """Understands one utterance at a time."""

    @property
    def name(self) -> str:
        """What it is called in settings and in what is said to people."""

    @property
    def is_cheap(self) -> bool:
        """Whether it may be asked at every pause, before it is known that there is nothing more to come."""

    def transcribe(self, samples: Samples, vocabulary: Vocabulary) -> Transcript:
        """The words of one utterance; raises SpeechError where it cannot hear at all (a server that is down)."""

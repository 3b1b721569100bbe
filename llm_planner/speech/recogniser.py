"""Interface of speech recognisers, their vocabulary, prompts and transcripts.

Whisper-style results (arXiv:2212.04356) are segments with probabilities, which `transcript_of` turns into a transcript.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from llm_planner.errors import LlmPlannerError
from llm_planner.text import plain_text


@dataclass(frozen=True)
class Vocabulary:
    """Words that a recogniser may expect besides the phrases of corrections, as they are spoken.

    `answers` belong to the open question ("yes", "no", its options) and are empty without one, so that a "yes" in talk
    is not an answer. `skills` are for recognisers that take a prompt.
    """

    objects: tuple[str, ...] = ()
    kinds: tuple[str, ...] = ()
    colors: tuple[str, ...] = ()
    places: tuple[str, ...] = ()
    answers: tuple[str, ...] = ()
    skills: tuple[str, ...] = ()


class Thing(Protocol):
    """Object in a scene, or an object to add to one."""

    @property
    def name(self) -> str: ...

    @property
    def kind(self) -> str: ...

    @property
    def color(self) -> str: ...


def vocabulary_of(
    things: Iterable[Thing], places: Iterable[str] = (), answers: Iterable[str] = (), skills: Iterable[str] = ()
) -> Vocabulary:
    """Collect the vocabulary of the objects: names, kinds ("the block") and colours ("the red one")."""
    here = tuple(things)
    names = {item.name for item in here}
    return Vocabulary(
        objects=tuple(sorted(names)),
        kinds=tuple(sorted({item.kind for item in here} - names)),
        colors=tuple(sorted({item.color for item in here} - {""})),
        places=tuple(sorted(places)),
        answers=tuple(answers),
        skills=tuple(sorted(skills)),
    )


RATE = 16_000  # [Hz] sampling rate of recogniser input
Samples = NDArray[np.float32]  # (n,) mono, within [-1, 1], at RATE


@dataclass(frozen=True)
class Transcript:
    """Result of a recogniser; only `accepted` words may become a correction.

    `confidence` is within [0, 1], but its meaning differs between recognisers. `reason` says why the words were
    rejected, or another remark, such as the use of a fallback.
    """

    words: str
    confidence: float
    accepted: bool
    reason: str = ""


class Recogniser(Protocol):
    """Speech recogniser of single utterances."""

    @property
    def name(self) -> str:
        """Name in settings and messages."""

    @property
    def is_cheap(self) -> bool:
        """Whether it may run at every pause, before the utterance has ended."""

    def transcribe(self, samples: Samples, vocabulary: Vocabulary) -> Transcript:
        """Recognise one utterance; raise SpeechError if the recogniser is unavailable (such as a server down)."""


class SpeechError(LlmPlannerError):
    """Failure of audio input or recognition, such as a missing package or a server down; says what to do."""


KEYPHRASES = {  # stop words, with detection thresholds; longer phrases cause fewer false alarms
    "stop": 1e-8, "halt": 1e-8, "freeze": 1e-8, "stop it": 1e-12, "stop now": 1e-12, "don't move": 1e-15,
    "stand still": 1e-18, "hold still": 1e-15,
}  # fmt: skip


MOST_CHARACTERS = 600  # whisper uses the last 224 tokens of a prompt


def hint(vocabulary: Vocabulary) -> str:
    """Return a prompt with the names of objects, places and skills."""
    names = [*vocabulary.answers, *vocabulary.objects, *vocabulary.colors, *vocabulary.places]
    skills = [skill.replace("_", " ") for skill in vocabulary.skills]
    said = f"A person corrects a robot: slower, a bit to the left, no, the other one, undo that. {', '.join(names)}."
    return said[:MOST_CHARACTERS] if not skills else f"{said} {', '.join(skills)}."[:MOST_CHARACTERS]


NO_SPEECH = 0.6  # above this probability the words are hallucinated; whisper's own threshold


def transcript_of(segments: Sequence[Any], text: str = "") -> Transcript:
    """Join the segments that contain speech, or use `text` if a server returns no segments.

    The confidence is the mean token probability, or 1 if the segments have none.
    """
    spoken = [part for part in segments if (getattr(part, "no_speech_prob", None) or 0.0) <= NO_SPEECH]
    words = plain_text((" ".join(part.text for part in spoken) if segments else text)[:1000])
    if not words:
        reason = "it does not sound like speech" if segments else "no words were heard"
        return Transcript("", 0.0, False, reason)
    scores = [score for part in spoken if (score := getattr(part, "avg_logprob", None)) is not None]
    return Transcript(words, math.exp(min(0.0, sum(scores) / len(scores))) if scores else 1.0, True)

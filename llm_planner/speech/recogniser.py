"""The seam between sound and words.

The words of the moment: what things and places are called, and what may be answered.

What can keep the robot from hearing.

What a recogniser of all English is told beforehand, so that it writes the names of things as they are written.

What whisper and its kin say of what they heard, segment by segment (arXiv:2212.04356).
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
    """What a recogniser may expect to hear besides the phrases of corrections; all of it as it is said.

    `answers` are those to the question that is open ("yes", "no", the words of its options); while none is open, there
    are none, and a "yes" in talk is no answer. `skills` are what the robot can do, for recognisers that take a hint.
    """

    objects: tuple[str, ...] = ()
    kinds: tuple[str, ...] = ()
    colors: tuple[str, ...] = ()
    places: tuple[str, ...] = ()
    answers: tuple[str, ...] = ()
    skills: tuple[str, ...] = ()


class Thing(Protocol):
    """A thing of a scene, or one that is to be put in it."""

    @property
    def name(self) -> str: ...

    @property
    def kind(self) -> str: ...

    @property
    def color(self) -> str: ...


def vocabulary_of(
    things: Iterable[Thing], places: Iterable[str] = (), answers: Iterable[str] = (), skills: Iterable[str] = ()
) -> Vocabulary:
    """What is said of these things: their names, kinds ("the block") and colors ("the red one")."""
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


class SpeechError(LlmPlannerError):
    """Speech cannot be taken in or recognised: a part is missing, or a server does not answer; says what to do."""


MOST_CHARACTERS = 600  # whisper reads 224 tokens, the last ones


def hint(vocabulary: Vocabulary) -> str:
    """A sentence with the names of things, places and skills."""
    names = [*vocabulary.answers, *vocabulary.objects, *vocabulary.colors, *vocabulary.places]
    skills = [skill.replace("_", " ") for skill in vocabulary.skills]
    said = f"A person corrects a robot: slower, a bit to the left, no, the other one, undo that. {', '.join(names)}."
    return said[:MOST_CHARACTERS] if not skills else f"{said} {', '.join(skills)}."[:MOST_CHARACTERS]


NO_SPEECH = 0.6  # likelier than that, and the words are made up; whisper's own bound


def transcript_of(segments: Sequence[Any], text: str = "") -> Transcript:
    """The words of the segments in which somebody speaks, or the `text` where a server gives no segments.

    The confidence is the mean probability of a token; 1 where nothing is said about it.
    """
    spoken = [part for part in segments if (getattr(part, "no_speech_prob", None) or 0.0) <= NO_SPEECH]
    words = plain_text((" ".join(part.text for part in spoken) if segments else text)[:1000])
    if not words:
        reason = "it does not sound like speech" if segments else "no words were heard"
        return Transcript("", 0.0, False, reason)
    scores = [score for part in spoken if (score := getattr(part, "avg_logprob", None)) is not None]
    return Transcript(words, math.exp(min(0.0, sum(scores) / len(scores))) if scores else 1.0, True)

"""What whisper and its kin say of what they heard, segment by segment (arXiv:2212.04356)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from llm_planner.correction.speech.recogniser import Transcript
from llm_planner.language.plain_text import plain_text

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

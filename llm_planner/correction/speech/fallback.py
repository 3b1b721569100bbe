"""One recogniser after another, where the first cannot hear."""

from __future__ import annotations

from dataclasses import replace

from llm_planner.correction.speech.errors import SpeechError
from llm_planner.correction.speech.recogniser import Recogniser, Samples, Transcript
from llm_planner.correction.speech.vocabulary import Vocabulary


class FallbackRecogniser:
    """Asks `first`; where that fails, `second`, and the transcript's reason says so."""

    is_cheap = False

    def __init__(self, first: Recogniser, second: Recogniser) -> None:
        self._first, self._second = first, second

    @property
    def name(self) -> str:
        return f"{self._first.name}, else {self._second.name}"

    def transcribe(self, samples: Samples, vocabulary: Vocabulary) -> Transcript:
        """The words as the first hears them, or else the second; raises SpeechError only where that fails too."""
        try:
            return self._first.transcribe(samples, vocabulary)
        except SpeechError as error:
            heard = self._second.transcribe(samples, vocabulary)
            reasons = [heard.reason, f"heard by {self._second.name}, because {error}"]
            return replace(heard, reason="; ".join(reason for reason in reasons if reason))

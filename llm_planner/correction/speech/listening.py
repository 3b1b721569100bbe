"""From chunks of sound to what was said: the loop between a microphone and the corrections, without either."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from llm_planner.correction.speech.audio import AudioFormat, AudioReader
from llm_planner.correction.speech.endpointing import Endpointer, Utterance
from llm_planner.correction.speech.recogniser import Recogniser, Transcript
from llm_planner.correction.speech.stop_spotter import StopSpotter
from llm_planner.correction.speech.vocabulary import Vocabulary


@dataclass(frozen=True)
class StopHeard:
    """A stop word, with which an utterance that is still going on began: hold now, and see what follows.

    `time` [s] is the stream's own.
    """

    words: str
    time: float


@dataclass(frozen=True)
class Heard:
    """An utterance and what was made of it."""

    utterance: Utterance
    transcript: Transcript


class Listener:
    """Cuts sound into utterances and spots stop words in them as they are spoken. Never slow: what it gives may be
    recognised elsewhere."""

    def __init__(self, format: AudioFormat, endpointer: Endpointer, spotter: StopSpotter | None = None) -> None:
        self._reader = AudioReader(format)
        self._endpointer = endpointer
        self._spotter = spotter
        self._spotted = 0  # samples of the utterance under way that the spotter has heard
        self._stopped = False

    def hear(self, chunk: bytes, now: float = 0.0, mute_until: float = 0.0) -> list[StopHeard | Utterance]:
        """What this chunk of sound gives. Until the time `mute_until` [s], on the clock of `now`, the robot itself
        speaks: nothing is heard, and what was being said is dropped."""
        samples = self._reader.read(chunk)
        if now < mute_until:
            self._endpointer.drop()
            self._spotted = 0
            return []
        ended = self._endpointer.feed(samples)
        return [*self._stops(), *ended]

    @property
    def paused(self) -> Utterance | None:
        """The utterance under way, once there is a pause in it: the very one that ends if nothing more is said."""
        return self._endpointer.paused

    def close(self) -> list[Utterance]:
        """The utterance that the sound ends in the middle of."""
        return self._endpointer.flush()

    def _stops(self) -> Iterator[StopHeard]:
        speech = self._endpointer.speaking
        if self._spotter is None or speech is None:
            self._spotted = 0
            return
        if self._spotted == 0 or len(speech) < self._spotted:
            self._spotter.begin()
            self._spotted, self._stopped = 0, False
        words = self._spotter.feed(speech[self._spotted :])
        self._spotted = len(speech)
        if words and not self._stopped:
            self._stopped = True
            yield StopHeard(words, self._endpointer.time)


def listen(
    chunks: Iterable[bytes], listener: Listener, recogniser: Recogniser, vocabulary: Vocabulary
) -> Iterator[StopHeard | Heard]:
    """Everything that is said in the chunks, each as soon as it is known."""
    for chunk in chunks:
        for event in listener.hear(chunk):
            yield _recognised(event, recogniser, vocabulary)
    for event in listener.close():
        yield _recognised(event, recogniser, vocabulary)


def _recognised(event: StopHeard | Utterance, recogniser: Recogniser, vocabulary: Vocabulary) -> StopHeard | Heard:
    if isinstance(event, StopHeard):
        return event
    return Heard(event, recogniser.transcribe(event.samples, vocabulary))

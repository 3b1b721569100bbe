"""Listening: voice activity detection, endpoint detection and the loop from audio chunks to transcripts.

The voice detector is Silero VAD as an ONNX network. Its file comes with the package silero-vad (MIT licence,
github.com/snakers4/silero-vad), which is never imported because it would load torch.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

import numpy as np

from llm_planner.speech.audio import RATE, AudioFormat, AudioReader, Samples
from llm_planner.speech.recognisers import Recogniser, SpeechError, Transcript, Vocabulary
from llm_planner.speech.sphinx_recogniser import SphinxStopSpotter

WINDOW = 512  # samples per detector window, 32 ms
_CONTEXT = 64  # samples of the previous window that the network takes again
_MODEL = "silero_vad_16k_op15.onnx"
BEGINS, GOES_ON = 0.5, 0.35  # probabilities of speech that start and continue an utterance
ONSET = 0.064  # [s] above `BEGINS` that starts an utterance
PAUSE, SILENCE = 0.16, 0.3  # [s] below `GOES_ON` after which it counts as paused, and ends
BEFORE = 0.25  # [s] of audio kept from before the onset
SHORTEST, LONGEST = 0.16, 8.0  # [s]: shorter ones are noise, longer ones are cut
LOUDER = 6.0  # [dB] of a voice above the background; quieter voices are background
ABOVE = 3.0  # [dB] of a person above the loudest of the robot's own voice so far
LEARNT = 0.5  # [s] of the robot's own voice, after which its loudness is known
_BACKGROUND = 31  # windows (1 s) for the median background power
_SMOOTHED = 3  # windows (0.1 s) for the mean power of a voice


class SileroDetector:
    """Silero VAD, about 0.2 ms per window on one core; raises SpeechError if it is not installed."""

    def __init__(self) -> None:
        try:
            from onnxruntime import InferenceSession, SessionOptions
        except ImportError as error:
            raise SpeechError("listening needs the package onnxruntime; run make setup") from error
        options = SessionOptions()
        options.intra_op_num_threads = options.inter_op_num_threads = 1
        self._session = InferenceSession(str(model_file()), options, providers=["CPUExecutionProvider"])
        self.reset()

    def reset(self) -> None:
        """Forget what was heard."""
        self._state = np.zeros((2, 1, 128), np.float32)
        self._context = np.zeros(_CONTEXT, np.float32)

    def probability(self, window: Samples) -> float:
        """Return the probability of speech in the next `WINDOW` samples (512,); windows are consecutive."""
        heard = np.concatenate((self._context, window)).astype(np.float32)
        inputs = {"input": heard[None], "state": self._state, "sr": np.array(RATE, np.int64)}
        voice, self._state = self._session.run(None, inputs)
        self._context = heard[-_CONTEXT:]
        return float(voice[0, 0])


def model_file(package: str = "silero_vad") -> Path:
    """Find the ONNX file of the installed `package`; raise SpeechError if it is missing."""
    found = find_spec(package)
    folders = (found.submodule_search_locations or ()) if found else ()
    for folder in folders:
        if (path := Path(folder, "data", _MODEL)).is_file():
            return path
    raise SpeechError(f"listening needs {_MODEL} from the package silero-vad, which is not there; run make setup")


@dataclass(frozen=True)
class Utterance:
    """Spoken utterance: `samples` (n,), and its begin and end in stream time [s]."""

    samples: Samples
    began: float
    ended: float


class Endpointer:
    """Endpoint detector that cuts an audio stream into utterances of at most `longest` [s].

    Stream time is 0 at the first sample. `paused` is the current utterance once it pauses, identical to the final one
    if no more speech follows; None otherwise.
    """

    def __init__(self, detector: SileroDetector, longest: float = LONGEST) -> None:
        self.paused: Utterance | None = None
        self._detector, self._longest = detector, longest
        self._heard = 0  # windows received
        self._rest = np.zeros(0, np.float32)
        self._before: deque[Samples] = deque(maxlen=_windows(BEFORE + ONSET))
        self._speech: list[Samples] = []
        self._began = self._voiced = self._onset = 0
        self._levels: deque[float] = deque(maxlen=_BACKGROUND)  # power of windows without a near voice
        self._recent: deque[float] = deque(maxlen=_SMOOTHED)

    @property
    def speaking(self) -> Samples | None:
        """Audio of the current utterance so far, or None."""
        return np.concatenate(self._speech) if self._speech else None

    @property
    def time(self) -> float:
        """Stream time: the audio received so far [s]."""
        return self._heard * WINDOW / RATE

    def feed(self, samples: Samples) -> list[Utterance]:
        """Return the utterances that end within these samples (n,)."""
        sound = np.concatenate((self._rest, samples))
        whole = len(sound) - len(sound) % WINDOW
        self._rest = sound[whole:]
        ended = [self._window(window) for window in sound[:whole].reshape(-1, WINDOW)]
        return [utterance for utterance in ended if utterance]

    def drop(self) -> None:
        """Discard the current utterance and earlier audio; stream time continues."""
        self._detector.reset()
        self._rest = np.zeros(0, np.float32)
        self._before.clear()
        self._speech, self.paused, self._onset = [], None, 0

    def flush(self) -> list[Utterance]:
        """End the current utterance, as if silence followed."""
        return [utterance for utterance in [self._end()] if utterance] if self._speech else []

    def _window(self, window: Samples) -> Utterance | None:
        voice = self._voice(window)
        self._heard += 1
        if not self._speech:
            self._wait(window, voice)
            return None
        self._speech.append(window)
        if voice >= GOES_ON:
            self._voiced, self.paused = self._heard, None
        quiet = self._heard - self._voiced
        if quiet >= _windows(SILENCE):
            return self._end()
        if quiet == _windows(PAUSE):
            self.paused = self._so_far()
        return self._cut() if len(self._speech) >= _windows(self._longest) else None

    def _voice(self, window: Samples) -> float:
        """Return the probability of near speech; 0 for voices that are not louder than the background."""
        voice = self._detector.probability(window)
        self._recent.append(_power(window))
        if not self._levels:
            return voice
        bound = float(np.median(self._levels)) * 10 ** (LOUDER / 10)
        return voice if np.mean(self._recent) > bound else 0.0

    def _wait(self, window: Samples, voice: float) -> None:
        self._before.append(window)
        self._onset = self._onset + 1 if voice >= BEGINS else 0
        if self._onset >= _windows(ONSET):
            self._speech = list(self._before)
            self._began, self._voiced = self._heard - self._onset, self._heard
        elif not self._onset:
            self._levels.append(_power(window))

    def _cut(self) -> Utterance | None:
        """End a too long utterance; its level (a radio, a crowd) becomes the background level."""
        self._levels.extend(map(_power, self._speech))
        return self._end()

    def _end(self) -> Utterance | None:
        ended = self.paused or self._so_far()
        self._before.clear()
        self._speech, self.paused, self._onset = [], None, 0
        return ended

    def _so_far(self) -> Utterance | None:
        if self._voiced - self._began < _windows(SHORTEST):
            return None
        return Utterance(np.concatenate(self._speech), self._began * WINDOW / RATE, self._voiced * WINDOW / RATE)


def _power(window: Samples) -> float:
    return float(np.mean(np.square(window)))


def _windows(duration: float) -> int:
    return max(1, round(duration * RATE / WINDOW))


@dataclass(frozen=True)
class StopHeard:
    """Stop word at the start of an utterance that is still going on; the robot should hold.

    `time` is stream time [s]. `is_all` marks one that was heard while the robot spoke: no utterance follows it.
    """

    words: str
    time: float
    is_all: bool = False


@dataclass(frozen=True)
class Heard:
    """Utterance and its transcript."""

    utterance: Utterance
    transcript: Transcript


class OwnVoice:
    """Loudness of the robot's own voice since it began to speak."""

    def __init__(self) -> None:
        self._rest = np.zeros(0, np.float32)
        self._recent: deque[float] = deque(maxlen=_SMOOTHED)
        self._loudest, self._heard = 0.0, 0  # power, windows

    def is_exceeded(self, samples: Samples) -> bool:
        """Return whether these samples (n,) are louder by `ABOVE` than all before them: a person speaks, too."""
        sound = np.concatenate((self._rest, samples))
        whole = len(sound) - len(sound) % WINDOW
        self._rest, exceeded = sound[whole:], False
        for window in sound[:whole].reshape(-1, WINDOW):
            self._recent.append(_power(window))
            self._heard += 1
            power = float(np.mean(self._recent))
            exceeded |= self._heard > _windows(LEARNT) and power > self._loudest * 10 ** (ABOVE / 10)
            self._loudest = max(self._loudest, power)
        return exceeded


class Listener:
    """Stream processor that cuts audio into utterances and spots stop words while they are spoken.

    It does not block on recognition; the caller passes the utterances to a recogniser. While the robot itself speaks,
    it hears stop words only, wherever they are in the sound; few get through its voice. `interrupted` is whether
    a person spoke above that in the last chunk: then it had better be silent.
    """

    def __init__(self, format: AudioFormat, endpointer: Endpointer, spotter: SphinxStopSpotter | None = None) -> None:
        self._reader = AudioReader(format)
        self._endpointer = endpointer
        self._spotter = spotter
        self.interrupted = self._was_deaf = False
        self._own = OwnVoice()
        self._spotted = 0  # samples of the current utterance passed to the spotter
        self._stopped = False

    def hear(self, chunk: bytes, deaf: bool = False) -> list[StopHeard | Utterance]:
        """Process one chunk of audio.

        Args:
            chunk: Raw audio.
            deaf: Whether the robot's own voice may be in it; then utterances are dropped, and only stop words count.

        Returns:
            Stop words and utterances in this chunk.
        """
        samples = self._reader.read(chunk)
        if self._was_deaf and not deaf:
            self._endpointer.drop()
            self._spotted = 0
        if deaf and not self._was_deaf:
            self._own = OwnVoice()
        self._was_deaf = deaf
        ended = self._endpointer.feed(samples)
        is_voice = self._endpointer.speaking is not None  # the noise before it tells nothing of its loudness
        self.interrupted = deaf and is_voice and self._own.is_exceeded(samples)
        return [*self._stops()] if deaf else [*self._stops(), *ended]

    @property
    def paused(self) -> Utterance | None:
        """Current utterance once it pauses, identical to the final one if no more speech follows; None otherwise."""
        return None if self._was_deaf else self._endpointer.paused

    def close(self) -> list[Utterance]:
        """End the stream and return the utterance that it cuts off, if any."""
        return [] if self._was_deaf else self._endpointer.flush()

    def _stops(self) -> Iterator[StopHeard]:
        speech = self._endpointer.speaking
        if self._spotter is None or speech is None:
            self._spotted = 0
            return
        if self._spotted == 0 or len(speech) < self._spotted:
            self._spotter.begin()
            self._spotted, self._stopped = 0, False
        words = self._spotter.feed(speech[self._spotted :], anywhere=self._was_deaf)
        self._spotted = len(speech)
        if words and not self._stopped:
            self._stopped = True
            yield StopHeard(words, self._endpointer.time, is_all=self._was_deaf)


def listen(
    chunks: Iterable[bytes], listener: Listener, recogniser: Recogniser, vocabulary: Vocabulary
) -> Iterator[StopHeard | Heard]:
    """Yield every stop word and recognised utterance of the chunks, each as soon as it is known."""

    def events() -> Iterator[StopHeard | Utterance]:
        for chunk in chunks:
            yield from listener.hear(chunk)
        yield from listener.close()

    for event in events():
        if isinstance(event, StopHeard):
            yield event
        else:
            yield Heard(event, recogniser.transcribe(event.samples, vocabulary))

"""From chunks of sound to what was said: the loop between a microphone and the corrections, without either.

Where utterances begin and end in a stream of sound.

Whether somebody speaks: Silero VAD, as a network in ONNX.

The file comes with the package silero-vad (MIT licence, github.com/snakers4/silero-vad). That package is never
imported: it would load torch.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Protocol

import numpy as np

from llm_planner.speech.audio import AudioFormat, AudioReader
from llm_planner.speech.recogniser import RATE, Recogniser, Samples, SpeechError, Transcript, Vocabulary
from llm_planner.speech.sphinx_recogniser import StopSpotter

WINDOW = 512  # samples at a time, 32 ms
_CONTEXT = 64  # samples of the window before, which the network wants again
_MODEL = "silero_vad_16k_op15.onnx"


class VoiceDetector(Protocol):
    """How sure it is, window by window, that there is a voice."""

    def probability(self, window: Samples) -> float:
        """Of a voice in the next `WINDOW` samples (512,); windows come in their order, without gaps."""

    def reset(self) -> None:
        """Forget what was heard."""


class SileroDetector:
    """Silero VAD; about 0.2 ms a window on one core. Raises SpeechError where it is not installed."""

    def __init__(self, model: Path | None = None) -> None:
        try:
            from onnxruntime import InferenceSession, SessionOptions
        except ImportError as error:
            raise SpeechError("listening needs the package onnxruntime; run make setup") from error
        options = SessionOptions()
        options.intra_op_num_threads = options.inter_op_num_threads = 1
        self._session = InferenceSession(str(model or model_file()), options, providers=["CPUExecutionProvider"])
        self.reset()

    def reset(self) -> None:
        self._state = np.zeros((2, 1, 128), np.float32)
        self._context = np.zeros(_CONTEXT, np.float32)

    def probability(self, window: Samples) -> float:
        heard = np.concatenate((self._context, window)).astype(np.float32)
        inputs = {"input": heard[None], "state": self._state, "sr": np.array(RATE, np.int64)}
        voice, self._state = self._session.run(None, inputs)
        self._context = heard[-_CONTEXT:]
        return float(voice[0, 0])


def model_file(package: str = "silero_vad") -> Path:
    """Where the network is that the `package` carries; raises SpeechError where it is not."""
    found = find_spec(package)
    folders = (found.submodule_search_locations or ()) if found else ()
    for folder in folders:
        if (path := Path(folder, "data", _MODEL)).is_file():
            return path
    raise SpeechError(f"listening needs {_MODEL} from the package silero-vad, which is not there; run make setup")


_BACKGROUND = 31  # windows, 1 s, whose median is the background's power
_SMOOTHED = 3  # windows, 0.1 s: a voice is as loud as it is on average


@dataclass(frozen=True)
class EndpointSettings:
    """Probabilities of a voice, and times [s].

    Speech begins where a voice is likelier than `begins` for `onset` and ends after `silence` without one likelier
    than `goes_on`, and may have ended after a `pause`; what was heard in the `before` ahead of it belongs to it. A
    voice that is not `louder` [dB] than what is heard all the time is one of many in the background. Speech that lasts
    for less than `shortest` is a noise; it is cut at `longest`.
    """

    begins: float = 0.5
    goes_on: float = 0.35
    onset: float = 0.064
    silence: float = 0.3
    pause: float = 0.16
    before: float = 0.25
    shortest: float = 0.16
    longest: float = 8.0
    louder: float = 6.0


@dataclass(frozen=True)
class Utterance:
    """What somebody said: `samples` (n,), and when the voice began and ended [s] on the stream's own time."""

    samples: Samples
    began: float
    ended: float


class Endpointer:
    """Cuts a stream into utterances. Its time is that of the samples: 0 at the first that it hears."""

    def __init__(self, detector: VoiceDetector, settings: EndpointSettings | None = None) -> None:
        self._detector = detector
        self._settings = settings or EndpointSettings()
        self._heard = 0  # windows
        self._rest = np.zeros(0, np.float32)
        self._before: deque[Samples] = deque(maxlen=_windows(self._settings.before + self._settings.onset))
        self._speech: list[Samples] = []
        self._paused: Utterance | None = None
        self._began = self._voiced = self._onset = 0
        self._levels: deque[float] = deque(maxlen=_BACKGROUND)  # of windows in which nobody speaks to us
        self._recent: deque[float] = deque(maxlen=_SMOOTHED)

    @property
    def speaking(self) -> Samples | None:
        """What was heard of the utterance so far, while there is one."""
        return np.concatenate(self._speech) if self._speech else None

    @property
    def paused(self) -> Utterance | None:
        """The utterance under way, once there is a pause in it: the very one that ends if nothing more is said."""
        return self._paused

    @property
    def time(self) -> float:
        """How much was heard so far [s]."""
        return self._heard * WINDOW / RATE

    def feed(self, samples: Samples) -> list[Utterance]:
        """The utterances that end within these samples (n,)."""
        sound = np.concatenate((self._rest, samples))
        whole = len(sound) - len(sound) % WINDOW
        self._rest = sound[whole:]
        ended = [self._window(window) for window in sound[:whole].reshape(-1, WINDOW)]
        return [utterance for utterance in ended if utterance]

    def drop(self) -> None:
        """Forget the utterance under way and everything before it; time goes on."""
        self._detector.reset()
        self._rest = np.zeros(0, np.float32)
        self._before.clear()
        self._speech, self._paused, self._onset = [], None, 0

    def flush(self) -> list[Utterance]:
        """The utterance under way, as if silence followed."""
        return [utterance for utterance in [self._end()] if utterance] if self._speech else []

    def _window(self, window: Samples) -> Utterance | None:
        voice = self._voice(window)
        self._heard += 1
        if not self._speech:
            self._wait(window, voice)
            return None
        self._speech.append(window)
        if voice >= self._settings.goes_on:
            self._voiced, self._paused = self._heard, None
        quiet = self._heard - self._voiced
        if quiet >= _windows(self._settings.silence):
            return self._end()
        if quiet == _windows(self._settings.pause):
            self._paused = self._so_far()
        return self._cut() if len(self._speech) >= _windows(self._settings.longest) else None

    def _voice(self, window: Samples) -> float:
        """How likely it is that somebody near speaks: of a voice no louder than the background, not at all."""
        voice = self._detector.probability(window)
        self._recent.append(_power(window))
        if not self._levels:
            return voice
        bound = float(np.median(self._levels)) * 10 ** (self._settings.louder / 10)
        return voice if np.mean(self._recent) > bound else 0.0

    def _wait(self, window: Samples, voice: float) -> None:
        self._before.append(window)
        self._onset = self._onset + 1 if voice >= self._settings.begins else 0
        if self._onset >= _windows(self._settings.onset):
            self._speech = list(self._before)
            self._began, self._voiced = self._heard - self._onset, self._heard
        elif not self._onset:
            self._levels.append(_power(window))

    def _cut(self) -> Utterance | None:
        """What goes on for too long is the new background: a radio, or a room full of people."""
        self._levels.extend(map(_power, self._speech))
        return self._end()

    def _end(self) -> Utterance | None:
        ended = self._paused or self._so_far()
        self._before.clear()
        self._speech, self._paused, self._onset = [], None, 0
        return ended

    def _so_far(self) -> Utterance | None:
        if self._voiced - self._began < _windows(self._settings.shortest):
            return None
        return Utterance(np.concatenate(self._speech), self._began * WINDOW / RATE, self._voiced * WINDOW / RATE)


def _power(window: Samples) -> float:
    return float(np.mean(np.square(window)))


def _windows(duration: float) -> int:
    return max(1, round(duration * RATE / WINDOW))


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

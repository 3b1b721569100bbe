"""Speech recognisers: interface, vocabulary and transcripts; faster-whisper, transcription servers, a fallback chain.

Whisper-style results (arXiv:2212.04356) are segments with probabilities, which `transcript_of` turns into a transcript.
Servers are OpenAI's own, vLLM, speaches or whisper.cpp; faster-whisper needs its package and local weights. The offline
recogniser is in `sphinx_recogniser`.
"""

from __future__ import annotations

import math
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol
from urllib.parse import urlsplit

from llm_planner.errors import InputError, LlmPlannerError
from llm_planner.http_client import NO_KEY, open_client, redirect_of
from llm_planner.speech.audio import Samples, wave_bytes
from llm_planner.text import plain_text, redacted, secrets_of_url, server_text

if TYPE_CHECKING:
    from llm_planner.scene.scene import SceneObject
    from llm_planner.simulation.objects import ObjectSpec

RECOGNISER_NAMES = ("pocketsphinx", "server", "faster-whisper")
KEYPHRASES = {  # stop words, with detection thresholds; longer phrases cause fewer false alarms
    "stop": 1e-8, "halt": 1e-8, "freeze": 1e-8, "stop it": 1e-12, "stop now": 1e-12, "don't move": 1e-15,
    "stand still": 1e-18, "hold still": 1e-15,
}  # fmt: skip
MOST_CHARACTERS = 600  # whisper uses the last 224 tokens of a prompt
NO_SPEECH = 0.6  # above this probability the words are hallucinated; whisper's own threshold


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


def vocabulary_of(
    things: Iterable[SceneObject | ObjectSpec],
    places: Iterable[str] = (),
    answers: Iterable[str] = (),
    skills: Iterable[str] = (),
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


def hint(vocabulary: Vocabulary) -> str:
    """Return a prompt with the names of objects, places and skills."""
    names = [*vocabulary.answers, *vocabulary.objects, *vocabulary.colors, *vocabulary.places]
    skills = [skill.replace("_", " ") for skill in vocabulary.skills]
    said = f"A person corrects a robot: slower, a bit to the left, no, the other one, undo that. {', '.join(names)}."
    return said[:MOST_CHARACTERS] if not skills else f"{said} {', '.join(skills)}."[:MOST_CHARACTERS]


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


def open_recogniser(
    name: str = "pocketsphinx", weights: Path | None = None, environment: Mapping[str, str] | None = None
) -> Recogniser:
    """Open a recogniser by name; a server has the offline recogniser as its fallback.

    `weights` is the folder of a faster-whisper model. Raises InputError if the name is unknown or the settings do not
    fit it, and SpeechError if the recogniser is not installed.
    """
    if name not in RECOGNISER_NAMES:
        raise InputError(f"there is no recogniser {name!r}; choose one of: {', '.join(RECOGNISER_NAMES)}")
    if name == "faster-whisper":
        if weights is None:
            raise InputError("faster-whisper needs the folder of a model's weights; give it with --weights")
        return WhisperRecogniser(weights)
    from llm_planner.speech.sphinx_recogniser import SphinxRecogniser

    if name == "pocketsphinx":
        return SphinxRecogniser()

    return FallbackRecogniser(ServerRecogniser(transcription_server(environment)), SphinxRecogniser())


class FallbackRecogniser:
    """Recogniser that asks `second` if `first` fails, and notes this in the transcript's reason."""

    is_cheap = False

    def __init__(self, first: Recogniser, second: Recogniser) -> None:
        self._first, self._second = first, second

    @property
    def name(self) -> str:
        return f"{self._first.name}, else {self._second.name}"

    def transcribe(self, samples: Samples, vocabulary: Vocabulary) -> Transcript:
        """Recognise with the first or the second recogniser; raise SpeechError if both fail."""
        try:
            return self._first.transcribe(samples, vocabulary)
        except SpeechError as error:
            heard = self._second.transcribe(samples, vocabulary)
            reasons = [heard.reason, f"heard by {self._second.name}, because {error}"]
            return replace(heard, reason="; ".join(reason for reason in reasons if reason))


class WhisperRecogniser:
    """Whisper model (arXiv:2212.04356) on this machine, run by faster-whisper.

    `weights` is the folder of the model; nothing is downloaded. Raises SpeechError if the weights or the package are
    missing.
    """

    name = "faster-whisper"
    is_cheap = False

    def __init__(self, weights: Path) -> None:
        if not (weights / "model.bin").is_file():
            raise SpeechError(
                f"{weights} holds no weights of faster-whisper (no model.bin); give the folder of a model, "
                "or choose another recogniser"
            )
        try:
            from faster_whisper import WhisperModel
        except ImportError as error:
            raise SpeechError(
                "the recogniser faster-whisper is not installed; run: pip install faster-whisper, "
                "or choose another recogniser"
            ) from error
        self._model: Any = WhisperModel(str(weights), local_files_only=True)

    def transcribe(self, samples: Samples, vocabulary: Vocabulary) -> Transcript:
        """Recognise one utterance, with the vocabulary in the prompt."""
        found, _ = self._model.transcribe(
            samples, language="en", beam_size=5, temperature=0.0, initial_prompt=hint(vocabulary)
        )
        return transcript_of(list(found))


@dataclass(frozen=True)
class TranscriptionServer:
    """Address of a transcription server; `timeout` [s] covers the whole response."""

    model: str
    base_url: str | None = None  # None: the OpenAI service
    api_key: str = field(default="", repr=False)
    timeout: float = 3.0

    def __str__(self) -> str:
        return f"the transcription server {redacted(self.base_url or 'OpenAI')} (model {self.model})"

    @property
    def secrets(self) -> tuple[str, ...]:
        """Texts that no output may show: the key and the credentials in the URL."""
        return (self.api_key, *secrets_of_url(self.base_url or ""))


def transcription_server(environment: Mapping[str, str] | None = None) -> TranscriptionServer:
    """Read the transcription server from the environment.

    The variables are `LLM_PLANNER_TRANSCRIPTION_MODEL`, `LLM_PLANNER_TRANSCRIPTION_URL` (else `OPENAI_BASE_URL`),
    `OPENAI_API_KEY` and `LLM_PLANNER_TRANSCRIPTION_TIMEOUT` [s]. Raises InputError that says which one to set.
    """
    env = os.environ if environment is None else environment
    model = env.get("LLM_PLANNER_TRANSCRIPTION_MODEL", "")
    url = env.get("LLM_PLANNER_TRANSCRIPTION_URL") or env.get("OPENAI_BASE_URL")
    if not model:
        raise InputError(
            "the transcription server needs the name of a model: set LLM_PLANNER_TRANSCRIPTION_MODEL to one that your "
            "server offers, such as whisper-1"
        )
    if not env.get("OPENAI_API_KEY") and not url:
        raise InputError(
            "set OPENAI_API_KEY, or LLM_PLANNER_TRANSCRIPTION_URL to a server of your own "
            "(such as http://localhost:8000/v1)"
        )
    if url and (urlsplit(url).scheme not in ("http", "https") or not urlsplit(url).netloc):
        raise InputError(f"{redacted(url)!r} is not the address of a server; it reads like http://localhost:8000/v1")
    seconds = env.get("LLM_PLANNER_TRANSCRIPTION_TIMEOUT", "3")
    try:
        timeout = float(seconds)
    except ValueError:
        timeout = -1.0
    if not 0 < timeout < float("inf"):
        raise InputError(f"LLM_PLANNER_TRANSCRIPTION_TIMEOUT must be a number of seconds above 0, not {seconds!r}")
    return TranscriptionServer(model, url, env.get("OPENAI_API_KEY") or NO_KEY, timeout)


class ServerRecogniser:
    """Recogniser on a transcription server; it does not retry, since a person waits for the robot."""

    name = "server"
    is_cheap = False

    def __init__(self, server: TranscriptionServer) -> None:
        self._server = server
        self._client: Any = None

    def close(self) -> None:
        """Close the connections to the server."""
        if self._client is not None:
            self._client.close()
            self._client = None

    def transcribe(self, samples: Samples, vocabulary: Vocabulary) -> Transcript:
        """Recognise with the vocabulary in the prompt; raise SpeechError without a usable response."""
        import openai

        if self._client is None:
            s = self._server
            self._client = open_client(s.base_url, s.api_key, s.timeout)
        try:
            answer = self._client.audio.transcriptions.create(
                model=self._server.model,
                file=("utterance.wav", wave_bytes(samples), "audio/wav"),
                prompt=hint(vocabulary),
                language="en",
                temperature=0.0,
                response_format="verbose_json",
            )
        except openai.APITimeoutError as error:
            raise SpeechError(f"{self._server} did not answer within {self._server.timeout:g} s") from error
        except openai.APIConnectionError as error:
            raise SpeechError(f"{self._server} cannot be reached; is it running?") from error
        except openai.APIStatusError as error:
            elsewhere = redirect_of(error.status_code, error.response.headers, self._server.secrets)
            if elsewhere:
                raise SpeechError(f"{self._server} {elsewhere} as LLM_PLANNER_TRANSCRIPTION_URL") from error
            what = server_text(str(error.message), 200, self._server.secrets)
            raise SpeechError(f"{self._server} refused the request ({error.status_code}): {what}") from error
        except Exception as error:  # a malformed response can raise anything in the client
            raise SpeechError(f"{self._server} gave an answer that cannot be used: {type(error).__name__}") from error
        return transcript_of(getattr(answer, "segments", None) or (), str(getattr(answer, "text", "") or ""))

"""Any OpenAI-compatible transcription server: OpenAI's own, vLLM, speaches, whisper.cpp."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

from llm_planner.correction.speech.errors import SpeechError
from llm_planner.correction.speech.hint import hint
from llm_planner.correction.speech.recogniser import Samples, Transcript
from llm_planner.correction.speech.segments import transcript_of
from llm_planner.correction.speech.vocabulary import Vocabulary
from llm_planner.correction.speech.wave_file import wave_bytes
from llm_planner.errors import InputError
from llm_planner.language.plain_text import server_text
from llm_planner.language.server.client import NO_KEY, open_client, redirect_of
from llm_planner.redaction import redacted, secrets_of_url


@dataclass(frozen=True)
class TranscriptionServer:
    """Where it is and how long to wait for it: `timeout` [s] is for the whole answer."""

    model: str
    base_url: str | None = None  # None is the OpenAI service itself
    api_key: str = field(default="", repr=False)
    timeout: float = 3.0

    def __str__(self) -> str:
        return f"the transcription server {redacted(self.base_url or 'OpenAI')} (model {self.model})"

    @property
    def secrets(self) -> tuple[str, ...]:
        """What no text may show: the key, and the credentials in the address."""
        return (self.api_key, *secrets_of_url(self.base_url or ""))


def transcription_server(environment: Mapping[str, str] | None = None) -> TranscriptionServer:
    """From `LLM_PLANNER_TRANSCRIPTION_MODEL`, `LLM_PLANNER_TRANSCRIPTION_URL` (else `OPENAI_BASE_URL`),
    `OPENAI_API_KEY` and `LLM_PLANNER_TRANSCRIPTION_TIMEOUT` [s]. Raises InputError that says which to set."""
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
        raise InputError(f"{redacted(url)!r} is no address of a server; it reads like http://localhost:8000/v1")
    seconds = env.get("LLM_PLANNER_TRANSCRIPTION_TIMEOUT", "3")
    try:
        timeout = float(seconds)
    except ValueError:
        timeout = -1.0
    if not 0 < timeout < float("inf"):
        raise InputError(f"LLM_PLANNER_TRANSCRIPTION_TIMEOUT must be a number of seconds above 0, not {seconds!r}")
    return TranscriptionServer(model, url, env.get("OPENAI_API_KEY") or NO_KEY, timeout)


class ServerRecogniser:
    """Asks a server, once and not again: who speaks to a robot does not wait for a second try."""

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
        """What the server hears, with the names of things in its prompt; raises SpeechError where it does not answer,
        or not usably."""
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
        except Exception as error:  # what a server sends can break the client in any way
            raise SpeechError(f"{self._server} gave an answer that cannot be used: {type(error).__name__}") from error
        return transcript_of(getattr(answer, "segments", None) or (), str(getattr(answer, "text", "") or ""))

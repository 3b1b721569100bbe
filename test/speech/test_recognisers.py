"""Words from sound: offline by agreement, from a server, from whisper, and one in place of another."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer
from types import SimpleNamespace

import numpy as np
import pytest

from llm_planner.errors import InputError
from llm_planner.speech.recognisers import (
    FallbackRecogniser,
    ServerRecogniser,
    SpeechError,
    Transcript,
    TranscriptionServer,
    Vocabulary,
    WhisperRecogniser,
    hint,
    open_recogniser,
    transcript_of,
    transcription_server,
)
from llm_planner.speech.sphinx_recogniser import SphinxRecogniser

TABLE = Vocabulary(("blue block", "red block"), ("block",), ("blue", "red"), skills=("place_in",))
SILENCE = np.zeros(8000, np.float32)


class ScriptedRecogniser:
    name = "script"

    def __init__(self, heard: Transcript | SpeechError) -> None:
        self._heard = heard

    def transcribe(self, samples: np.ndarray, vocabulary: Vocabulary) -> Transcript:
        if isinstance(self._heard, SpeechError):
            raise self._heard
        return self._heard


@contextmanager
def server_that_answers(status: int, body: str) -> Iterator[tuple[str, list[bytes]]]:
    """Its address, and the requests that it gets."""
    requests: list[bytes] = []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            requests.append(self.rfile.read(int(self.headers["content-length"])))
            self.send_response(status)
            self.send_header("content-type", "application/json")
            self.end_headers()
            self.wfile.write(body.encode())

        def log_message(self, *_: object) -> None:
            pass

    server = HTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/v1", requests
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def asked(url: str, timeout: float = 5.0) -> Transcript:
    recogniser = ServerRecogniser(TranscriptionServer("whisper-1", url, "none", timeout))
    try:
        return recogniser.transcribe(SILENCE, TABLE)
    finally:
        recogniser.close()


@pytest.fixture(scope="module")
def sphinx() -> SphinxRecogniser:
    return SphinxRecogniser()


def test_offline_a_correction_is_heard_and_accepted(sphinx, clips):
    heard = sphinx.transcribe(clips("a_bit_to_the_left")[6000:-6000], TABLE)
    assert (heard.words, heard.accepted, heard.reason) == ("a bit to the left", True, "")
    assert 0.0 < heard.confidence <= 1.0


def test_offline_talk_is_not_accepted_whatever_the_grammar_makes_of_it(sphinx, clips):
    heard = sphinx.transcribe(clips("a_bit_to_the_left")[::-1].copy(), TABLE)
    assert not heard.accepted
    assert heard.reason == "it does not sound like a correction"


def test_offline_what_was_heard_before_changes_nothing(sphinx, clips):
    first = sphinx.transcribe(clips("stop"), TABLE)
    sphinx.transcribe(0.2 * clips("a_bit_to_the_left")[::-1].copy(), Vocabulary(("mug",)))
    assert sphinx.transcribe(clips("stop"), TABLE) == first


def test_offline_nothing_is_heard_where_there_is_nothing(sphinx):
    assert sphinx.transcribe(SILENCE[:0], TABLE).reason == "no words were heard"
    assert not sphinx.transcribe(SILENCE, TABLE).accepted


def test_a_server_gets_the_names_of_things_and_its_words_are_taken():
    answer = '{"text": " No, the blue one. ", "segments": [{"text": " No, the blue one. ", "avg_logprob": -0.1}]}'
    with server_that_answers(200, answer) as (url, requests):
        heard = asked(url)
    assert heard.words == "No, the blue one."
    assert heard.accepted
    assert heard.confidence == pytest.approx(0.905, abs=0.001)
    assert b"blue block" in requests[0]
    assert b"place in" in requests[0]
    assert b"RIFF" in requests[0]


@pytest.mark.parametrize(
    ("status", "body", "message"),
    [
        (404, '{"error": {"message": "no such model"}}', r"whisper-1\) refused the request \(404\): .*no such model"),
        (200, "[", "gave an answer that cannot be used"),
    ],
)
def test_a_server_that_fails_is_named_with_what_it_said(status, body, message):
    with server_that_answers(status, body) as (url, _), pytest.raises(SpeechError, match=message):
        asked(url)


def test_a_server_that_is_down_is_named():
    with pytest.raises(SpeechError, match=r"server http://127\.0\.0\.1:9/v1 .* cannot be reached; is it running"):
        asked("http://127.0.0.1:9/v1")


def test_a_server_that_stays_silent_is_given_up():
    silent = HTTPServer(("127.0.0.1", 0), BaseHTTPRequestHandler)  # listens, and never serves
    with pytest.raises(SpeechError, match=r"did not answer within 0\.05 s"):
        asked(f"http://127.0.0.1:{silent.server_port}/v1", timeout=0.05)
    silent.server_close()


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({}, "set LLM_PLANNER_TRANSCRIPTION_MODEL to one that your server offers"),
        ({"LLM_PLANNER_TRANSCRIPTION_MODEL": "m"}, "set OPENAI_API_KEY, or LLM_PLANNER_TRANSCRIPTION_URL"),
        (
            {"LLM_PLANNER_TRANSCRIPTION_MODEL": "m", "LLM_PLANNER_TRANSCRIPTION_URL": "here"},
            "'here' is not the address of a server; it reads like http",
        ),
        (
            {"LLM_PLANNER_TRANSCRIPTION_MODEL": "m", "OPENAI_API_KEY": "k", "LLM_PLANNER_TRANSCRIPTION_TIMEOUT": "x"},
            "LLM_PLANNER_TRANSCRIPTION_TIMEOUT must be a number of seconds above 0, not 'x'",
        ),
    ],
)
def test_settings_of_a_server_that_are_wrong_say_which_to_set(settings, message):
    with pytest.raises(InputError, match=message):
        transcription_server(settings)


def test_a_transcription_server_may_be_another_than_that_of_the_language_model():
    env = {"LLM_PLANNER_TRANSCRIPTION_MODEL": "m", "OPENAI_BASE_URL": "http://a/v1"}
    assert transcription_server(env).base_url == "http://a/v1"
    assert transcription_server({**env, "LLM_PLANNER_TRANSCRIPTION_URL": "http://b/v1"}).base_url == "http://b/v1"


def test_words_in_which_nobody_speaks_are_left_out():
    parts = [
        SimpleNamespace(text="Slower.", no_speech_prob=0.1, avg_logprob=0.0),
        SimpleNamespace(text="Thank you for watching.", no_speech_prob=0.9, avg_logprob=-0.2),
    ]
    assert transcript_of(parts) == Transcript("Slower.", 1.0, True)
    assert transcript_of(parts[1:]) == Transcript("", 0.0, False, "it does not sound like speech")
    assert transcript_of([], "slower") == Transcript("slower", 1.0, True)
    assert transcript_of([], " ") == Transcript("", 0.0, False, "no words were heard")


def test_where_the_first_recogniser_fails_the_second_hears_and_says_so():
    down = ScriptedRecogniser(SpeechError("the server cannot be reached"))
    heard = FallbackRecogniser(down, ScriptedRecogniser(Transcript("slower", 0.8, True))).transcribe(SILENCE, TABLE)
    assert heard == Transcript("slower", 0.8, True, "heard by script, because the server cannot be reached")


def test_where_the_first_recogniser_hears_the_second_is_not_asked():
    second = ScriptedRecogniser(SpeechError("never asked"))
    both = FallbackRecogniser(ScriptedRecogniser(Transcript("faster", 0.9, True)), second)
    assert both.transcribe(SILENCE, TABLE) == Transcript("faster", 0.9, True)
    assert both.name == "script, else script"


def test_whisper_without_weights_says_what_to_give(tmp_path):
    with pytest.raises(SpeechError, match=r"holds no weights of faster-whisper \(no model.bin\); give the folder"):
        WhisperRecogniser(tmp_path)


def test_recognisers_are_opened_by_name():
    assert open_recogniser("pocketsphinx").name == "pocketsphinx"
    env = {"LLM_PLANNER_TRANSCRIPTION_MODEL": "m", "OPENAI_API_KEY": "k"}
    assert open_recogniser("server", environment=env).name == "server, else pocketsphinx"


def test_a_recogniser_that_there_is_not_is_refused_with_those_that_there_are():
    with pytest.raises(InputError, match="no recogniser 'ears'; choose one of: pocketsphinx, server, faster-whisper"):
        open_recogniser("ears")
    with pytest.raises(InputError, match="faster-whisper needs the folder of a model's weights; give"):
        open_recogniser("faster-whisper")


def test_a_hint_stays_short_however_many_things_there_are():
    assert len(hint(Vocabulary(tuple(f"thing number {n}" for n in range(500))))) <= 600

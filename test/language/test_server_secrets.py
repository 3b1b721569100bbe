"""Keys and credentials of servers: never in an error, never sent where nobody asked for them to go."""

from __future__ import annotations

import base64
import json
import logging
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread

import pytest

from llm_planner.errors import LanguageModelError
from llm_planner.http_client import _warn_once, warn_of_cleartext
from llm_planner.language.model import ProgramRequest
from llm_planner.scene.scene import Scene
from llm_planner.speech.recognisers import ServerRecogniser, SpeechError, TranscriptionServer, Vocabulary
from llm_planner.text import REDACTED

KEY = "sk-live-0123456789abcdef"
PASSWORD = "corr3ct-horse"
REQUEST = ProgramRequest("go home", Scene(0.0, ()))


class Echo:
    """A real server that sends back what it was sent; `heard` are the Authorization headers of all requests."""

    def __init__(self, status: int, page: Callable[[str], tuple[str, str]], headers: dict[str, str]) -> None:
        self.heard: list[str] = []
        echo = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                self.rfile.read(int(self.headers["Content-Length"]))
                sent = self.headers.get("Authorization", "")
                echo.heard.append(sent)
                kind, text = page(sent)
                self.send_response(status)
                for name, value in {"Content-Type": kind, "Content-Length": str(len(text)), **headers}.items():
                    self.send_header(name, value)
                self.end_headers()
                self.wfile.write(text.encode())

            def log_message(self, *_: object) -> None:
                pass

        self._http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._thread = Thread(target=self._http.serve_forever, args=(0.02,))
        self._thread.start()
        self.address = f"127.0.0.1:{self._http.server_port}"

    def close(self) -> None:
        self._http.shutdown()
        self._thread.join()
        self._http.server_close()


@pytest.fixture
def serve() -> Iterator[Callable[..., Echo]]:
    servers = []

    def start(status: int, page: Callable[[str], tuple[str, str]], **headers: str) -> Echo:
        servers.append(Echo(status, page, headers))
        return servers[-1]

    yield start
    for server in servers:
        server.close()


def error_page(sent: str) -> tuple[str, str]:
    return "application/json", json.dumps({"error": {"message": f"wrong key: {sent}; {sent.split()[-1]}"}})


def other_page(sent: str) -> tuple[str, str]:
    """With the key where an error about the text would be cut."""
    return "application/json", "<html>" + "x" * 85 + sent.split()[-1]


def told_by(loopback, url: str) -> str:
    with pytest.raises(LanguageModelError) as caught:
        loopback.model_at(url, key=KEY).write_program(REQUEST)
    return str(caught.value)


@pytest.mark.parametrize(("status", "page"), [(401, error_page), (200, other_page)])
def test_a_page_that_echoes_the_key_is_shown_without_it(loopback, serve, status, page):
    server = serve(status, page)
    told = told_by(loopback, f"http://{server.address}/v1")
    assert server.heard == [f"Bearer {KEY}"]  # it was sent where it belongs
    assert REDACTED in told
    assert not any(KEY[:length] in told for length in range(8, len(KEY) + 1))


def test_credentials_in_the_address_are_not_shown(loopback, serve):
    server = serve(401, error_page)
    told = told_by(loopback, f"http://robot:{PASSWORD}@{server.address}/v1")
    assert f"http://{REDACTED}@{server.address}/v1" in told
    basic = base64.b64encode(f"robot:{PASSWORD}".encode()).decode()
    assert not any(secret in told for secret in (PASSWORD, basic, KEY))


def test_what_a_model_writes_is_shown_without_the_key(loopback):
    model = loopback.model_at(loopback.serve(lambda n, body: loopback.completion(f'{{"mine": "{KEY}"}}')), key=KEY)
    with pytest.raises(LanguageModelError, match="neither a program nor a question") as caught:
        model.write_program(REQUEST)
    assert KEY not in str(caught.value)


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_a_redirect_is_not_followed(loopback, serve, status):
    thief = serve(200, error_page)
    there = f"http://{thief.address}/v1/chat/completions?api_key={KEY}"
    server = serve(status, lambda sent: ("text/html", "moved"), Location=there)
    told = told_by(loopback, f"http://{server.address}/v1")
    assert thief.heard == []
    assert f"redirects ({status}) to http://{thief.address}/v1/chat/completions?api_key={REDACTED}" in told
    assert told.endswith("set its own address as OPENAI_BASE_URL")


def transcription_error(url: str) -> str:
    recogniser = ServerRecogniser(TranscriptionServer("m", url, KEY))
    try:
        with pytest.raises(SpeechError) as caught:
            recogniser.transcribe([0.0] * 1600, Vocabulary())
    finally:
        recogniser.close()
    return str(caught.value)


def test_a_transcription_server_learns_and_tells_no_more(serve):
    thief = serve(200, error_page)
    server = serve(307, lambda sent: ("text/html", "moved"), Location=f"http://{thief.address}/v1")
    told = transcription_error(f"http://robot:{PASSWORD}@{server.address}/v1")
    assert thief.heard == []
    assert f"redirects (307) to http://{thief.address}/v1" in told
    told += transcription_error(f"http://{serve(401, error_page).address}/v1")
    assert REDACTED in told
    assert PASSWORD not in told
    assert KEY not in told


def test_settings_print_no_key():
    assert KEY not in repr(TranscriptionServer("m", "http://localhost/v1", KEY))


def test_a_key_in_clear_on_the_network_is_said_once_for_each_host(caplog):
    _warn_once.cache_clear()
    with caplog.at_level(logging.WARNING):
        for _ in range(3):
            warn_of_cleartext("http://192.0.2.7:8000/v1")
            warn_of_cleartext("https://192.0.2.8/v1")
            warn_of_cleartext("http://127.0.0.2:8000/v1")
            warn_of_cleartext("http://[::1]:8000/v1")
            warn_of_cleartext("http://localhost:8000/v1")
    assert [record.getMessage().partition(",")[0] for record in caplog.records] == [
        "the key for 192.0.2.7 goes over the network in clear"
    ]

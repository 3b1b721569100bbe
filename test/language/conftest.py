"""A language model server on loopback, well-behaved or not: real sockets, and the real client talks to it."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

from llm_planner.language.server.connection import ServerSettings
from llm_planner.language.server.model import ServerModel

USAGE = {"prompt_tokens": 11, "completion_tokens": 7, "total_tokens": 18}


@dataclass(frozen=True)
class Reply:
    """What one request is answered with. `body` is sent in one piece, or piece by piece where it comes so.

    `missing` more bytes are promised than sent before the connection closes.
    """

    body: bytes | Iterable[bytes] = b""
    status: int = 200
    content_type: str = "application/json"
    headers: dict[str, str] = field(default_factory=dict)
    missing: int = 0


class Loopback:
    """Servers and models that talk to them, all ended with the test. Builds the answers that servers give."""

    def __init__(self) -> None:
        self.bodies: list[Any] = []  # of all requests, as they came
        self.hold = threading.Event()  # stalls wait for the end of the test
        self._servers: list[tuple[ThreadingHTTPServer, threading.Thread]] = []
        self._models: list[ServerModel] = []

    def serve(self, answer: Callable[[int, Any], Reply]) -> str:
        """A server that answers its n-th request with `answer(n, body)`; its address."""
        loopback = self
        count = [0]

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                loopback.bodies.append(body)
                count[0] += 1
                reply = answer(count[0], body)
                self.send_response(reply.status)
                self.send_header("Content-Type", reply.content_type)
                for name, value in reply.headers.items():
                    self.send_header(name, value)
                pieces = [reply.body] if isinstance(reply.body, bytes) else reply.body
                if isinstance(reply.body, bytes):  # else it ends when the connection does
                    self.send_header("Content-Length", str(len(reply.body) + reply.missing))
                self.close_connection = True
                self._send(pieces)

            def _send(self, pieces: Iterable[bytes]) -> None:
                try:
                    self.end_headers()
                    for piece in pieces:
                        self.wfile.write(piece)
                        self.wfile.flush()
                except OSError:
                    pass  # the client has had enough

            def log_message(self, *_: object) -> None:
                pass

        server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        thread = threading.Thread(target=server.serve_forever, args=(0.02,))
        thread.start()
        self._servers.append((server, thread))
        return f"http://127.0.0.1:{server.server_port}/v1"

    def model(self, answer: Callable[[int, Any], Reply], timeout: float = 5.0, retries: int = 0) -> ServerModel:
        """A model whose server answers so; it waits no longer than a moment before it tries again."""
        return self.model_at(self.serve(answer), timeout, retries)

    def model_at(self, url: str, timeout: float = 5.0, retries: int = 0, key: str = "key") -> ServerModel:
        settings = ServerSettings("m", url, key, timeout, retries)
        model = ServerModel(settings, sleep=lambda seconds: None)
        self._models.append(model)
        return model

    def close(self) -> None:
        self.hold.set()
        for model in self._models:
            model.close()
        for server, thread in self._servers:
            server.shutdown()
            thread.join()
            server.server_close()

    def stall(self) -> Iterator[bytes]:
        """Nothing, for as long as the test lasts."""
        self.hold.wait(20)
        yield b""

    @staticmethod
    def completion(*texts: str, finish: str = "stop", logprobs: Any = None, **changes: Any) -> Reply:
        """One JSON object with a choice for each text."""
        choices = [
            {
                "index": n,
                "finish_reason": finish,
                "message": {"role": "assistant", "content": text},
                "logprobs": logprobs,
            }
            for n, text in enumerate(texts)
        ]
        whole = {"id": "1", "object": "chat.completion", "model": "m", "choices": choices, "usage": USAGE, **changes}
        return Reply(json.dumps(whole).encode())

    @staticmethod
    def event(content: str = "", finish: str | None = None, index: int = 0, logprob: float | None = None) -> bytes:
        """One event of a stream, with a token where it has a log-probability."""
        choice: dict[str, Any] = {"index": index, "delta": {"content": content}, "finish_reason": finish}
        if logprob is not None:
            choice["logprobs"] = {"content": [{"token": content, "logprob": logprob, "top_logprobs": []}]}
        return b"data: " + json.dumps({"choices": [choice]}).encode() + b"\n\n"

    @classmethod
    def stream(cls, *pieces: str, finish: str = "stop", logprob: float | None = None) -> Reply:
        """The text in pieces, as server-sent events, and the usage after it."""
        usage = b"data: " + json.dumps({"choices": [], "usage": USAGE}).encode() + b"\n\n"
        events = [cls.event(piece, logprob=logprob) for piece in pieces]
        return cls.events(b": keep alive\n\n", *events, cls.event(finish=finish), usage, b"data: [DONE]\n\n")

    @staticmethod
    def events(*events: bytes | Iterator[bytes]) -> Reply:
        """Server-sent events, whatever they are."""

        def pieces() -> Iterator[bytes]:
            for event in events:
                if isinstance(event, bytes):
                    yield event
                else:
                    yield from event

        return Reply(pieces(), content_type="text/event-stream")

    @staticmethod
    def error(status: int, text: str = "no", **headers: str) -> Reply:
        """A refusal as OpenAI words it."""
        body = json.dumps({"error": {"message": text}}).encode()
        return Reply(body, status, headers={name.replace("_", "-"): value for name, value in headers.items()})


@pytest.fixture
def loopback() -> Iterator[Loopback]:
    made = Loopback()
    yield made
    made.close()

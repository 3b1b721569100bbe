"""A policy server on loopback, well-behaved or not: real sockets, and the real client talks to it."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest


@dataclass(frozen=True)
class Reply:
    """What one question is answered with; a body that comes in pieces ends with the connection."""

    body: bytes | Iterable[bytes]
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)


class PolicyServers:
    """Servers, all ended with the test. `asked` has every question, as it came; `hold` is set at its end."""

    def __init__(self) -> None:
        self.asked: list[dict[str, Any]] = []
        self.hold = threading.Event()
        self._servers: list[tuple[ThreadingHTTPServer, threading.Thread]] = []

    def serve(self, answer: Callable[[dict[str, Any]], Reply | dict[str, Any]]) -> str:
        """A server that answers so; its address."""
        asked = self.asked

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                asked.append(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
                given = answer(asked[-1])
                reply = given if isinstance(given, Reply) else Reply(json.dumps(given).encode())
                pieces = [reply.body] if isinstance(reply.body, bytes) else reply.body
                try:
                    self.send_response(reply.status)
                    for name, value in reply.headers.items():
                        self.send_header(name, value)
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
        return f"http://127.0.0.1:{server.server_port}/act"

    def close(self) -> None:
        self.hold.set()
        for server, thread in self._servers:
            server.shutdown()
            thread.join()
            server.server_close()


@pytest.fixture
def servers() -> Iterator[PolicyServers]:
    found = PolicyServers()
    yield found
    found.close()


@pytest.fixture
def reply() -> type[Reply]:
    return Reply

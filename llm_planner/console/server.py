"""Web server of the console: the page, what it shows, what the person says, the 3D view, and the stop.

Every connection has a thread of its own. The page keeps one connection to `stop` open, whose thread waits for nothing
but that message: it stops the robot while every other part of the console hangs.
"""

from __future__ import annotations

import json
import logging
import threading
from collections.abc import Callable, Mapping
from contextlib import suppress
from http import HTTPStatus
from importlib.resources import files
from pathlib import Path
from ssl import PROTOCOL_TLS_SERVER, SSLContext, SSLError
from urllib.parse import parse_qs, urlsplit

from websockets.datastructures import Headers
from websockets.exceptions import ConnectionClosed, WebSocketException
from websockets.http11 import Request, Response
from websockets.sync.client import connect
from websockets.sync.server import Server, ServerConnection, serve
from websockets.typing import Origin, Subprotocol

from llm_planner.console.access import COOKIE, Access
from llm_planner.console.board import Board
from llm_planner.errors import InputError

MOST_BYTES = 16_384  # of one message of the page: words, or a tenth of a second of sound
MOST_CONNECTIONS = 40  # at once; a page takes three
PERIOD = 0.05  # [s] between two messages to a viewer
BEAT = 0.5  # [s] without a change, after which a viewer gets an empty message: the page knows that the server lives
TRIES = 20  # ports, from the one that is asked for on
TYPES = {".html": "text/html", ".js": "text/javascript", ".css": "text/css", ".svg": "image/svg+xml"}
POLICY = (
    "default-src 'self' 'unsafe-inline' 'unsafe-eval' data: blob:; connect-src 'self' ws: wss: data: blob:; "
    "frame-ancestors 'self'"
)
VIEW_STYLE = "<style>.mantine-Paper-root,.mantine-Notification-root,.viser-panel{display:none!important}</style>"
_log = logging.getLogger("llm_planner.console")
_log.addHandler(logging.NullHandler())
_log.propagate = False


def tls_context(certificate: str, key: str) -> SSLContext | None:
    """Return the context of a server with this certificate; None without one.

    Args:
        certificate: File of the certificate and those above it (PEM); "" for none.
        key: File of its key (PEM, without a password); "" where the certificate's file has it.

    Raises:
        InputError: A file is missing, is no certificate or key, or they do not belong together.
    """
    if not certificate:
        if key:
            raise InputError(f"key is {key}, and certificate is not given; give both, or neither for http")
        return None
    for name, text in (("certificate", certificate), ("key", key)):
        if text and not Path(text).expanduser().is_file():
            raise InputError(f"{name}: there is no file {text}")
    context = SSLContext(PROTOCOL_TLS_SERVER)
    try:
        found = str(Path(key).expanduser()) if key else None
        context.load_cert_chain(Path(certificate).expanduser(), found, lambda: "")
    except (SSLError, ValueError) as error:
        raise InputError(
            f"certificate {certificate} with key {key or certificate} cannot be used: {error}; they must be a "
            "certificate and its key in PEM, without a password"
        ) from error
    return context


Say = Callable[[Mapping[str, object]], None]
Hear = Callable[[bytes], None]


class ConsoleServer:
    """Serves the page until closed.

    Args:
        access: Who may use it.
        port: Port that is tried first; 0 for any that is free.
        board: What the page shows.
        say: Called with each request of a page, {"do": ..., ...}, in the thread of its connection.
        hear: Called with each piece of sound from a page's microphone.
        stop: Stops the robot and returns what became of it, for a person.
        view: Address (host, port) of viser's server, and the file with its client; None without a 3D view.
        tls: Certificate for https, as `tls_context` reads it; None for http.

    Raises:
        InputError: No port is free, or the address is not one of this machine.
    """

    def __init__(
        self,
        access: Access,
        port: int,
        board: Board,
        say: Say,
        hear: Hear,
        stop: Callable[[], str],
        view: tuple[str, int, Path] | None = None,
        tls: SSLContext | None = None,
    ) -> None:
        self._access, self._board, self._say, self._hear, self._stop = access, board, say, hear, stop
        self._view, self._tls = view, tls
        self._connections, self._lock = 0, threading.Lock()
        self._server = self._bound(access.host, port)
        self.port: int = self._server.socket.getsockname()[1]
        self.viewers = 0
        self._thread = threading.Thread(target=self._server.serve_forever, name="console", daemon=True)
        self._thread.start()

    @property
    def address(self) -> str:
        """Address for the person's browser, with the token if there is one."""
        host = self._access.host if self._access.host not in ("0.0.0.0", "::") else "127.0.0.1"
        host = f"[{host}]" if ":" in host else host
        scheme = "http" if self._tls is None else "https"
        return f"{scheme}://{host}:{self.port}/" + (f"?token={self._access.token}" if self._access.token else "")

    def close(self) -> None:
        """End all connections and the server."""
        self._board.close()
        self._server.shutdown()

    def _bound(self, host: str, port: int) -> Server:
        problem: OSError | None = None
        for candidate in range(port, port + (TRIES if port else 1)):
            try:
                return serve(
                    self._serve,
                    host,
                    candidate,
                    ssl=self._tls,
                    process_request=self._answer,
                    select_subprotocol=lambda _, offered: offered[0] if offered else None,
                    max_size=MOST_BYTES,
                    compression=None,
                    open_timeout=5.0,
                    close_timeout=1.0,
                    ping_interval=5.0,
                    ping_timeout=20.0,
                    server_header=None,
                    logger=_log,
                )
            except OSError as error:
                problem = error
        raise InputError(
            f"the console cannot listen on {host}, ports {port} to {port + TRIES - 1}: {problem}; choose another "
            "port, or an address of this machine as host"
        )

    # Requests

    def _answer(self, connection: ServerConnection, request: Request) -> Response | None:
        """Serve a file, or let a WebSocket through."""
        target, is_socket = urlsplit(request.path), "Upgrade" in request.headers
        said = parse_qs(target.query).get("token", [""])[0]
        if self._access.token and said and not is_socket and self._access.is_token(said):
            cookie = f"{COOKIE}={self._access.token}; HttpOnly; SameSite=Strict; Path=/"
            cookie += "" if self._tls is None else "; Secure"
            return _response(HTTPStatus.SEE_OTHER, b"", {"Location": target.path, "Set-Cookie": cookie})
        try:
            refusal = self._access.refusal(dict(request.headers.raw_items()), is_socket)
        except ValueError:
            refusal = "the headers of the request cannot be read"
        if refusal:
            return _response(HTTPStatus.FORBIDDEN, refusal.encode(), {"Content-Type": "text/plain; charset=utf-8"})
        if not is_socket:
            return self._file(target.path)
        if target.path not in ("/events", "/stop", "/view"):
            return _response(HTTPStatus.NOT_FOUND, b"there is no such connection")
        with self._lock:
            if self._connections >= MOST_CONNECTIONS and target.path != "/stop":
                return _response(HTTPStatus.SERVICE_UNAVAILABLE, b"too many viewers; close a page")
        return None

    def _file(self, path: str) -> Response:
        if path == "/view/" and self._view is not None:
            page = self._view[2].read_text(encoding="utf-8").replace("<head>", f"<head>{VIEW_STYLE}", 1)
            return _response(HTTPStatus.OK, page.encode(), {"Content-Type": "text/html; charset=utf-8"})
        name = path.lstrip("/") or "index.html"
        file = files("llm_planner.console") / "page" / name
        if "/" in name or Path(name).suffix not in TYPES or not file.is_file():
            return _response(HTTPStatus.NOT_FOUND, b"there is no such page")
        kind = f"{TYPES[Path(name).suffix]}; charset=utf-8"
        return _response(HTTPStatus.OK, file.read_bytes(), {"Content-Type": kind})

    # WebSockets

    def _serve(self, connection: ServerConnection) -> None:
        serve_one = {"/events": self._serve_page, "/stop": self._serve_stop, "/view": self._serve_view}
        path = urlsplit(connection.request.path).path if connection.request else ""
        with self._lock:
            self._connections += 1
        try:
            serve_one[path](connection)
        except (WebSocketException, OSError, EOFError):
            return
        finally:
            with self._lock:
                self._connections -= 1

    def _serve_page(self, connection: ServerConnection) -> None:
        """Send changes, at most every `PERIOD`, while another thread takes what the page says."""
        with self._lock:
            self.viewers += 1
        try:
            threading.Thread(target=self._listen, args=(connection,), name="console words", daemon=True).start()
            version = 0
            pause = threading.Event()
            while not self._board.is_closed:
                version, text = self._board.since(version, BEAT)
                connection.send(text)
                pause.wait(PERIOD)
        finally:
            with self._lock:
                self.viewers -= 1

    def _listen(self, connection: ServerConnection) -> None:
        with suppress(ConnectionClosed):
            for message in connection:
                if isinstance(message, bytes):
                    self._hear(message)
                    continue
                try:
                    request = json.loads(message)
                except (ValueError, RecursionError):
                    request = None
                if not isinstance(request, dict):
                    connection.close(1003, "a request is one JSON object")
                    return
                self._say(request)

    def _serve_stop(self, connection: ServerConnection) -> None:
        """Stop at every message, and answer with what became of it."""
        for _ in connection:
            connection.send(self._stop())

    def _serve_view(self, connection: ServerConnection) -> None:
        """Pass the messages of viser's server and client on, both ways."""
        if self._view is None:
            return
        host, port, _ = self._view
        wanted = [Subprotocol(connection.subprotocol)] if connection.subprotocol else None
        with connect(
            f"ws://{host}:{port}/",
            subprotocols=wanted,
            origin=Origin(f"http://{host}:{port}"),
            compression=None,
            max_size=None,
            proxy=None,
            open_timeout=5.0,
            close_timeout=1.0,
            ping_interval=None,
        ) as upstream:

            def pass_up() -> None:
                with suppress(WebSocketException, OSError):
                    for message in connection:
                        upstream.send(message)
                upstream.close()

            threading.Thread(target=pass_up, name="console view", daemon=True).start()
            for message in upstream:
                connection.send(message)


def _response(status: HTTPStatus, body: bytes, headers: Mapping[str, str] | None = None) -> Response:
    fields = Headers(
        {
            "Content-Length": str(len(body)),
            "Connection": "close",
            "Cache-Control": "no-store",
            "X-Content-Type-Options": "nosniff",
            "Referrer-Policy": "no-referrer",
            "Content-Security-Policy": POLICY,
            **(headers or {}),
        }
    )
    return Response(status.value, status.phrase, fields, body)

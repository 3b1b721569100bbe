"""The web server of the console over real sockets: pages, viewers, words, stop, and those who may not."""

from __future__ import annotations

import http.client
import json
import shutil
import ssl
import subprocess
import threading
from collections.abc import Callable
from contextlib import suppress

import pytest

pytest.importorskip("websockets", reason="the console needs the package websockets")

from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.sync.client import connect

from llm_planner.console.access import COOKIE, Access
from llm_planner.console.board import Board
from llm_planner.console.server import MOST_BYTES, ConsoleServer, tls_context
from llm_planner.errors import InputError

PATIENCE = 20.0  # [s]
LOCAL = Access.to("127.0.0.1")


class Robot:
    """What the server's callbacks did; `hangs` keeps those for words from returning."""

    def __init__(self) -> None:
        self.said: list[object] = []
        self.heard: list[bytes] = []
        self.stops = 0
        self.hangs = threading.Event()
        self.arrived = threading.Event()

    def say(self, request) -> None:
        self.said.append(request)
        self.arrived.set()
        if request.get("do") == "hang":
            self.hangs.wait(PATIENCE)

    def hear(self, sound: bytes) -> None:
        self.heard.append(sound)
        self.arrived.set()

    def stop(self) -> str:
        self.stops += 1
        return "Stopped"


class Console:
    def __init__(self, access: Access = LOCAL, port: int = 0, tls: ssl.SSLContext | None = None) -> None:
        self.robot, self.board = Robot(), Board()
        say, hear, stop = self.robot.say, self.robot.hear, self.robot.stop
        self.server = ConsoleServer(access, port, self.board, say, hear, stop, tls=tls)
        self.place = f"127.0.0.1:{self.server.port}"

    def open(self, path: str, origin: str | None = "", **headers: str):
        origin = f"http://{self.place}" if origin == "" else origin
        return connect(f"ws://{self.place}{path}", origin=origin, additional_headers=headers, proxy=None, max_size=None)

    def get(self, path: str, **headers: str) -> tuple[int, dict[str, str], bytes]:
        request = http.client.HTTPConnection("127.0.0.1", self.server.port, timeout=PATIENCE)
        request.request("GET", path, headers=headers)
        answer = request.getresponse()
        found = answer.status, dict(answer.getheaders()), answer.read()
        request.close()
        return found

    def close(self) -> None:
        self.robot.hangs.set()
        self.server.close()


@pytest.fixture
def console():
    made: list[Console] = []

    def make(*arguments, **options) -> Console:
        made.append(Console(*arguments, **options))
        return made[-1]

    yield make
    for one in made:
        one.close()


def received_until_closed(viewer) -> None:
    while True:
        viewer.recv(PATIENCE)


def until(condition: Callable[[], bool]) -> None:
    waiting = threading.Event()
    for _ in range(int(PATIENCE / 0.02)):
        if condition():
            return
        waiting.wait(0.02)
    raise AssertionError("it did not come true in time")


def test_the_page_and_its_parts_are_served_and_nothing_else(console):
    one = console()
    for path, kind in (("/", "text/html"), ("/console.js", "text/javascript"), ("/console.css", "text/css")):
        status, headers, body = one.get(path)
        assert (status, headers["Content-Type"]) == (200, f"{kind}; charset=utf-8")
        assert headers["Content-Security-Policy"].startswith("default-src 'self'")
        assert body
    for path in ("/../server.py", "/%2e%2e/server.py", "/server.py", "/page/console.js", "//etc/passwd", "/view/"):
        assert one.get(path)[0] == 404, path


def test_the_page_names_no_other_server(console):
    one = console()
    text = "".join(one.get(path)[2].decode() for path in ("/", "/console.js", "/console.css"))
    assert "https://" not in text
    assert "http://" not in text.replace("http://www.w3.org", "")


def test_every_viewer_gets_the_newest_state_and_then_the_changes(console):
    one = console()
    one.board.put("plan", {"state": "running"})
    with one.open("/events") as first, one.open("/events") as second:
        assert json.loads(first.recv(PATIENCE)) == {"plan": {"state": "running"}}
        assert json.loads(second.recv(PATIENCE)) == {"plan": {"state": "running"}}
        one.board.put("plan", {"state": "done"})
        for viewer in (first, second):
            news: dict[str, object] = {}
            while not news:
                news = json.loads(viewer.recv(PATIENCE))
            assert news == {"plan": {"state": "done"}}


def test_a_viewer_hears_of_a_living_server_while_nothing_changes(console):
    with console().open("/events") as viewer:
        assert viewer.recv(PATIENCE) == "{}"
        assert viewer.recv(PATIENCE) == "{}"


def test_words_and_sound_arrive(console):
    one = console()
    with one.open("/events") as viewer:
        viewer.send(json.dumps({"do": "say", "words": "slower"}))
        assert one.robot.arrived.wait(PATIENCE)
        viewer.send(b"\x01\x02")
        until(lambda: one.robot.heard == [b"\x01\x02"])
    assert one.robot.said == [{"do": "say", "words": "slower"}]


def test_a_stop_works_while_everything_else_hangs(console):
    one = console()
    with one.open("/events") as viewer, one.open("/stop") as stop:
        viewer.send(json.dumps({"do": "hang"}))
        assert one.robot.arrived.wait(PATIENCE)
        stop.send("stop")
        assert stop.recv(PATIENCE) == "Stopped"
    assert one.robot.stops == 1


@pytest.mark.parametrize("text", ["no JSON", "[1]", '"stop"', "", "[" * 15_000])
def test_a_malformed_request_ends_its_connection_only(console, text):
    one = console()
    with one.open("/events") as bad, one.open("/events") as good:
        bad.send(text)
        with suppress(ConnectionClosed):
            received_until_closed(bad)
        good.send(json.dumps({"do": "say", "words": "slower"}))
        assert one.robot.arrived.wait(PATIENCE)
    assert one.robot.said == [{"do": "say", "words": "slower"}]


def test_a_huge_message_is_refused(console):
    one = console()
    with one.open("/events") as viewer:
        viewer.send(json.dumps({"do": "say", "words": "x" * MOST_BYTES}))
        with pytest.raises(ConnectionClosed):
            received_until_closed(viewer)
    assert one.robot.said == []


@pytest.mark.parametrize("path", ["/events", "/stop", "/view"])
@pytest.mark.parametrize("origin", ["http://evil.example", "null", None])
def test_another_page_moves_and_sees_nothing(console, path, origin):
    one = console()
    with pytest.raises(InvalidStatus) as refused, one.open(path, origin=origin):
        pass
    assert refused.value.response.status_code == 403
    assert one.robot.stops == 0


def test_another_host_name_sees_nothing(console):
    status, _, body = console().get("/", Host="evil.example")
    assert status == 403
    assert b"parameter names" in body


def test_a_token_opens_the_page_and_its_connections(console):
    one = console(Access.to("127.0.0.1", token="a_secret"))
    assert one.get("/")[0] == 403
    assert one.get("/?token=guess")[0] == 403
    with pytest.raises(InvalidStatus), one.open("/stop"):
        pass
    with pytest.raises(InvalidStatus), one.open("/stop?token=a_secret"):
        pass
    assert one.server.address.endswith("/?token=a_secret")
    status, headers, _ = one.get("/?token=a_secret")
    assert (status, headers["Location"]) == (303, "/")
    assert headers["Set-Cookie"] == f"{COOKIE}=a_secret; HttpOnly; SameSite=Strict; Path=/"
    assert one.get("/", Cookie=f"{COOKIE}=a_secret")[0] == 200
    with one.open("/stop", Cookie=f"{COOKIE}=a_secret") as stop:
        stop.send("stop")
        assert stop.recv(PATIENCE) == "Stopped"
    assert one.robot.stops == 1


@pytest.fixture(scope="module")
def certificate(tmp_path_factory) -> tuple[str, str]:
    """Files of a certificate for 127.0.0.1 and of its key."""
    folder = tmp_path_factory.mktemp("tls")
    made = f"openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 -subj /CN=robot \
        -addext subjectAltName=IP:127.0.0.1 -keyout {folder}/key.pem -out {folder}/certificate.pem"
    subprocess.run(made.split(), check=True, capture_output=True)
    return f"{folder}/certificate.pem", f"{folder}/key.pem"


@pytest.mark.skipif(shutil.which("openssl") is None, reason="no openssl is installed (Debian: apt install openssl)")
def test_with_a_certificate_page_words_and_stop_are_encrypted(console, certificate):
    one = console(Access.to("127.0.0.1", token="a_secret"), tls=tls_context(*certificate))
    trusting = ssl.create_default_context(cafile=certificate[0])
    request = http.client.HTTPSConnection("127.0.0.1", one.server.port, timeout=PATIENCE, context=trusting)
    request.request("GET", "/?token=a_secret")
    answer = request.getresponse()
    assert (answer.status, one.server.address[:8]) == (303, "https://")
    assert answer.headers["Set-Cookie"].endswith("; Secure")
    request.close()
    cookie = {"Cookie": f"{COOKIE}=a_secret"}
    address, origin = f"wss://{one.place}/stop", f"https://{one.place}"
    with connect(address, origin=origin, additional_headers=cookie, ssl=trusting, proxy=None) as stop:
        stop.send("stop")
        assert stop.recv(PATIENCE) == "Stopped"


@pytest.mark.skipif(shutil.which("openssl") is None, reason="no openssl is installed (Debian: apt install openssl)")
def test_a_certificate_that_cannot_be_used_is_an_error(certificate):
    file, key = certificate
    assert tls_context("", "") is None
    with pytest.raises(InputError, match=r"certificate: there is no file /none.pem"):
        tls_context("/none.pem", key)
    with pytest.raises(InputError, match=r"certificate is not given; give both"):
        tls_context("", key)
    with pytest.raises(InputError, match=r"must be a certificate and its key in PEM"):
        tls_context(key, file)


def test_viewers_that_go_leave_nothing_behind(console):
    one = console()
    with one.open("/events") as viewer:
        viewer.recv(PATIENCE)
        threads = threading.active_count()
    for _ in range(20):
        with one.open("/events") as viewer:
            viewer.recv(PATIENCE)
    until(lambda: one.server.viewers == 0)
    until(lambda: threading.active_count() <= threads)


def test_a_taken_port_gives_the_next_one_and_a_strange_address_an_error(console):
    first = console()
    second = console(port=first.server.port)
    assert second.server.port != first.server.port
    with pytest.raises(InputError, match=r"cannot listen on 192\.0\.2\.1, ports 8090"):
        ConsoleServer(
            Access.to("192.0.2.1"), 8090, Board(), lambda request: None, lambda sound: None, lambda: "Stopped"
        )

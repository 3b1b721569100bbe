"""Who reaches the tool server: by HTTP only from this machine or with the secret, and never a web page."""

from __future__ import annotations

import json

import anyio
import pytest

pytest.importorskip("mcp", reason="the extra mcp is not installed")

from mcp.server.mcpserver import MCPServer

from llm_planner.cli.main import main
from llm_planner.mcp.server import BODY_MAX, http_app

HELLO = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}},
}
USUAL = {"host": "127.0.0.1:8765", "accept": "application/json, text/event-stream", "content-type": "application/json"}


def status(headers=None, token="", body=None, **options):
    """The status with which a request to initialise is answered."""
    server, sent = MCPServer("test"), []
    app = http_app(server, "127.0.0.1", token, **options)
    given = [(name.encode(), value.encode()) for name, value in {**USUAL, **(headers or {})}.items()]
    scope = {
        "type": "http", "asgi": {"version": "3.0"}, "http_version": "1.1", "method": "POST", "scheme": "http",
        "path": "/mcp", "raw_path": b"/mcp", "query_string": b"", "root_path": "", "headers": given,
        "client": ("127.0.0.1", 1), "server": ("127.0.0.1", 8765),
    }  # fmt: skip

    async def receive():
        if sent:
            await anyio.sleep_forever()
        return {
            "type": "http.request",
            "body": json.dumps(HELLO).encode() if body is None else body,
            "more_body": False,
        }

    async def main():
        async def send(message):
            sent.append(message)
            if message["type"] == "http.response.start":
                scope_of_test.cancel()

        async with server.session_manager.run():
            with anyio.fail_after(20), anyio.CancelScope() as scope_of_test:
                await app(scope, receive, send)

    anyio.run(main)
    return sent[0]["status"]


def test_this_machine_is_answered():
    assert status() == 200


@pytest.mark.parametrize(
    ("headers", "code"),
    [
        ({"host": "evil.example"}, 421),
        ({"host": "127.0.0.1.evil.example:8765"}, 421),
        ({"origin": "http://evil.example"}, 403),
        ({"origin": "null"}, 403),
        ({"origin": "http://localhost.evil.example"}, 403),
    ],
)
def test_a_web_page_is_refused(headers, code):
    assert status(headers) == code


def test_a_name_that_the_operator_gives_is_a_host():
    assert status({"host": "robot.lan:8765"}, names=("robot.lan",)) == 200


@pytest.mark.parametrize(
    ("given", "code"),
    [("Bearer s3cret", 200), ("Bearer s3cre", 401), ("s3cret", 401), ("Bearer ", 401), ("Bearer \xff", 401)],
)
def test_the_secret_is_wanted_where_there_is_one(given, code):
    assert status({"authorization": given}, token="s3cret") == code


def test_a_request_that_is_too_large_is_refused():
    assert status(body=b"x" * (BODY_MAX + 1)) == 413


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["--http", "0.0.0.0:8765"], "set a secret in LLM_PLANNER_MCP_TOKEN"),
        (["--http", "here"], "give a port"),
        (["--http", "0"], "give a port"),
        (["--lease", "0"], "it may be 1 to 3600 s"),
        (["--objects", "mug"], "go with --simulate"),
        (["--simulate", "moon"], "moon"),
    ],
)
def test_wrong_options_are_refused_with_the_next_step(arguments, told, capsys, monkeypatch):
    monkeypatch.delenv("LLM_PLANNER_MCP_TOKEN", raising=False)
    assert main(["mcp", *arguments]) == 1
    assert told in capsys.readouterr().err

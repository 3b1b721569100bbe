"""The MCP server: its tools, resources and prompts, and the ways to reach them."""

from __future__ import annotations

import hmac
import json
import threading
from collections.abc import Awaitable, Callable, Sequence
from functools import wraps
from pathlib import Path
from typing import Any, ParamSpec

import anyio
from anyio.to_thread import run_sync
from mcp.server.mcpserver import MCPServer
from mcp.server.mcpserver.exceptions import MCPServerError, ResourceError, ToolError
from mcp.server.transport_security import TransportSecuritySettings
from pydantic import ValidationError
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Receive, Scope, Send

from llm_planner import __version__
from llm_planner.errors import LlmPlannerError
from llm_planner.execution.journal import as_text
from llm_planner.http_client import LOOPBACK
from llm_planner.language.prompt import system_prompt
from llm_planner.mcp.robot import Robot
from llm_planner.mcp.tools import CANCEL_MAX, Tools, check_readable
from llm_planner.planning.report import constraint_json, scene_json, step_json
from llm_planner.text import shortened

JOURNAL_SHOWN, RECORD_SHOWN = 50, 300  # records, and characters of each
BODY_MAX = 128 * 1024  # [bytes] of an HTTP request
SESSIONS_MAX = 16
NAME_SHOWN = 40  # [characters] of a name that an agent made up

P = ParamSpec("P")


class _Server(MCPServer):
    """Server that names what is wrong with arguments in one line, with the valid ones."""

    async def call_tool(self, name: str, arguments: dict[str, Any], context: Any = None) -> Any:
        """Call a tool. A name that it does not have is refused; tools without parameters, as stop, ignore arguments."""
        known = {tool.name: tool for tool in await self.list_tools()}
        if name not in known:
            raise ToolError(f"there is no tool {name[:NAME_SHOWN]!r}; the tools are: {', '.join(known)}")
        takes = list(known[name].input_schema.get("properties", ()))
        unknown = [given for given in arguments if given not in takes] if takes else []
        if unknown:
            raise ToolError(f"{name} takes no {unknown[0][:NAME_SHOWN]!r}; it takes: {', '.join(takes)}")
        try:
            return await super().call_tool(name, arguments, context)
        except ToolError as error:
            if not isinstance(error.__cause__, ValidationError):
                raise
            raise ToolError(_flaws(error.__cause__, name, takes)) from error.__cause__


def _flaws(error: ValidationError, name: str, takes: Sequence[str]) -> str:
    """Return what is wrong with arguments, without the values that may be long."""
    flaws = [f"{'.'.join(map(str, one['loc']))}: {one['msg']}" for one in error.errors()]
    return f"{name} takes {', '.join(takes)}; {'; '.join(flaws)}"


def make_server(robot: Robot, tools: Tools) -> MCPServer:
    """Return the server of `tools` on `robot`."""
    instructions = (Path(__file__).parent / "instructions.md").read_text(encoding="utf-8")
    server = _Server("llm_planner", title="Robot", instructions=instructions, version=__version__, log_level="WARNING")
    counted = _counted(tools)
    for name, method in vars(Tools).items():
        if options := getattr(method, "tool", None):
            server.tool(**options)(counted(getattr(tools, name)))
    _add_resources(server, robot, tools)
    _add_prompts(server)
    return server


def _add_resources(server: MCPServer, robot: Robot, tools: Tools) -> None:
    counted = _counted(tools, ResourceError)

    @server.resource("llm-planner://scene", mime_type="application/json")
    @counted
    async def scene() -> str:
        """The scene now: objects with poses and sizes [m], what is held, rooms."""
        seen = await run_sync(robot.scene)
        check_readable(seen)
        return json.dumps(scene_json(seen), ensure_ascii=False)

    @server.resource("llm-planner://plan", mime_type="application/json")
    @counted
    async def plan() -> str:
        """The plan of the last preview: program, steps, constraints."""
        made = tools.plan_made
        if made is None:
            return json.dumps({"program": "", "steps": [], "constraints": []})
        steps, constraints = list(map(step_json, made.steps)), list(map(constraint_json, made.constraints))
        return json.dumps({"program": made.program, "steps": steps, "constraints": constraints}, ensure_ascii=False)

    @server.resource("llm-planner://journal", mime_type="text/plain")
    @counted
    async def journal() -> str:
        """The last records of what was commanded, planned, edited and done, one a line."""
        records = (await run_sync(robot.journal))[-JOURNAL_SHOWN:]
        return "\n".join(
            f"{record.kind.value} {record.command_id[:8]} {shortened(as_text(record), RECORD_SHOWN)}"
            for record in records
        )

    @server.resource("llm-planner://program-language", mime_type="text/plain")
    @counted
    async def program_language() -> str:
        """How to write a policy program for this robot and scene: the subset of Python, skills, queries, examples."""
        seen = await run_sync(robot.scene)
        check_readable(seen)
        prompt = system_prompt(seen, await run_sync(robot.skills))
        return prompt.partition("\n\n")[2]  # without the role of the planner's own model


def _add_prompts(server: MCPServer) -> None:
    @server.prompt()
    def do_task(task: str) -> str:
        """Do a task with the robot, carefully."""
        return (
            f"Do this with the robot: {task}\n\nFirst see_scene. If the task leaves open which thing is meant, ask me. "
            "Then plan it and tell me the steps in one or two sentences; if they do more or less than the task says, "
            "change the words. Then execute it, answer the robot's questions only as I would, and at the end compare "
            "see_scene with the task and tell me plainly what is done and what is not."
        )

    @server.prompt()
    def explain_last_run() -> str:
        """Explain what the robot did last, and why it ended so."""
        return (
            "Read llm-planner://journal and status, and tell me in a few sentences what the robot was asked to do, "
            "which steps it did, which rules it kept, and how and why it ended. Quote the robot's own reasons; do not "
            "guess others."
        )


def _counted(
    tools: Tools, error_type: type[MCPServerError] = ToolError
) -> Callable[[Callable[P, Awaitable[Any]]], Callable[P, Awaitable[Any]]]:
    """Count calls as open for the lease, and raise errors on purpose as the SDK passes them on."""

    def decorate(tool: Callable[P, Awaitable[Any]]) -> Callable[P, Awaitable[Any]]:
        @wraps(tool)
        async def called(*args: P.args, **kwargs: P.kwargs) -> Any:
            with tools.call():
                try:
                    return await tool(*args, **kwargs)
                except LlmPlannerError as error:
                    raise error_type(str(error)) from error

        return called

    return decorate


# Ways to reach it


def serve_stdio(robot: Robot, lease: float) -> None:
    """Serve the one agent at standard input and output until it closes them; its run is stopped then."""
    _serve(robot, lease, lambda server: server.run_stdio_async())


def serve_http(robot: Robot, lease: float, host: str, port: int, token: str, names: tuple[str, ...] = ()) -> None:
    """Serve agents at http://host:port/mcp until interrupted.

    Args:
        token: That requests must bring as `Authorization: Bearer TOKEN`; "" for none.
        names: Other names of this machine that requests may name as their host.
    """
    import uvicorn

    async def serve(server: MCPServer) -> None:
        app = http_app(server, host, token, names)
        config = uvicorn.Config(app, host=host, port=port, log_level="warning", timeout_graceful_shutdown=2)
        await uvicorn.Server(config).serve()

    _serve(robot, lease, serve)


def http_app(server: MCPServer, host: str, token: str, names: tuple[str, ...] = ()) -> ASGIApp:
    """Return the application, which checks Host and Origin against DNS rebinding, and the token."""
    hosts = [f"[{name}]" if ":" in name else name for name in (*LOOPBACK, host, *names)]
    security = TransportSecuritySettings(
        allowed_hosts=[*hosts, *(f"{name}:*" for name in hosts)],
        allowed_origins=[
            f"{scheme}://{name}{port}" for scheme in ("http", "https") for name in hosts for port in ("", ":*")
        ],
    )
    app = server.streamable_http_app(
        transport_security=security, max_request_body_size=BODY_MAX, max_sessions=SESSIONS_MAX, host=host
    )
    return _WithToken(app, token) if token else app


class _WithToken:
    """Refuses requests without the token."""

    def __init__(self, app: ASGIApp, token: str) -> None:
        self._app, self._wanted = app, f"Bearer {token}".encode()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            given = dict(scope["headers"]).get(b"authorization", b"")
            if not hmac.compare_digest(given, self._wanted):
                refused = PlainTextResponse("give the token: Authorization: Bearer TOKEN", 401)
                return await refused(scope, receive, send)
        return await self._app(scope, receive, send)


def _serve(robot: Robot, lease: float, serve: Callable[[MCPServer], Awaitable[None]]) -> None:
    tools, ended = Tools(robot, lease), threading.Event()

    async def watch() -> None:
        while not ended.is_set():
            tools.check_lease()
            await anyio.sleep(1.0)

    async def main() -> None:
        async with anyio.create_task_group() as group:
            group.start_soon(watch)
            try:
                await serve(make_server(robot, tools))
            finally:
                ended.set()
                with anyio.move_on_after(CANCEL_MAX, shield=True):
                    command = tools.end_run("the agent is gone")
                    while command is not None and not command.is_done:
                        await anyio.sleep(0.05)
                group.cancel_scope.cancel()

    anyio.run(main)

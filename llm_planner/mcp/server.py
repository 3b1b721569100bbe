"""The MCP server: the tools with the words that a model reads, resources, prompts, and the ways to reach them."""

from __future__ import annotations

import hmac
import json
import threading
from collections.abc import Awaitable, Callable
from functools import wraps
from pathlib import Path
from typing import Annotated, Any, ParamSpec

import anyio
from anyio.to_thread import run_sync
from mcp.server.mcpserver import Context, MCPServer
from mcp.server.mcpserver.exceptions import MCPServerError, ResourceError, ToolError
from mcp.server.transport_security import TransportSecuritySettings
from mcp_types import CallToolResult, ImageContent, TextContent, ToolAnnotations
from pydantic import Field
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Receive, Scope, Send

from llm_planner import __version__
from llm_planner.errors import LlmPlannerError
from llm_planner.execution.journal import as_text
from llm_planner.http_client import LOOPBACK
from llm_planner.language.prompt import system_prompt
from llm_planner.mcp.results import RobotResult
from llm_planner.mcp.robot import Robot
from llm_planner.mcp.tools import CANCEL_MAX, WAIT_MAX, Report, Tools, check_readable
from llm_planner.planning.report import constraint_json, scene_json, step_json

WORDS_MAX, PROGRAM_MAX, RULE_MAX = 1000, 20_000, 500  # [characters]
JOURNAL_SHOWN = 50  # records
BODY_MAX = 128 * 1024  # [bytes] of an HTTP request
SESSIONS_MAX = 16

P = ParamSpec("P")
Words = Annotated[str, Field(max_length=WORDS_MAX)]
Sentence = Annotated[
    str, Field("", max_length=WORDS_MAX, description="what to do, in plain English; leave it out with a program")
]
Program = Annotated[
    str,
    Field(
        "",
        max_length=PROGRAM_MAX,
        description="a policy program instead of a sentence (see the resource llm-planner://program-language). It is "
        "checked and rehearsed like any other plan, and keeps your rules",
    ),
]
Wait = Annotated[
    float,
    Field(30.0, ge=0.0, le=WAIT_MAX, description="longest time [s] that this call follows the run; the run goes on"),
]
Rule = Annotated[str, Field(min_length=1, max_length=RULE_MAX, description="in plain English")]
Picture = Annotated[bool, Field(False, description="also return a picture (PNG)")]
RobotCall = Annotated[CallToolResult, RobotResult]
LOOKS = ToolAnnotations(read_only_hint=True, destructive_hint=False, idempotent_hint=True, open_world_hint=False)
MOVES = ToolAnnotations(read_only_hint=False, destructive_hint=True, idempotent_hint=False, open_world_hint=True)
SETS = ToolAnnotations(read_only_hint=False, destructive_hint=False, idempotent_hint=True, open_world_hint=False)
STOPS = ToolAnnotations(read_only_hint=False, destructive_hint=False, idempotent_hint=True, open_world_hint=True)


def make_server(robot: Robot, tools: Tools) -> MCPServer:
    """Return the server of `tools` on `robot`."""
    instructions = (Path(__file__).parent / "instructions.md").read_text(encoding="utf-8")
    server = MCPServer(
        "llm_planner", title="Robot", instructions=instructions, version=__version__, log_level="WARNING"
    )
    _add_looking(server, tools)
    _add_moving(server, tools)
    _add_rules(server, tools)
    _add_resources(server, robot, tools)
    _add_prompts(server)
    return server


def _add_looking(server: MCPServer, tools: Tools) -> None:
    counted = _counted(tools)

    @server.tool(annotations=LOOKS, structured_output=False)
    @counted
    async def see_scene(with_picture: Picture = False) -> list[TextContent | ImageContent]:
        """See what is where now: the robot, bounds, and each thing with name, kind, colour, position [m], size [m] and
        what it is in or on, as JSON lines. Use these names in commands. Nothing moves."""
        text, drawn = await tools.see_scene(with_picture)
        return [TextContent(type="text", text=text), *([drawn] if drawn else [])]

    @server.tool(annotations=LOOKS, structured_output=False)
    @counted
    async def list_skills() -> str:
        """List what the robot can do: each skill with parameters, bounds, units, what it needs and what it leads to.
        Sentences need no skill names; programs call skills by these names. Nothing moves."""
        return await tools.list_skills()

    @server.tool(annotations=LOOKS)
    @counted
    async def plan(command: Sentence = "", program: Program = "", with_picture: Picture = False) -> RobotCall:
        """Preview a command: how it is understood, the steps, the program and the rules, after all checks and a
        rehearsal; or the question or refusal that execute would give. The picture shows the way of the motion. Nothing
        moves, also while a run is under way."""
        result, drawn = await tools.plan(command, program, with_picture)
        return result.shown(drawn)

    @server.tool(annotations=LOOKS)
    @counted
    async def status(ctx: Context, wait_seconds: Wait = 0.0) -> RobotCall:
        """Tell how the run stands: steps, what the robot says, and its end. With wait_seconds it follows your run until
        that ends. Once you know its end, it shows the newest run of anybody."""
        return (await tools.status(wait_seconds, _report(ctx))).shown(is_news=False)


def _add_moving(server: MCPServer, tools: Tools) -> None:
    counted = _counted(tools)

    @server.tool(annotations=MOVES)
    @counted
    async def execute(
        ctx: Context, command: Sentence = "", program: Program = "", wait_seconds: Wait = 30.0
    ) -> RobotCall:
        """Have the robot do something: it MOVES if the plan passes all checks. Returns when it is done, when the robot
        asks or refuses, or after wait_seconds with outcome `running`; then follow it with status. `done` is measured in
        the scene. Cancelling this call stops the robot."""
        return (await tools.execute(command, program, wait_seconds, _report(ctx))).shown()

    @server.tool(annotations=MOVES)
    @counted
    async def answer(ctx: Context, words: Words, wait_seconds: Wait = 30.0) -> RobotCall:
        """Answer the robot's question (outcome `question`), e.g. "the blue one", "yes". It goes on with what raised the
        question: a preview stays a preview, an execute moves. Answer only what your user has said or clearly wants."""
        return (await tools.answer(words, wait_seconds, _report(ctx))).shown()

    @server.tool(annotations=MOVES)
    @counted
    async def correct(words: Words) -> RobotCall:
        """Change your run while the robot moves: "slower", "a bit to the left", "no, the blue one", "also put the mug
        in the bowl", "wait", "go on", "undo". The changed plan is checked before it takes effect; finished steps stay
        finished. Runs that a person commanded cannot be corrected, only stopped."""
        return (await tools.correct(words)).shown()

    @server.tool(annotations=STOPS)
    @counted
    async def stop() -> RobotCall:
        """Stop the robot now, whoever commanded it, and drop its plan. Works while other calls are open, and asks no
        language model. It does not replace the emergency stop."""
        return (await tools.stop()).shown()


def _add_rules(server: MCPServer, tools: Tools) -> None:
    counted = _counted(tools)

    @server.tool(annotations=LOOKS)
    @counted
    async def list_rules() -> RobotCall:
        """List the rules in force: those that you added for your commands, and those of the run under way."""
        return (await tools.list_rules()).shown()

    @server.tool(annotations=SETS)
    @counted
    async def add_rule(rule: Rule) -> RobotCall:
        """Add a rule that every later command of yours must keep, e.g. "never reach over the vase", "stay slower than
        0.1 m/s near the mug". It says how it was understood. A run of yours that is under way gets it too."""
        return (await tools.add_rule(rule)).shown()

    @server.tool(annotations=SETS)
    @counted
    async def remove_rule(rule: Rule) -> RobotCall:
        """Remove a rule that you added, by its exact words. Rules of people and of the operator cannot be removed."""
        return (await tools.remove_rule(rule)).shown()


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
            f"{record.kind.value} {record.command_id[:8]} {as_text(record)[:WORDS_MAX]}" for record in records
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


def _report(ctx: Context) -> Report:
    async def report(done: float, total: float | None, message: str) -> None:
        await ctx.report_progress(done, total, message)

    return report


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

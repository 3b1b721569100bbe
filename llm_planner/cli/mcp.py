"""`llm-planner mcp`: tools for other agents (Model Context Protocol), on a running system or a simulated one."""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from llm_planner.cli.talk import add_namespace_argument
from llm_planner.errors import InputError
from llm_planner.http_client import LOOPBACK

if TYPE_CHECKING:
    from llm_planner.mcp.robot import Robot

TOKEN = "LLM_PLANNER_MCP_TOKEN"
START_MAX = 300.0  # [s] for the nodes to come up; the first start on a loaded machine takes minutes
LEASE = 60.0  # [s]


def add_mcp_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--http", metavar="[HOST:]PORT", help="serve by streamable HTTP instead of standard input and output"
    )
    parser.add_argument(
        "--allowed-host", action="append", default=[], metavar="NAME", help="name of this machine that clients use"
    )
    add_namespace_argument(parser)
    parser.add_argument(
        "--lease", type=float, default=LEASE, metavar="SECONDS",
        help=f"an agent's run is stopped once no call came for so long (default {LEASE:g})",
    )  # fmt: skip
    parser.add_argument(
        "--simulate", metavar="WORLD", help="start a simulation of this world for it (as up --world does), to try it"
    )
    parser.add_argument("--objects", default="", help="with --simulate: what is in the scene")
    parser.add_argument("--seed", default="", help="with --simulate: lays the objects out")
    parser.add_argument(
        "--privileges", default="", metavar="FILE", help="with --simulate: policy; agents are the source mcp"
    )


def run_mcp(args: argparse.Namespace) -> int:
    """Serve until the agent closes standard input, or until interrupted.

    Raises:
        InputError: An option is wrong, the SDK is not installed, or the nodes cannot start.
    """
    from llm_planner.cli.processes import end_like_an_interrupt

    try:
        from llm_planner.mcp import server
    except ModuleNotFoundError as error:
        if (error.name or "").startswith("llm_planner"):
            raise
        raise InputError(f'{error.name} is not installed, which this needs: pip install "llm_planner[mcp]"') from error
    if not 1.0 <= args.lease <= 3600.0:
        raise InputError(f"--lease is {args.lease:g}; it may be 1 to 3600 s")
    host, port = _address(args.http) if args.http else ("", 0)
    token = os.environ.get(TOKEN, "")
    if args.http and host not in LOOPBACK and not token:
        raise InputError(
            f"--http {args.http} lets other machines command the robot: set a secret in {TOKEN} that they must bring, "
            f"or bind to this machine only (--http {port})"
        )
    end_like_an_interrupt()
    with _robot(args) as robot:
        if not args.http:
            server.serve_stdio(robot, args.lease)
            return 0
        print(f"http://{host}:{port}/mcp" + (" (with the token)" if token else ""), file=sys.stderr, flush=True)
        server.serve_http(robot, args.lease, host, port, token, tuple(args.allowed_host))
    return 0


def _address(text: str) -> tuple[str, int]:
    """Return host and port of `[HOST:]PORT`; raise InputError."""
    host, _, port = text.rpartition(":")
    if not port.isdecimal() or not 0 < int(port) < 2**16:
        raise InputError(f"--http is {text!r}; give a port, or a host and a port: 8765, 127.0.0.1:8765")
    return host.strip("[]") or "127.0.0.1", int(port)


@contextmanager
def _robot(args: argparse.Namespace) -> Iterator[Robot]:
    """Connect to the robot, of a simulation that is started for it if wanted."""
    from llm_planner.mcp.robot import Robot

    if not args.simulate:
        if args.objects or args.seed or args.privileges:
            raise InputError("--objects, --seed and --privileges go with --simulate; a running system has its own")
        with closing(Robot(args.namespace)) as robot:
            yield robot
        return
    from llm_planner.cli.processes import NodeProcesses, join_own_network
    from llm_planner.cli.system_options import requested_system

    folder = Path(tempfile.mkdtemp(prefix="llm-planner-mcp-"))
    given = {"world": args.simulate, "objects": args.objects, "seed": args.seed, "privileges": args.privileges}
    system = requested_system({name: text for name, text in given.items() if text}, journal=folder / "journal.sqlite")
    join_own_network()
    print(f"simulating {args.simulate}; logs: {folder}", file=sys.stderr, flush=True)
    entries = [entry for entry in system.entries if entry.name != "camera"]
    with (
        NodeProcesses(entries, system.options, folder / "nodes.log") as processes,
        closing(Robot(args.namespace, START_MAX, lambda: processes.check_alive("the simulation"))) as robot,
    ):
        yield robot

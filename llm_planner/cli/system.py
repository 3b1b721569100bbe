"""`llm-planner up` and `demo [TEXT]`: start the whole system; a demo executes one command and films it."""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable, Sequence
from contextlib import closing, suppress
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

from llm_planner.cli.film import Recorder, write_film
from llm_planner.cli.planning_options import add_rule_argument, requested_rules
from llm_planner.cli.processes import NodeProcesses, begin_imports, end_like_an_interrupt, join_own_network
from llm_planner.cli.system_options import USUAL_OBJECTS, add_system_options, requested_system
from llm_planner.errors import InputError, SimulationError
from llm_planner.simulation.worlds import read_shared_world

if TYPE_CHECKING:
    from llm_planner.cli.terminal import ProgressView
    from llm_planner.ros.client import CommandResult, SystemClient


DEFAULT_COMMANDS = {
    "tabletop": "put the red block in the green bowl",
    "rooms": "go to the lobby",
    "two_tables": "put the red block in the green bowl",
}
START_TIMEOUT = 300.0  # [s] for the nodes to come up; the first start on a loaded machine takes minutes
SLOW_START = 15.0  # [s] after which the display names the nodes that are not ready
PATIENCE = 30.0  # [s] the planner waits for scene and executor, since discovery is slow under load
AFTERMATH = 0.6  # [s] filmed after the end


def add_up_arguments(parser: argparse.ArgumentParser) -> None:
    add_system_options(parser, of_launch=True)


def run_up(args: argparse.Namespace) -> int:
    """Run the nodes until interrupted; raise InputError if a node cannot start."""
    from llm_planner.ros.other_systems import claim_system

    end_like_an_interrupt()
    begin_imports()
    system = requested_system(vars(args))
    with claim_system(system.names, on_network=True), NodeProcesses(system.entries, system.options) as processes:
        try:
            print(f"started: {', '.join(entry.label for entry in system.entries)}")
            namespace = next((entry.namespace for entry in system.entries if entry.namespace), system.options.namespace)
            to = f"--namespace {namespace} " if namespace else ""
            print(f'Tell the robot something from another terminal: llm-planner say {to}"…"')
            print("Interrupt (Ctrl-C) ends it all.")
            processes.supervise(lambda text: print(text, flush=True))
        except KeyboardInterrupt:
            print("ending the nodes")
    return 0


def add_demo_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("text", nargs="*", help="what the robot should do; something easy by default")
    add_system_options(parser)
    add_rule_argument(parser)
    parser.add_argument("--out", type=Path, help="folder for film and logs (default: runs/<date and time>)")
    parser.add_argument("--no-film", action="store_true", help="write no film and no picture")


def run_demo(args: argparse.Namespace) -> int:
    """Run the demo; return exit status 0 only if the simulator's scene shows that the goal was reached."""
    began = time.monotonic()
    end_like_an_interrupt()
    begin_imports()
    if read_shared_world(args.world) is not None:
        raise InputError(f"--world: a demo has one robot; start {args.world} with llm-planner up --world {args.world}")
    args.objects, rules = args.objects or USUAL_OBJECTS.get(args.world, ""), requested_rules(args)
    folder = args.out or Path("runs") / datetime.now().strftime("%Y-%m-%d_%H-%M-%S")
    system = requested_system(vars(args), journal=folder / "journal.sqlite")
    options = system.options
    robot = options.parameters["simulator"].get("robot", "arm")  # also where the parameters file names another
    parameters = {name: {"robot": robot, **given} for name, given in options.parameters.items()}
    parameters["language_planner"] = {"patience": str(PATIENCE), **parameters["language_planner"]}
    options = replace(options, parameters=parameters)
    folder.mkdir(parents=True, exist_ok=True)
    join_own_network()
    # No camera node unless a skill needs it, since the film is drawn afterwards.
    entries = [entry for entry in system.entries if entry.name != "camera" or args.camera == "true"]
    recorder = Recorder(time.monotonic)

    from llm_planner.ros.client import SystemClient  # takes its time while the nodes' modules are imported

    with (
        closing(SystemClient(robot=robot)) as client,
        NodeProcesses(entries, options, folder / "nodes.log") as processes,
    ):
        text = " ".join(args.text) or DEFAULT_COMMANDS[args.world]
        if not args.text and sys.stdin.isatty():  # ask while the nodes start
            print(f"There are: {args.objects}.")
            text = input(f"What should the robot do? (Enter: {text}) ").strip() or text
            began = time.monotonic()
        awaited = [entry.name for entry in entries if not entry.on_request]
        result = _carry_out(text, rules, client, processes, awaited, recorder, folder)
        _tell(result, recorder, began, folder)
        if args.console == "true" and sys.stdin.isatty():
            print("The page stays, and the robot takes commands there, until Ctrl-C.", flush=True)
            with suppress(KeyboardInterrupt):
                processes.supervise(lambda text: print(text, flush=True))
    if not args.no_film:
        _film(recorder, folder)
    return 0 if result.succeeded else 1


def _carry_out(
    text: str,
    rules: Sequence[str],
    client: SystemClient,
    processes: NodeProcesses,
    names: Sequence[str],
    recorder: Recorder,
    folder: Path,
) -> CommandResult:
    from llm_planner.cli.terminal import ProgressView

    log = folder / "nodes.log"

    def all_alive() -> None:
        processes.check_alive("the demo")

    client.watch_scene(recorder.on_scene)
    client.watch_joints(recorder.on_joints)
    with ProgressView(text) as view:
        client.watch_remarks(view.remark)
        _wait_until_ready(client, names, recorder, view, all_alive, log)
        for line in log.read_text(encoding="utf-8", errors="replace").splitlines():
            if line.startswith("The console is at"):
                view.console.print(line)
        result = client.execute(text, view.update, all_alive, rules=rules)
    client.spin_for(AFTERMATH)
    return result


def _wait_until_ready(
    client: SystemClient,
    names: Sequence[str],
    recorder: Recorder,
    view: ProgressView,
    all_alive: Callable[[], None],
    log: Path,
) -> None:
    """Wait until every node is ready and accepts commands; raise SystemUnreachableError that names what is missing."""
    from llm_planner.ros.client import Progress
    from llm_planner.ros.heartbeat_monitor import Readiness
    from llm_planner.ros.stop_client import SystemUnreachableError

    readiness, began = Readiness(client.node, names), time.monotonic()

    def still_hoping() -> None:
        all_alive()
        slow = time.monotonic() - began > SLOW_START
        waiting = f": waiting for {', '.join(readiness.missing)}" if slow and readiness.missing else ""
        view.update(Progress(f"the nodes are starting{waiting}", None, ()))

    try:
        client.wait_until(lambda: not readiness.missing and recorder.scene is not None, START_TIMEOUT, still_hoping)
        client.wait_for_system(START_TIMEOUT, still_hoping)
    except SystemUnreachableError:
        missing = (
            "; ".join(f"{name}: {lacks}" for name, lacks in readiness.missing.items()) or "no scene, or no planner"
        )
        raise SystemUnreachableError(
            f"the nodes did not come up within {START_TIMEOUT:g} s ({missing}). What they printed is in {log}; where "
            "the machine was busy, try again"
        ) from None


def _tell(result: CommandResult, recorder: Recorder, began: float, folder: Path) -> None:
    if recorder.moved_at is not None:
        print(f"The robot began to move {recorder.moved_at - began:.1f} s after the command.")
    if result.succeeded:
        print(f"Goal reached, as the simulator shows: {result.message}")
    elif result.is_question:
        print(f"Goal not reached; the robot asks: {result.message}")
    else:
        print(f"Goal not reached: {result.message}")
    print(f"Logs: {folder / 'nodes.log'}, {folder / 'journal.sqlite'}")
    if (recording := folder / "recording.mcap").exists():
        print(f"Recording: {recording} (llm-planner replay {folder}, llm-planner why {folder})")


def _film(recorder: Recorder, folder: Path) -> None:
    print("Drawing the film …", flush=True)
    video, picture = folder / "demo.mp4", folder / "final.png"
    try:
        write_film(recorder.frames, video, picture)
    except SimulationError as error:
        print(f"No film: {error}")
    else:
        print(f"Film: {video}\nFinal scene: {picture}")

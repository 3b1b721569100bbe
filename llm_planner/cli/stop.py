"""`llm-planner stop`: stop the robot of a running system, or all robots. No language model is asked."""

from __future__ import annotations

import argparse
from concurrent.futures import ThreadPoolExecutor


def add_arguments(parser: argparse.ArgumentParser) -> None:
    which = parser.add_mutually_exclusive_group()
    which.add_argument("--namespace", default="", help="of the robot, where there are several")
    which.add_argument("--all", action="store_true", help="every robot whose system answers, in any namespace")


def run(args: argparse.Namespace) -> int:
    """Stop the robots; return exit status 0 once they are at rest."""
    if not args.all:
        print(_stop(args.namespace))
        return 0
    from llm_planner.ros.other_systems import running_systems
    from llm_planner.ros.stop_client import NO_SYSTEM, SystemUnreachableError

    namespaces = running_systems()
    if not namespaces:
        raise SystemUnreachableError(NO_SYSTEM)
    with ThreadPoolExecutor(len(namespaces)) as pool:
        ends = {namespace: pool.submit(_stop, namespace.strip("/")) for namespace in namespaces}
    for namespace, end in ends.items():
        print(f"{namespace}: {end.exception() or end.result()}")
    return 1 if any(end.exception() for end in ends.values()) else 0


def _stop(namespace: str) -> str:
    """Stop the robot of one system and return what became of it; raise SystemUnreachableError."""
    from llm_planner.ros.stop_client import stop_robot

    result = stop_robot(namespace, "you ran llm-planner stop")
    return "Stopped." if result.was_running else f"Nothing to stop: {result.message}."

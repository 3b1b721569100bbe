"""`llm-planner stop`: stop the robot of a running system. No language model is asked."""

from __future__ import annotations

import argparse


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--namespace", default="", help="of the robot, where there are several")


def run(args: argparse.Namespace) -> int:
    """Stop the robot; return exit status 0 once it is at rest."""
    from llm_planner.ros.client import SystemClient

    client = SystemClient(args.namespace)
    try:
        result = client.stop("you ran llm-planner stop")
    finally:
        client.close()
    print("Stopped." if result.was_running else f"Nothing to stop: {result.message}.")
    return 0

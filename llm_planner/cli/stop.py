"""`llm-planner stop`: stop the robot of a running system. No language model is asked."""

from __future__ import annotations

import argparse


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--namespace", default="", help="of the robot, where there are several")


def run(args: argparse.Namespace) -> int:
    """Stop the robot; return exit status 0 once it is at rest."""
    from llm_planner.ros.stop_client import stop_robot

    was_running, message = stop_robot(args.namespace, "you ran llm-planner stop")
    print("Stopped." if was_running else f"Nothing to stop: {message}.")
    return 0

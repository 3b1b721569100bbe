"""`llm-planner correct WORDS`: send a correction to a robot at work and print the outcome."""

from __future__ import annotations

import argparse


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("words", nargs="+", help='what is to be otherwise, e.g. "slower" or "no, the blue one"')
    parser.add_argument("--namespace", default="", help="of the robot, where there are several")


def run(args: argparse.Namespace) -> int:
    """Send the correction; return exit status 0 only if it was applied."""
    from llm_planner.ros.client import SystemClient

    client = SystemClient(args.namespace)
    try:
        result = client.correct(" ".join(args.words))
    finally:
        client.close()
    print(f"{_LEADS[result.outcome]}{result.message}")
    return 0 if result.outcome == "applied" else 1


_LEADS = {"applied": "Done: ", "refused": "Not done: ", "question": "The robot asks: ", "nothing": "Nothing done: "}

"""`llm-planner say TEXT`: send a command to a running system and follow it; a terminal can answer questions."""

from __future__ import annotations

import argparse
import sys

from llm_planner.language.factory import MODEL_NAMES


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("text", nargs="+", help="what the robot should do")
    parser.add_argument(
        "--model", choices=MODEL_NAMES, default="", help="language model that reads it (default: the running planner's)"
    )
    parser.add_argument("--namespace", default="", help="of the robot, where there are several")


def run(args: argparse.Namespace) -> int:
    """Send the command; return exit status 0 only if it was done.

    On a terminal, the person can answer the robot's questions; an empty answer leaves a question open.
    """
    from llm_planner.cli.progress_view import ProgressView
    from llm_planner.ros.client import SystemClient

    text = " ".join(args.text)
    client = SystemClient(args.namespace)
    reports, views = [""], list[ProgressView]()
    client.watch_reports(reports.append)
    client.watch_remarks(lambda remark: views[-1].remark(remark))
    try:
        client.find_system()
        while text:
            with ProgressView(text) as view:
                views.append(view)
                result = client.execute(text, view.update, model=args.model)
            view.console.print(f"{_lead(result.succeeded, result.is_question)}{result.message}", markup=False)
            text = view.console.input("> ").strip() if result.is_question and sys.stdin.isatty() else ""
    finally:
        client.close()
    if reports[-1]:
        view.console.print(f"The robot reports: {reports[-1]}", markup=False)
    return 0 if result.succeeded else 1


def _lead(succeeded: bool, is_question: bool) -> str:
    if succeeded:
        return "Done: "
    return "The robot asks: " if is_question else "Not done: "

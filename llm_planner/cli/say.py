"""`llm-planner say TEXT`: a command for a running system, followed to its result."""

from __future__ import annotations

import argparse

from llm_planner.language.factory import MODEL_NAMES


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("text", nargs="+", help="what the robot should do")
    parser.add_argument(
        "--model", choices=MODEL_NAMES, default="", help="language model that reads it (default: the running planner's)"
    )
    parser.add_argument("--namespace", default="", help="of the robot, where there are several")


def run(args: argparse.Namespace) -> int:
    """Exit status 0 only if it was done."""
    from llm_planner.cli.progress_view import ProgressView
    from llm_planner.nodes.client import SystemClient

    text = " ".join(args.text)
    client = SystemClient(args.namespace)
    reports = [""]
    client.watch_reports(reports.append)
    try:
        client.wait_for_system(5.0)
        with ProgressView(text) as view:
            client.watch_remarks(view.remark)
            result = client.execute(text, view.update, model=args.model)
    finally:
        client.close()
    view.console.print(f"{_lead(result.succeeded, result.is_question)}{result.message}", markup=False)
    if reports[-1]:
        view.console.print(f"The robot reports: {reports[-1]}", markup=False)
    return 0 if result.succeeded else 1


def _lead(succeeded: bool, is_question: bool) -> str:
    if succeeded:
        return "Done: "
    return "The robot asks: " if is_question else "Not done: "

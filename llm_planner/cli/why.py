"""`llm-planner why RUN [STEP]`: explain the steps of a recorded run, every sentence from a recorded fact."""

from __future__ import annotations

import argparse

from llm_planner.cli.recorded_runs import add_run_argument, requested_recording
from llm_planner.recording.story import explained, story_of


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_run_argument(parser)
    parser.add_argument("step", nargs="?", default="", help="id of a step, as listed without one: 2")


def run(args: argparse.Namespace) -> int:
    """Print what was understood, what decided the step, what was foreseen and what happened."""
    story, _ = story_of(requested_recording(args))
    print(explained(story, args.step))
    return 0

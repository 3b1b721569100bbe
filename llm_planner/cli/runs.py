"""`llm-planner runs`: list the recorded runs; `--recover` mends those that were cut off."""

from __future__ import annotations

import argparse
from datetime import datetime

from llm_planner.cli.recorded_runs import run_folders
from llm_planner.recording.reading import Recording, recordings
from llm_planner.recording.story import CommandFacts, Story


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--last", type=int, default=20, metavar="N", help="the newest N (default 20)")
    parser.add_argument(
        "--recover", action="store_true", help="write recordings that were cut off anew, so that other tools read them"
    )


def run(args: argparse.Namespace) -> int:
    """List the newest recordings, the newest last, with what was said in each."""
    known = recordings(run_folders())
    if not known:
        print("Nothing is recorded yet: llm-planner demo, or llm-planner up, records what it does.")
        return 0
    for recording in known[-max(args.last, 0) :]:
        mended = recording.recover() if args.recover else []
        print(_line(recording) + (f"; recovered {', '.join(path.name for path in mended)}" if mended else ""))
        for command in _commands(recording):
            print(f"    “{command.words}”: {command.outcome or 'not ended'}")
    return 0


def _line(recording: Recording) -> str:
    when = datetime.fromtimestamp(recording.parts[-1].stat().st_mtime).strftime("%Y-%m-%d %H:%M")
    cut = ", being recorded" if recording.is_written else "" if recording.is_whole else ", cut off"
    return f"{recording.name}  {when}  {recording.size / 1e6:.1f} MB{cut}"


def _commands(recording: Recording) -> list[CommandFacts]:
    story = Story()
    for heard in recording.messages(["command_status"]):
        story.hear(heard)
    return list(story.commands.values())

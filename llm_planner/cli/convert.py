"""`llm-planner convert RUN --to lerobot`: a recorded run as a LeRobotDataset, version 3.0, with video and language."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from llm_planner.cli.recorded_runs import add_run_argument, requested_recording
from llm_planner.errors import InputError

if TYPE_CHECKING:
    from llm_planner.learning.dataset_video import Picture
    from llm_planner.recording.story import CommandFacts, Story
    from llm_planner.ros.recordings import RecordedFrame

KEY = "observation.images.overview"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_run_argument(parser)
    parser.add_argument("--to", choices=("lerobot",), default="lerobot", help="format (the only one so far)")
    parser.add_argument("--out", type=Path, help="folder to write (default: lerobot/NAME)")
    parser.add_argument("--fps", type=int, default=10, help="frames a second of the robot's time (default 10)")
    parser.add_argument("--no-video", action="store_true", help="numbers and words only")
    parser.add_argument("--failed", action="store_true", help="also commands that did not succeed")


def run(args: argparse.Namespace) -> int:
    """Write one episode a command; its task is what was said, corrections included."""
    from llm_planner.learning.dataset import write_session
    from llm_planner.learning.dataset_video import add_video
    from llm_planner.learning.recording import DatasetFormat
    from llm_planner.learning.recording import Recording as Episode
    from llm_planner.recording.story import story_of
    from llm_planner.ros.recordings import recorded_arm, recorded_frames

    if not 1 <= args.fps <= 50:
        raise InputError(f"--fps must be from 1 to 50, not {args.fps}")
    recording = requested_recording(args)
    folder = args.out or Path("lerobot") / recording.name
    if folder.exists() and any(folder.iterdir()):
        raise InputError(f"--out: {folder} is not empty; name another folder, or remove it")
    arm, (story, _) = recorded_arm(recording), story_of(recording)
    names = (*arm.joints, "gripper")
    format = DatasetFormat(args.fps, arm.name, {"observation.state": names, "action": names})
    episodes, pieces = [], list[list["RecordedFrame"]]()
    frames = recorded_frames(recording)
    for number, command in enumerate(_commands(story, args.failed)):
        piece = _piece(frames, command, args.fps)
        if len(piece) < 2:
            continue
        states = np.array([(*frame.qpos, frame.width) for frame in piece], np.float32)
        columns = {"observation.state": states[:-1], "action": states[1:]}
        episodes.append(Episode(_task(story, command), columns, command.succeeded, number))
        pieces.append(piece[:-1])
    if not episodes:
        said = "; ".join(f"“{one.words}”: {one.outcome or 'not ended'}" for one in story.commands.values()) or "nothing"
        raise InputError(f"no command of {recording.name} moved the arm and succeeded (--failed takes others): {said}")
    write_session(folder, format, episodes, 0)
    lengths = [len(piece) for piece in pieces]
    if not args.no_video:
        add_video(folder, KEY, _pictures([frame for piece in pieces for frame in piece]), lengths, args.fps)
    print(
        f"{len(episodes)} episode{'s' if len(episodes) != 1 else ''}, {sum(lengths)} frames at {args.fps} Hz: {folder}"
    )
    for episode in episodes:
        print(f"    “{episode.task}”")
    return 0


def _commands(story: Story, failed: bool) -> list[CommandFacts]:
    """Return the commands that had a plan, in order."""
    return [one for one in story.commands.values() if one.id in story.plans and (failed or one.succeeded)]


def _task(story: Story, command: CommandFacts) -> str:
    """Return the words of a command and of the corrections that were applied to it."""
    return "; ".join([command.words, *(edit.words for edit in story.plans[command.id].edits.values() if edit.words)])


def _piece(frames: Sequence[RecordedFrame], command: CommandFacts, fps: int) -> list[RecordedFrame]:
    """Return the frames from the command to its end, at the rate."""
    from llm_planner.ros.recordings import at_rate

    ended = command.ended if command.ended is not None else float("inf")
    return at_rate([frame for frame in frames if command.time <= frame.time <= ended], fps)


def _pictures(frames: Sequence[RecordedFrame]) -> Iterator[Picture]:
    """Yield the recorded picture of each frame, or draw it where there was no camera, as in a simulation."""
    from llm_planner.simulation.renderers import SIZE, drawn, make_renderer

    renderer, shown = None, None
    try:
        for frame in frames:
            if frame.picture is not None:
                yield frame.picture
                continue
            if renderer is None or drawn(frame.scene) != shown:
                if renderer is not None:
                    renderer.close()
                renderer, shown = make_renderer(frame.scene, SIZE), drawn(frame.scene)
            yield renderer.render(frame.qpos, frame.width, frame.scene)
    finally:
        if renderer is not None:
            renderer.close()

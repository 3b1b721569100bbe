"""`llm-planner runs`, `replay`, `why` and `convert`: what becomes of recorded runs."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Iterator, Sequence
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

from llm_planner.errors import InputError
from llm_planner.recording.reading import Heard, Recording, find_recording, recordings
from llm_planner.recording.story import TOPICS, CommandFacts, Story, story_of

if TYPE_CHECKING:
    from llm_planner.learning.dataset_video import Picture
    from llm_planner.ros.recordings import RecordedFrame

PICTURES = "observation.images.overview"  # key of the data set


def add_recording_argument(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "run",
        nargs="?",
        default="",
        help="a recording: the folder of a demo (runs/…), an .mcap file, or a name that `llm-planner runs` lists "
        "(default: the newest)",
    )


def requested_recording(args: argparse.Namespace) -> Recording:
    """Return the recording; raise InputError if there is none, with those that there are."""
    return find_recording(args.run, run_folders())


def run_folders() -> list[Path]:
    """Return the folders with recordings: of demos started here, and of the systems of this user."""
    home = Path(os.environ.get("ROS_HOME") or Path.home() / ".ros") / "llm_planner"
    return [Path("runs"), *(folder for folder in sorted(home.glob("**/recordings")) if folder.is_dir())]


def add_runs_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--last", type=int, default=20, metavar="N", help="the newest N (default 20)")
    parser.add_argument(
        "--recover", action="store_true", help="write recordings that were cut off anew, so that other tools read them"
    )


def run_runs(args: argparse.Namespace) -> int:
    """List the newest recordings, the newest last, with what was said in each."""
    known = recordings(run_folders())
    if not known:
        print("Nothing is recorded yet: llm-planner demo, or llm-planner up, records what it does.")
        return 0
    for recording in known[-max(args.last, 0) :]:
        mended = recording.recover() if args.recover else []
        print(_line(recording) + (f"; recovered {', '.join(path.name for path in mended)}" if mended else ""))
        story = Story()
        for heard in recording.messages(["command_status"]):
            story.hear(heard)
        for command in story.commands.values():
            print(f"    “{command.words}”: {command.outcome or 'not ended'}")
    return 0


def _line(recording: Recording) -> str:
    when = datetime.fromtimestamp(recording.parts[-1].stat().st_mtime).strftime("%Y-%m-%d %H:%M")
    cut = ", being recorded" if recording.is_written else "" if recording.is_whole else ", cut off"
    return f"{recording.name}  {when}  {recording.size / 1e6:.1f} MB{cut}"


def add_replay_arguments(parser: argparse.ArgumentParser) -> None:
    add_recording_argument(parser)
    parser.add_argument("--rate", type=float, default=1.0, help="how many times as fast as it was (default 1)")
    parser.add_argument(
        "--start", type=float, default=0.0, metavar="SECONDS", help="begin this long after its beginning"
    )
    parser.add_argument("--step", action="store_true", help="wait for Enter before each step of a plan")
    parser.add_argument("--loop", action="store_true", help="begin anew at the end")
    parser.add_argument(
        "--console", action="store_true", help="serve a page with the robot in 3D and a bar to go to any time or step"
    )
    parser.add_argument("--domain", type=int, help="ROS domain to play in (default: a free one, which is printed)")
    parser.add_argument("--dry", action="store_true", help="only print what happened, at once and without ROS")


def run_replay(args: argparse.Namespace) -> int:
    """Play the recording; nothing that commands a robot is published."""
    if not 0.01 <= args.rate <= 100.0:
        raise InputError(f"--rate must be from 0.01 to 100, not {args.rate:g}")
    recording = requested_recording(args)
    teller = _Teller(args.step and not args.dry)
    if args.dry:
        for heard in recording.messages(TOPICS):
            teller.hear(heard)
        return 0
    from llm_planner.cli.processes import NodeOptions, NodeProcesses, end_like_an_interrupt
    from llm_planner.ros.node_table import NODES
    from llm_planner.ros.recordings import Player

    _join_domain(args.domain)
    end_like_an_interrupt()
    player = Player(recording, args.rate)
    console = [node for node in NODES if node.name == "console" and args.console]
    options = NodeOptions({"console": {"replay": "true"}}, namespace=player.namespace)
    try:
        with NodeProcesses(console, options):
            print(f"Playing {recording.path} in a ROS domain of its own.", end=" ")
            domain = f"ROS_DOMAIN_ID={os.environ['ROS_DOMAIN_ID']} ROS_AUTOMATIC_DISCOVERY_RANGE=LOCALHOST"
            print(f"To look at it from another terminal:\n  export {domain}", flush=True)
            again = True
            while again:
                count = player.play(args.start, teller.hear, stays=args.console)
                print(f"The recording ends here; {count} messages were published.", flush=True)
                again, teller = args.loop, _Teller(args.step)
    except KeyboardInterrupt:
        print("ended")
    finally:
        player.close()
    return 0


def _join_domain(domain: int | None) -> None:
    """Enter the domain, or a free one; raise InputError where something runs in it, since it might move."""
    from llm_planner.cli.processes import is_free, join_own_network

    join_own_network()
    if domain is None:
        return
    if not 0 <= domain <= 101:
        raise InputError(f"--domain must be from 0 to 101, not {domain}")
    if not is_free(domain):
        raise InputError(f"--domain: ROS programs run in domain {domain} on this machine; play in another one")
    os.environ["ROS_DOMAIN_ID"] = str(domain)


class _Teller:
    """Prints what happens; before each step it waits for Enter if `pauses`."""

    def __init__(self, pauses: bool) -> None:
        self._story, self._pauses, self._began = Story(), pauses, 0.0

    def hear(self, heard: Heard) -> None:
        self._began = self._began or heard.time
        if heard.topic.name.rpartition("/")[2] not in TOPICS:
            return
        for event in self._story.hear(heard):
            if event.is_step and self._pauses:
                print(f"Enter: go on with {event.text.rpartition(':')[0]}", end=" ", flush=True)
                self._pauses = bool(sys.stdin.readline())  # without an input it goes on by itself
            print(f"{event.time - self._began:8.2f} s  {event.text}", flush=True)


def add_why_arguments(parser: argparse.ArgumentParser) -> None:
    add_recording_argument(parser)
    parser.add_argument("step", nargs="?", default="", help="id of a step, as listed without one: 2")
    parser.add_argument(
        "--prompts", action="store_true", help="what language models were asked and replied instead, word for word"
    )


def run_why(args: argparse.Namespace) -> int:
    """Print what was understood, what decided the step, what was foreseen and what happened."""
    from llm_planner.recording.explanation import exchanged, explained

    if args.prompts:
        print(exchanged(requested_recording(args)))
        return 0
    story, _ = story_of(requested_recording(args))
    print(explained(story, args.step))
    return 0


def add_convert_arguments(parser: argparse.ArgumentParser) -> None:
    add_recording_argument(parser)
    parser.add_argument("--to", choices=("lerobot",), default="lerobot", help="format (the only one so far)")
    parser.add_argument("--out", type=Path, help="folder to write (default: lerobot/NAME)")
    parser.add_argument("--fps", type=int, default=10, help="frames a second of the robot's time (default 10)")
    parser.add_argument("--no-video", action="store_true", help="numbers and words only")
    parser.add_argument("--failed", action="store_true", help="also commands that did not succeed")


def run_convert(args: argparse.Namespace) -> int:
    """Write one episode a command; its task is what was said, corrections included."""
    import numpy as np

    from llm_planner.learning.dataset import write_session
    from llm_planner.learning.dataset_video import add_video
    from llm_planner.learning.recording import DatasetFormat
    from llm_planner.learning.recording import Recording as Episode
    from llm_planner.ros.recordings import recorded_frames, recorded_robot

    if not 1 <= args.fps <= 50:
        raise InputError(f"--fps must be from 1 to 50, not {args.fps}")
    recording = requested_recording(args)
    folder = args.out or Path("lerobot") / recording.name
    if folder.exists() and any(folder.iterdir()):
        raise InputError(f"--out: {folder} is not empty; name another folder, or remove it")
    robot, (story, _) = recorded_robot(recording), story_of(recording)
    format = DatasetFormat(args.fps, robot.name, {"observation.state": robot.names, "action": robot.names})
    episodes, pieces = [], list[list["RecordedFrame"]]()
    frames = recorded_frames(recording, robot)
    commands = [one for one in story.commands.values() if one.id in story.plans and (args.failed or one.succeeded)]
    for number, command in enumerate(commands):
        piece = _piece(frames, command, args.fps)
        if len(piece) < 2:
            continue
        states = np.array([frame.state for frame in piece], np.float32)
        if "yaw" in robot.names:
            turn = robot.names.index("yaw")
            states[:, turn] = np.unwrap(states[:, turn])  # half a turn is no jump
        columns = {"observation.state": states[:-1], "action": states[1:]}
        episodes.append(Episode(_task(story, command), columns, command.succeeded, number))
        pieces.append(piece[:-1])
    if not episodes:
        said = "; ".join(f"“{one.words}”: {one.outcome or 'not ended'}" for one in story.commands.values()) or "nothing"
        raise InputError(
            f"no command of {recording.name} moved the robot and succeeded (--failed takes others): {said}"
        )
    write_session(folder, format, episodes, 0)
    lengths = [len(piece) for piece in pieces]
    if not args.no_video:
        add_video(folder, PICTURES, _pictures([frame for piece in pieces for frame in piece]), lengths, args.fps)
    print(
        f"{len(episodes)} episode{'s' if len(episodes) != 1 else ''}, {sum(lengths)} frames at {args.fps} Hz: {folder}"
    )
    for episode in episodes:
        print(f"    “{episode.task}”")
    return 0


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

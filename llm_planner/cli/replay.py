"""`llm-planner replay RUN`: play a recorded run as ROS topics in a domain of its own, and print what happened."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Iterator

from llm_planner.cli.processes import end_like_an_interrupt, is_free, join_own_network
from llm_planner.cli.recorded_runs import add_run_argument, requested_recording
from llm_planner.errors import InputError
from llm_planner.recording.reading import Heard, Recording
from llm_planner.recording.story import TOPICS, Story


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_run_argument(parser)
    parser.add_argument("--rate", type=float, default=1.0, help="how many times as fast as it was (default 1)")
    parser.add_argument(
        "--start", type=float, default=0.0, metavar="SECONDS", help="begin this long after its beginning"
    )
    parser.add_argument("--step", action="store_true", help="wait for Enter before each step of a plan")
    parser.add_argument("--loop", action="store_true", help="begin anew at the end")
    parser.add_argument("--domain", type=int, help="ROS domain to play in (default: a free one, which is printed)")
    parser.add_argument("--dry", action="store_true", help="only print what happened, at once and without ROS")


def run(args: argparse.Namespace) -> int:
    """Play the recording; nothing that commands a robot is published."""
    if not 0.01 <= args.rate <= 100.0:
        raise InputError(f"--rate must be from 0.01 to 100, not {args.rate:g}")
    recording = requested_recording(args)
    teller = _Teller(args.step and not args.dry)
    if args.dry:
        for heard in recording.messages(TOPICS):
            teller.hear(heard)
        return 0
    _join(args.domain)
    from llm_planner.ros.recordings import Player

    end_like_an_interrupt()
    player = Player(args.rate)
    try:
        print(f"Playing {recording.path} in a ROS domain of its own. To look at it from another terminal:")
        print(
            f"  export ROS_DOMAIN_ID={os.environ['ROS_DOMAIN_ID']} ROS_AUTOMATIC_DISCOVERY_RANGE=LOCALHOST", flush=True
        )
        player.announce({heard.topic for heard in recording.messages()})
        again = True
        while again:
            count = player.play(_from(recording, args.start), teller.hear)
            print(f"The recording ends here; {count} messages were published.", flush=True)
            again, teller = args.loop, _Teller(args.step)
    except KeyboardInterrupt:
        print("ended")
    finally:
        player.close()
    return 0


def _join(domain: int | None) -> None:
    """Enter the domain, or a free one; raise InputError where something runs in it, since it might move."""
    join_own_network()
    if domain is None:
        return
    if not 0 <= domain <= 101:
        raise InputError(f"--domain must be from 0 to 101, not {domain}")
    if not is_free(domain):
        raise InputError(f"--domain: ROS programs run in domain {domain} on this machine; play in another one")
    os.environ["ROS_DOMAIN_ID"] = str(domain)


def _from(recording: Recording, start: float) -> Iterator[Heard]:
    """Yield the messages from `start` [s] on, after the newest latched ones before."""
    began, latched = None, dict[str, Heard]()
    for heard in recording.messages():
        began = heard.time if began is None else began
        if heard.time >= began + start:
            yield from latched.values()
            latched.clear()
            yield heard
        elif heard.topic.is_latched:
            latched[heard.topic.name] = heard


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

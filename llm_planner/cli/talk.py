"""`llm-planner say`, `correct`, `stop` and `listen`: what a person tells a running system."""

from __future__ import annotations

import argparse
import queue
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

from llm_planner.errors import InputError

if TYPE_CHECKING:
    from llm_planner.speech.audio import AudioFormat
    from llm_planner.speech.listening import Heard, StopHeard

CHUNK = 0.032  # [s] of sound per chunk from the microphone
MOST_SYSTEMS = 16  # that are stopped at once
_LEADS = {
    "done": "Done: ", "applied": "Done: ", "failed": "Not done: ", "refused": "Not done: ",
    "question": "The robot asks: ", "nothing": "Nothing done: ",
}  # fmt: skip


def add_namespace_argument(parser: argparse._ActionsContainer) -> None:
    parser.add_argument("--namespace", default="", help="of the robot, where there are several")


def add_say_arguments(parser: argparse.ArgumentParser) -> None:
    from llm_planner.cli.planning_options import add_rule_argument
    from llm_planner.language.factory import MODEL_NAMES

    parser.add_argument("text", nargs="+", help="what the robot should do")
    parser.add_argument(
        "--model", choices=MODEL_NAMES, default="", help="language model that reads it (default: the running planner's)"
    )
    add_rule_argument(parser)
    add_namespace_argument(parser)


def run_say(args: argparse.Namespace) -> int:
    """Send the command; return exit status 0 only if it was done.

    On a terminal, the person can answer the robot's questions; an empty answer leaves a question open.
    """
    from llm_planner.cli.planning_options import requested_rules
    from llm_planner.cli.terminal import ProgressView
    from llm_planner.ros.client import SystemClient

    text, rules = " ".join(args.text), requested_rules(args)
    reports, views = [""], list[ProgressView]()
    with closing(SystemClient(args.namespace)) as client:
        client.watch_reports(reports.append)
        client.watch_remarks(lambda remark: views[-1].remark(remark))
        client.find_system(lambda told: print(told, flush=True))
        while text:
            with ProgressView(text) as view:
                views.append(view)
                result = client.execute(text, view.update, model=args.model, rules=rules)
            lead = _LEADS["done" if result.succeeded else "question" if result.is_question else "failed"]
            view.console.print(f"{lead}{result.message}", markup=False)
            text = view.console.input("> ").strip() if result.is_question and sys.stdin.isatty() else ""
    if reports[-1]:
        view.console.print(f"The robot reports: {reports[-1]}", markup=False)
    return 0 if result.succeeded else 1


def add_correct_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("words", nargs="+", help='what is to be otherwise, e.g. "slower" or "no, the blue one"')
    add_namespace_argument(parser)


def run_correct(args: argparse.Namespace) -> int:
    """Send the correction; return exit status 0 only if it was applied, or a question of the person was answered."""
    from llm_planner.corrections.dialogue_session import is_question
    from llm_planner.ros.client import SystemClient

    words = " ".join(args.words)
    with closing(SystemClient(args.namespace)) as client:
        result = client.correct(words)
    is_answer = result.outcome == "nothing" and is_question(words)
    print(result.message if is_answer else f"{_LEADS[result.outcome]}{result.message}")
    return 0 if result.outcome == "applied" or is_answer else 1


def add_stop_arguments(parser: argparse.ArgumentParser) -> None:
    which = parser.add_mutually_exclusive_group()
    add_namespace_argument(which)
    which.add_argument("--all", action="store_true", help="every robot whose system answers, in any namespace")


def run_stop(args: argparse.Namespace) -> int:
    """Stop the robots; return exit status 0 once they are at rest."""
    if not args.all:
        print(_stop(args.namespace))
        return 0
    from llm_planner.ros.other_systems import running_systems
    from llm_planner.ros.stop_client import NO_SYSTEM, SystemUnreachableError

    with ThreadPoolExecutor(MOST_SYSTEMS) as pool:  # each is stopped as soon as it is found
        ends = {namespace: pool.submit(_stop, namespace.strip("/")) for namespace in running_systems()}
    if not ends:
        raise SystemUnreachableError(NO_SYSTEM)
    for namespace, end in ends.items():
        print(f"{namespace}: {end.exception() or end.result()}")
    return 1 if any(end.exception() for end in ends.values()) else 0


def _stop(namespace: str) -> str:
    """Stop the robot of one system and return what became of it; raise SystemUnreachableError."""
    from llm_planner.ros.stop_client import stop_robot

    result = stop_robot(namespace, "you ran llm-planner stop")
    return "Stopped." if result.was_running else f"Nothing to stop: {result.message}."


def add_listen_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--wav", type=Path, metavar="FILE", help="hear this file instead of the microphone")
    parser.add_argument("--device", help="of the microphone: its number or a part of its name")
    add_namespace_argument(parser)
    parser.add_argument(
        "--only-show",
        action="store_true",
        help="recognise speech here and only show the result; nothing is sent to a robot",
    )
    here = parser.add_argument_group("with --only-show")
    here.add_argument("--recogniser", default="pocketsphinx", help="pocketsphinx (default), server or faster-whisper")
    here.add_argument("--weights", type=Path, metavar="FOLDER", help="of a model of faster-whisper")
    here.add_argument("--world", default="tabletop", help="where the things are: tabletop (default) or rooms")
    here.add_argument("--objects", default="", help='what may be spoken of, e.g. "red block, green bowl, mug"')


def run_listen(args: argparse.Namespace) -> int:
    """Send or show speech; return exit status 0 when the sound ends."""
    if args.only_show:
        _show_speech(args)
    else:
        _send_speech(args)
    return 0


def _send_speech(args: argparse.Namespace) -> None:
    """Send the sound to the robot's own listener, which knows the objects in the scene."""
    from llm_planner.ros.client import SystemClient
    from llm_planner.ros.speech_topics import send_sound
    from llm_planner.speech.audio import AudioReader

    format, chunks = _sound(args)
    reader = AudioReader(format)
    with closing(SystemClient(args.namespace)) as client:
        send_sound(client, map(reader.read, chunks), lambda line: print(line, flush=True), in_step=args.wav is not None)


def _show_speech(args: argparse.Namespace) -> None:
    """Recognise speech in this process and print it."""
    from llm_planner.simulation.worlds import check_world, read_objects
    from llm_planner.speech.listening import Endpointer, Listener, SileroDetector, listen
    from llm_planner.speech.recognisers import Vocabulary, open_recogniser, vocabulary_of
    from llm_planner.speech.sphinx_recogniser import SphinxStopSpotter

    check_world(args.world)
    vocabulary = vocabulary_of(read_objects(args.world, args.objects)) if args.objects else Vocabulary()
    format, chunks = _sound(args)
    recogniser = open_recogniser(args.recogniser, args.weights)
    listener = Listener(format, Endpointer(SileroDetector()), SphinxStopSpotter())
    for event in listen(chunks, listener, recogniser, vocabulary):
        print(speech_line(event), flush=True)


def speech_line(event: StopHeard | Heard) -> str:
    """Format a stop word or an utterance as one line: time, words, and the reason if it is rejected."""
    from llm_planner.speech.listening import StopHeard

    if isinstance(event, StopHeard):
        return f"{event.time:7.2f} s  {event.words}!"
    heard, when = event.transcript, event.utterance.began
    said = f'"{heard.words}"' if heard.words else "(nothing)"
    reason = f": {heard.reason}" if heard.reason else ""
    return f"{when:7.2f} s  {'heard' if heard.accepted else 'no correction'} {said}{reason}"


def _sound(args: argparse.Namespace) -> tuple[AudioFormat, Iterator[bytes]]:
    from llm_planner.speech.audio import AudioFormat, read_wave

    if args.wav is not None:
        return read_wave(args.wav)
    return AudioFormat(), _microphone(args.device)


def _microphone(device: str | None) -> Iterator[bytes]:
    """Yield chunks at 16 kHz, 16 bits, without end; raise InputError if there is no microphone."""
    try:
        import sounddevice
    except (ImportError, OSError) as error:  # OSError: the PortAudio library is missing
        raise InputError(
            f"the microphone cannot be used: {error}. Install PortAudio (for instance: apt install libportaudio2) "
            "and run make setup, or hear a file with --wav FILE"
        ) from error
    from llm_planner.speech.audio import RATE

    chunks: queue.Queue[bytes] = queue.Queue()
    try:
        stream = sounddevice.RawInputStream(
            samplerate=RATE,
            channels=1,
            dtype="int16",
            blocksize=round(CHUNK * RATE),
            device=int(device) if device and device.isdigit() else device,
            callback=lambda data, *_: chunks.put(bytes(data)),
        )
    except (sounddevice.PortAudioError, ValueError) as error:
        raise InputError(
            f"the microphone cannot be opened: {error}. Name another with --device, or hear a file with --wav FILE"
        ) from error

    def heard() -> Iterator[bytes]:
        with stream:  # opens at the first request
            while True:
                yield chunks.get()

    return heard()

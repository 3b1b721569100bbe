"""`llm-planner listen`: send corrections from the microphone or a WAV file to a robot, or only show them."""

from __future__ import annotations

import argparse
import queue
from collections.abc import Iterator
from contextlib import AbstractContextManager
from pathlib import Path
from typing import TYPE_CHECKING

from llm_planner.errors import InputError

if TYPE_CHECKING:
    from llm_planner.speech.audio import AudioFormat
    from llm_planner.speech.listening import Heard, StopHeard
    from llm_planner.speech.recogniser import Vocabulary


CHUNK = 0.032  # [s] of sound per chunk from the microphone


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--wav", type=Path, metavar="FILE", help="hear this file instead of the microphone")
    parser.add_argument("--device", help="of the microphone: its number or a part of its name")
    parser.add_argument("--namespace", default="", help="of the robot, where there are several")
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


def run(args: argparse.Namespace) -> int:
    """Send or show speech; return exit status 0 when the sound ends."""
    return _show(args) if args.only_show else _send(args)


def _send(args: argparse.Namespace) -> int:
    """Send the sound to the robot's own listener, which knows the objects in the scene."""
    from llm_planner.ros.client import SystemClient
    from llm_planner.ros.speech_topics import send_sound
    from llm_planner.speech.audio import AudioReader

    format, chunks = _sound(args)
    reader, client = AudioReader(format), SystemClient(args.namespace)
    try:
        send_sound(client, map(reader.read, chunks), lambda line: print(line, flush=True), in_step=args.wav is not None)
    finally:
        client.close()
    return 0


def _show(args: argparse.Namespace) -> int:
    """Recognise speech in this process and print it."""
    from llm_planner.speech.listening import Endpointer, Listener, SileroDetector, listen
    from llm_planner.speech.recognisers import open_recogniser
    from llm_planner.speech.sphinx_recogniser import SphinxStopSpotter

    vocabulary = _vocabulary(args.world, args.objects)
    format, chunks = _sound(args)
    recogniser = open_recogniser(args.recogniser, args.weights)
    listener = Listener(format, Endpointer(SileroDetector()), SphinxStopSpotter())
    for event in listen(chunks, listener, recogniser, vocabulary):
        print(line(event), flush=True)
    return 0


def line(event: StopHeard | Heard) -> str:
    """Format a stop word or an utterance as one line: time, words, and the reason if it is rejected."""
    from llm_planner.speech.listening import StopHeard

    if isinstance(event, StopHeard):
        return f"{event.time:7.2f} s  {event.words}!"
    heard, when = event.transcript, event.utterance.began
    said = f'"{heard.words}"' if heard.words else "(nothing)"
    reason = f": {heard.reason}" if heard.reason else ""
    return f"{when:7.2f} s  {'heard' if heard.accepted else 'no correction'} {said}{reason}"


def _vocabulary(world: str, objects: str) -> Vocabulary:
    from llm_planner.simulation.worlds import check_world, read_objects
    from llm_planner.speech.recogniser import Vocabulary, vocabulary_of

    check_world(world)
    if not objects:
        return Vocabulary()

    return vocabulary_of(read_objects(world, objects))


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
    from llm_planner.speech.recogniser import RATE

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
    return _heard_by(stream, chunks)


def _heard_by(stream: AbstractContextManager[object], chunks: queue.Queue[bytes]) -> Iterator[bytes]:
    """Yield what the stream puts in the queue; the stream opens at the first request."""
    with stream:
        while True:
            yield chunks.get()

"""From chunks to what was said: stop words at once, the rest once understood, and nothing of the robot itself."""

from __future__ import annotations

import re
import subprocess
import sys
import wave

import numpy as np
import pytest

from llm_planner.cli.main import main
from llm_planner.errors import InputError
from llm_planner.scene.scene import SceneObject
from llm_planner.speech.audio import RATE, AudioFormat, pcm, read_wave, wave_bytes
from llm_planner.speech.listening import Endpointer, Heard, Listener, SileroDetector, StopHeard, Utterance, listen
from llm_planner.speech.recognisers import Transcript, Vocabulary, vocabulary_of
from llm_planner.speech.sphinx_recogniser import SphinxStopSpotter


class EchoRecogniser:
    """Says how long what it heard was."""

    name = "echo"

    def transcribe(self, samples: np.ndarray, vocabulary: Vocabulary) -> Transcript:
        return Transcript(f"{len(samples) / RATE:.0f} s", 1.0, True)


@pytest.fixture
def listener() -> Listener:
    return Listener(AudioFormat(), Endpointer(SileroDetector()), SphinxStopSpotter())


def chunks(samples: np.ndarray) -> list[bytes]:
    data = pcm(samples)
    return [data[begin : begin + 1000] for begin in range(0, len(data), 1000)]


def test_a_stop_is_heard_before_the_utterance_has_ended_and_then_again_as_words(listener, clips):
    stop, heard = listen(chunks(clips("stop")), listener, EchoRecogniser(), Vocabulary())
    assert isinstance(stop, StopHeard)
    assert isinstance(heard, Heard)
    assert stop.words == "stop"
    assert heard.utterance.began < stop.time < heard.utterance.ended + 0.3


def test_other_words_stop_nothing(listener, clips):
    (heard,) = listen(chunks(clips("a_bit_to_the_left")), listener, EchoRecogniser(), Vocabulary())
    assert isinstance(heard, Heard)
    assert heard.transcript.words in ("1 s", "2 s")


def test_a_stop_in_the_middle_of_talk_stops_nothing(listener, clips):
    said, quiet = clips("a_bit_to_the_left"), 9_500
    talk = np.concatenate((said[:-quiet], clips("stop")[quiet:]))
    assert [type(event) for event in listen(chunks(talk), listener, EchoRecogniser(), Vocabulary())] == [Heard]


def test_each_stop_is_heard(listener, clips):
    twice = np.concatenate((clips("stop"), clips("stop")))
    events = list(listen(chunks(twice), listener, EchoRecogniser(), Vocabulary()))
    assert [type(event) for event in events] == [StopHeard, Heard, StopHeard, Heard]


def test_the_robot_does_not_listen_to_itself(listener, clips):
    events = [event for chunk in chunks(clips("a_bit_to_the_left")) for event in listener.hear(chunk, deaf=True)]
    assert events + listener.close() == []


def test_what_the_robot_speaks_into_is_dropped_and_later_words_are_heard(listener, clips):
    sound = chunks(clips("a_bit_to_the_left"))
    assert not any(listener.hear(chunk, deaf=True) for chunk in sound[:30])
    again = [event for chunk in sound for event in listener.hear(chunk)]
    assert [type(event) for event in again] == [Utterance]


def interruptions(listener, sound, deaf=True):
    """The moments [s] at which a chunk of the sound counts as one."""
    found = []
    for number, chunk in enumerate(chunks(sound)):
        listener.hear(chunk, deaf)
        found += [number * len(chunk) / 2 / RATE] if listener.interrupted else []
    return found


@pytest.mark.parametrize("louder", [1.0, 1.3])
def test_its_own_voice_does_not_interrupt_the_robot(listener, clips, louder):
    voice = clips("a_bit_to_the_left")
    assert interruptions(listener, np.concatenate((voice, louder * voice))) == []


def test_a_person_who_is_louder_interrupts_the_robot_while_that_speaks(listener, clips):
    voice, stop = 0.2 * clips("a_bit_to_the_left"), clips("stop")
    both = np.concatenate((voice, voice))
    both[len(voice) : len(voice) + len(stop)] += stop[: len(both) - len(voice)]
    assert interruptions(listener, both)[0] == pytest.approx(len(voice) / RATE, abs=1.0)
    assert interruptions(listener, both, deaf=False) == []


def test_the_things_of_a_scene_are_known_by_name_kind_and_color():
    def thing(name: str, kind: str, color: str) -> SceneObject:
        return SceneObject(name, kind, color, (0.0, 0.0, 0.0), (0.0, 0.0, 0.0, 1.0), (0.1, 0.1, 0.1))

    scene = [thing("red block", "block", "red"), thing("blue block", "block", "blue"), thing("mug", "mug", "")]
    assert vocabulary_of(scene, ["kitchen"]) == Vocabulary(
        ("blue block", "mug", "red block"), ("block",), ("blue", "red"), ("kitchen",)
    )


def test_the_command_shows_what_it_heard_in_a_file(tmp_path, clips, capsys):
    path = tmp_path / "talk.wav"
    path.write_bytes(wave_bytes(np.concatenate((clips("stop"), clips("a_bit_to_the_left")))))
    assert main(["listen", "--only-show", "--wav", str(path)]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split(" s  ")[1] for line in lines] == ["stop!", 'heard "stop"', 'heard "a bit to the left"']


def test_the_command_refuses_a_world_that_there_is_not(capsys):
    assert main(["listen", "--only-show", "--world", "moon", "--wav", "talk.wav"]) == 1
    assert "no world 'moon'; the worlds are: tabletop, rooms" in capsys.readouterr().err


def test_a_file_that_is_not_there_or_no_sound_is_named(tmp_path):
    with pytest.raises(InputError, match=r"there is no file .*none.wav"):
        read_wave(tmp_path / "none.wav")
    path = tmp_path / "text.wav"
    path.write_text("no sound at all")
    with pytest.raises(InputError, match=r"text.wav is not a WAV file of plain PCM: file does not start with RIFF"):
        read_wave(path)


def test_a_file_of_24_bits_is_refused(tmp_path):
    path = tmp_path / "deep.wav"
    with wave.open(str(path), "wb") as file:
        file.setparams((1, 3, 16_000, 0, "NONE", ""))
        file.writeframes(bytes(300))
    with pytest.raises(InputError, match="24 bits a sample; there may be 8, 16 or 32"):
        read_wave(path)


NO_PORT_AUDIO = "sys.modules['sounddevice'] = None"
NO_MICROPHONE = """
import types
class PortAudioError(Exception): pass
def stream(**_): raise PortAudioError('no such device')
sys.modules['sounddevice'] = types.SimpleNamespace(PortAudioError=PortAudioError, RawInputStream=stream)
"""
OPEN_MICROPHONE = "from llm_planner.cli.main import main; main(['listen'])"


@pytest.mark.parametrize(
    ("missing", "code", "message"),
    [
        (NO_PORT_AUDIO, OPEN_MICROPHONE, r"microphone cannot be used: .*Install PortAudio .*--wav FILE"),
        (NO_MICROPHONE, OPEN_MICROPHONE, r"cannot be opened: no such device. Name another with --device, or .*--wav"),
        (
            "sys.modules['pocketsphinx'] = None",
            "from llm_planner.speech.sphinx_recogniser import open_decoder; open_decoder()",
            "listening offline needs the package pocketsphinx; run make setup, or choose another recogniser",
        ),
        (
            "sys.modules['onnxruntime'] = None",
            "from llm_planner.speech.listening import SileroDetector; SileroDetector()",
            "listening needs the package onnxruntime; run make setup",
        ),
        (
            "sys.modules['faster_whisper'] = None",
            "from pathlib import Path; from llm_planner.speech.recognisers import WhisperRecogniser\n"
            "Path('model.bin').touch(); WhisperRecogniser(Path('.'))",
            "faster-whisper is not installed; run: pip install faster-whisper, or choose another recogniser",
        ),
    ],
    ids=["portaudio", "microphone", "pocketsphinx", "onnxruntime", "faster-whisper"],
)
def test_a_part_that_is_missing_is_named_with_what_to_do(tmp_path, missing, code, message):
    command = [sys.executable, "-c", f"import sys\n{missing}\n{code}"]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=tmp_path)
    assert re.search(message, done.stderr), done.stderr

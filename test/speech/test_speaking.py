"""The robot speaks: what it says of a text, which voice says it, what cuts it off, and that it never hears itself."""

from __future__ import annotations

import shutil
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from llm_planner.errors import InputError
from llm_planner.language.stop_words import is_stop
from llm_planner.speech.audio import AudioFormat, AudioReader, pcm, read_wave
from llm_planner.speech.listening import Endpointer, Listener, SileroDetector, StopHeard, Utterance
from llm_planner.speech.recognisers import KEYPHRASES
from llm_planner.speech.speaking import MOST, Speaker, Urgency, Voice, open_voice, spoken
from llm_planner.speech.sphinx_recogniser import SphinxStopSpotter

PATIENCE = 20.0  # [s]
ESPEAK = shutil.which("espeak-ng")
needs_espeak = pytest.mark.skipif(ESPEAK is None, reason="no espeak-ng is installed (Debian: apt install espeak-ng)")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("The red block is in the green bowl.", "The red block is in the green bowl."),
        ("slower, at most 0.1 m/s", "slower, at most 0.1 metres per second"),
        ("it is 5cm too far, and 30° off", "it is 5 centimetres too far, and 30 degrees off"),
        ("which block? (the red block / the blue block)", "which block: the red block, or the blue block?"),
        ("Done. (language model: 2 requests, 310 tokens)", "Done."),
        ("The rule is kept. G !over(robot, vase) holds.", "The rule is kept."),
        ("See runs/today/nodes.log for more. It failed.", "It failed."),
        ('The plan may run: pick("red block").', ""),
        ("“put it down” is done", "put it down is done"),
        ("", ""),
    ],
)
def test_only_whole_sentences_that_can_be_spoken_are_said(text, said):
    assert spoken(text) == said


def test_a_long_text_is_cut_between_words():
    said = spoken("The block is far away, " * 40)
    assert MOST / 2 < len(said) <= MOST
    assert said.split()[-1].strip(",") in ("The", "block", "is", "far", "away")


@pytest.mark.parametrize("words", KEYPHRASES)
def test_the_robot_never_says_an_alarm_word(words):
    said = spoken(f"8 commands wait. Or say {words} to drop them all.")
    assert said == "8 commands wait."
    assert not is_stop(said)


def found(*programs: str) -> Callable[[str], str | None]:
    return lambda name: f"/usr/bin/{name}" if name in programs else None


def test_the_first_voice_that_is_installed_is_taken_and_any_can_be_named():
    assert open_voice(find=found("espeak-ng", "spd-say")).name == "espeak-ng"
    assert open_voice(find=found("spd-say")).command == ("/usr/bin/spd-say", "--wait", "--")
    assert open_voice("spd-say", find=found("espeak-ng", "spd-say")).name == "spd-say"


@pytest.mark.parametrize(
    ("name", "file", "message"),
    [
        ("auto", "", r"no voice is installed. Install piper: pip install .*; or espeak-ng: apt install espeak-ng; or"),
        ("spd-say", "", r"Install spd-say: apt install speech-dispatcher$"),
        ("piper", "", r"a voice file that voice_file names"),
        ("piper", "/none.onnx", r"voice_file: there is no file /none.onnx"),
        ("hal", "", r"there is no voice 'hal'; choose one of: auto, piper, espeak-ng, spd-say"),
    ],
)
def test_a_voice_that_is_not_there_is_an_error_that_says_what_to_install(name, file, message):
    with pytest.raises(InputError, match=message):
        open_voice(name, file, found())


class Mouth:
    """A voice that writes each text to a file when it begins and, unless it is cut off, when it has ended.

    A text that begins with "long" lasts until it is cut off.
    """

    CODE = """import sys, time
log, text = sys.argv[1:]
def note(what):
    with open(log, 'a') as file: print(what, text, file=file, flush=True)
note('begins')
if text.startswith('long'): time.sleep(600)
note('ends')"""

    def __init__(self, folder: Path) -> None:
        self._log = folder / "said"
        self._log.touch()
        self.reports: list[str] = []
        self.speaker = Speaker(Voice("mouth", (sys.executable, "-c", self.CODE, str(self._log))), self.reports.append)

    @property
    def said(self) -> list[str]:
        return self._log.read_text().splitlines()

    def until(self, condition: Callable[[], bool]) -> None:
        until(condition)


def until(condition: Callable[[], bool]) -> None:
    pause, deadline = threading.Event(), time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < deadline, "it did not come true in time"
        pause.wait(0.01)


@pytest.fixture
def mouth(tmp_path):
    one = Mouth(tmp_path)
    yield one
    one.speaker.silence()


def test_more_urgent_words_cut_off_what_is_said(mouth):
    mouth.speaker.say("long result")
    mouth.until(lambda: mouth.said == ["begins long result"])
    mouth.speaker.say("a question", Urgency.QUESTION)
    mouth.until(lambda: len(mouth.said) == 3)
    assert mouth.said[1:] == ["begins a question", "ends a question"]


def test_words_that_are_not_more_urgent_wait_and_only_the_newest(mouth):
    mouth.speaker.say("long question", Urgency.QUESTION)
    mouth.until(lambda: len(mouth.said) == 1)
    for text in ("one", "two"):
        mouth.speaker.say(text)
    assert mouth.said == ["begins long question"]
    mouth.speaker.say("long alarm", Urgency.ALARM)
    mouth.speaker.say("three")
    mouth.speaker.say("four")
    mouth.until(lambda: len(mouth.said) == 2)
    assert mouth.said[1] == "begins long alarm"


def test_what_waits_is_said_when_the_words_before_it_have_ended(mouth):
    mouth.speaker.say("one")
    mouth.speaker.say("two")
    mouth.until(lambda: len(mouth.said) == 4)
    assert mouth.said == ["begins one", "ends one", "begins two", "ends two"]


def test_silence_is_at_once_and_forgets_what_waits(mouth):
    mouth.speaker.say("long result")
    mouth.speaker.say("another")
    mouth.until(lambda: len(mouth.said) == 1)
    mouth.speaker.silence()
    mouth.until(lambda: not mouth.speaker.is_heard)
    assert mouth.said == ["begins long result"]


def test_it_is_heard_while_it_speaks_and_a_moment_longer(tmp_path):
    now = [0.0]
    speaker = Speaker(Voice("true", ("true",)), lambda reason: None, lambda: now[0])
    assert not speaker.is_heard
    speaker.say("words")
    assert speaker.is_heard
    speaker.silence()
    now[0] = 0.2
    assert speaker.is_heard
    now[0] = 0.4
    assert not speaker.is_heard


@pytest.mark.parametrize(
    ("command", "reason"),
    [(("false",), "voice mouth failed with exit code 1"), (("/no/such/program",), "voice mouth cannot be started")],
)
def test_a_voice_that_fails_is_reported(command, reason):
    reports: list[str] = []
    speaker = Speaker(Voice("mouth", command), reports.append)
    speaker.say("words")
    until(lambda: bool(reports))
    assert reason in reports[0]


# Hearing, while the robot speaks


def synthesised(text: str, folder: Path, voice: str = "en") -> np.ndarray:
    path = folder / "said.wav"
    subprocess.run([str(ESPEAK), "-v", voice, "-w", str(path), "--", text], check=True)
    format, chunks = read_wave(path)
    return AudioReader(format).read(b"".join(chunks))


def heard(sound: np.ndarray, deaf: bool) -> list[StopHeard | Utterance]:
    listener = Listener(AudioFormat(), Endpointer(SileroDetector()), SphinxStopSpotter())
    data = pcm(sound)
    events = [one for begin in range(0, len(data), 3200) for one in listener.hear(data[begin : begin + 3200], deaf)]
    return [*events, *listener.close()]


ANSWERS = (
    "Which block do you mean? (the red block / the blue block)",
    "It is refused: the vase would be in the way. Say stop to drop the command.",
    "The skill pick failed; the block slipped from the fingers on its way to the bowl.",
)


@needs_espeak
@pytest.mark.parametrize("text", ANSWERS)
def test_the_robots_own_voice_does_nothing(text, tmp_path):
    voice = synthesised(spoken(text), tmp_path)
    sound = np.concatenate((voice, np.zeros(8000, np.float32)))
    assert any(isinstance(one, Utterance) for one in heard(sound, deaf=False))  # it would be understood as a person's
    assert heard(sound, deaf=True) == []


def test_a_stop_is_heard_while_the_robot_speaks_as_the_only_thing(clips):
    quiet = 0.01 * np.random.default_rng(1).normal(size=8000).astype(np.float32)
    (stop,) = heard(np.concatenate((quiet, clips("stop"), clips("a_bit_to_the_left"))), deaf=True)
    assert (stop.words, stop.is_all) == ("stop", True)


@needs_espeak
@pytest.mark.parametrize("text", ANSWERS)
def test_a_stop_over_the_robots_voice_is_heard_as_far_as_echo_cancelling_takes_that_away(text, tmp_path):
    stop, voice = synthesised("stop!", tmp_path, "en-us+m3"), synthesised(spoken(text), tmp_path)
    sound = 10 ** (-30 / 20) * voice * np.sqrt(np.mean(stop**2) / np.mean(voice**2))
    middle = len(sound) // 2
    sound[middle : middle + len(stop)] += stop[: len(sound) - middle]
    assert [one.words for one in heard(sound.astype(np.float32), deaf=True)] == ["stop"]

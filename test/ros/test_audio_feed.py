"""Sound from the topic `audio` becomes words; ears and node are fakes."""

from __future__ import annotations

from array import array
from collections.abc import Callable
from dataclasses import dataclass, field
from types import SimpleNamespace

import numpy as np
import pytest
from std_msgs.msg import UInt8MultiArray

from llm_planner.ros.speech_topics import AudioFeed, SpeechPipeline
from llm_planner.speech.listening import StopHeard, Utterance
from llm_planner.speech.recognisers import SpeechError, Transcript, Vocabulary

STOP = StopHeard("stop", 0.1)
SAID = Utterance(np.zeros(16, np.float32), 0.0, 1.0)
WORDS = Vocabulary(objects=("mug",))


@dataclass
class FakeNode:
    """Keeps the callback and the errors; what a thread has done arrives when `deliver` is called."""

    executor: None = None
    errors: list[str] = field(default_factory=list)
    hear: Callable[[UInt8MultiArray], None] = lambda message: None
    deliver: Callable[[], None] = lambda: None

    def create_subscription(self, kind, topic, callback, qos) -> None:
        assert (kind, topic) == (UInt8MultiArray, "audio")
        self.hear = callback

    def create_guard_condition(self, callback):
        self.deliver = callback
        return SimpleNamespace(trigger=lambda: None)

    def get_logger(self):
        return SimpleNamespace(error=self.errors.append)


class FakeEars:
    """Hears a stop in the byte 1, an utterance in the byte 2, which is understood as `transcript`, and a pause in it in
    the byte 3."""

    is_cheap = True
    interrupted = False

    def __init__(self, transcript: Transcript) -> None:
        self._transcript = transcript
        self.asked = 0
        self.paused: Utterance | None = None

    def hear(self, chunk: bytes, deaf: bool = False) -> list[StopHeard | Utterance]:
        if deaf:
            return [StopHeard("stop", 0.1, is_all=True)] if chunk == b"\1" else []
        self.paused = SAID if chunk == b"\3" else None
        return {b"\1": [STOP], b"\2": [SAID]}.get(chunk, [])

    def transcribe(self, samples, vocabulary) -> Transcript:
        self.asked += 1
        assert (samples is SAID.samples, vocabulary) == (True, WORDS)
        return self._transcript


class Heard:
    """What a feed has given, until it has given so many things."""

    def __init__(self, transcript: Transcript | None) -> None:
        self.node, self.stops, self.words = FakeNode(), [], []
        self.ears = ears = FakeEars(transcript) if transcript else None

        def open_ears(node) -> SpeechPipeline:
            if ears is None:
                raise SpeechError("pocketsphinx is not installed")
            return SpeechPipeline(ears, ears)

        self.speaks, self.interruptions = False, 0
        AudioFeed(
            self.node,
            lambda: WORDS,
            self.stops.append,
            self.words.append,
            lambda: self.speaks,
            self.interrupt,
            open_ears,
        )

    def interrupt(self) -> None:
        self.interruptions += 1

    def until(self, condition: Callable[[], bool], *chunks: bytes) -> None:
        while not condition():
            for chunk in chunks:
                self.node.hear(UInt8MultiArray(data=array("B", chunk)))
            self.node.deliver()


def test_a_stop_word_is_told_while_it_is_spoken():
    heard = Heard(Transcript("", 0.0, accepted=False))
    heard.until(lambda: bool(heard.stops), b"\1")
    assert (heard.stops[0], heard.words) == ("stop", [])


def test_what_is_said_before_the_ears_are_open_is_heard_then():
    heard = Heard(Transcript("a bit slower", 0.9, accepted=True))
    heard.node.hear(UInt8MultiArray(data=array("B", b"\2")))
    heard.until(lambda: bool(heard.words))
    assert heard.words == ["a bit slower"]


def test_an_utterance_that_is_understood_is_told():
    heard = Heard(Transcript("a bit slower", 0.9, accepted=True))
    heard.until(lambda: bool(heard.words), b"\2")
    assert heard.words[0] == "a bit slower"


def test_what_paused_is_understood_before_it_has_ended_and_only_once():
    heard = Heard(Transcript("a bit slower", 0.9, accepted=True))
    heard.node.hear(UInt8MultiArray(data=array("B", b"\3")))
    heard.until(lambda: heard.ears.asked == 1)
    assert heard.words == []
    heard.until(lambda: bool(heard.words), b"\2")
    assert (set(heard.words), heard.ears.asked) == ({"a bit slower"}, 1)


def test_an_expensive_recogniser_is_asked_only_once_all_is_said():
    heard = Heard(Transcript("a bit slower", 0.9, accepted=True))
    heard.ears.is_cheap = False
    heard.node.hear(UInt8MultiArray(data=array("B", b"\3")))
    heard.until(lambda: bool(heard.stops), b"\1")
    assert heard.ears.asked == 0


def test_while_the_robot_speaks_a_stop_word_is_all_that_counts():
    heard = Heard(Transcript("a bit slower", 0.9, accepted=True))
    heard.speaks = True
    heard.until(lambda: bool(heard.words), b"\2", b"\1")
    assert (set(heard.words), heard.stops) == ({"stop"}, [])


def test_chatter_is_not_told():
    heard = Heard(Transcript("lunch", 0.2, accepted=False))
    heard.until(lambda: bool(heard.stops), b"\2", b"\1")
    heard.node.deliver()
    assert heard.words == []


@pytest.mark.parametrize("chunk", [b"\1", b"\2"])
def test_without_a_recogniser_the_reason_is_told_once(chunk):
    heard = Heard(None)
    heard.until(lambda: bool(heard.node.errors), chunk)
    heard.node.hear(UInt8MultiArray(data=array("B", chunk)))
    assert heard.node.errors == ["speech is not heard: pocketsphinx is not installed"]


def test_a_person_who_speaks_above_the_robot_interrupts_it():
    heard = Heard(Transcript("a bit slower", 0.9, accepted=True))
    heard.speaks = True
    heard.until(lambda: bool(heard.words), b"\1")
    assert heard.interruptions == 0
    heard.ears.interrupted = True
    heard.until(lambda: heard.interruptions > 0, b"\2")

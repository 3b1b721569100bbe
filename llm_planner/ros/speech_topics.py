"""Speech on topics: what people say on `audio`, with stop words while they still speak, and the robot's spoken answers.

`send_sound` is the client's side: it publishes sound on the topic and reports transcripts and results.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from llm_planner_interfaces.action import ExecuteCommand
from llm_planner_interfaces.msg import CommandStatus, CorrectionResult, PlanStatus
from rclpy.task import Future
from std_msgs.msg import String, UInt8MultiArray

from llm_planner.language.stop_words import is_stop
from llm_planner.ros.base_node import COMMANDS, LATCHED, RELIABLE, SENSOR_DATA, SPOKEN, BaseNode
from llm_planner.ros.conversions import message_checks as checks
from llm_planner.ros.parameters import Setting
from llm_planner.ros.waiting import Worker
from llm_planner.speech.audio import RATE, Samples
from llm_planner.speech.speaking import Speaker, Urgency, open_voice, spoken

if TYPE_CHECKING:
    from llm_planner.ros.client import SystemClient
    from llm_planner.speech.listening import Listener, Utterance
    from llm_planner.speech.recognisers import Recogniser, Transcript, Vocabulary


SETTINGS = (
    Setting("audio_rate", 16_000, "of the sound on the topic audio [Hz]", 8_000, 192_000),
    Setting("audio_encoding", "s16le", "of that sound", choices=("s16le", "s32le", "f32le", "u8", "mulaw")),
    Setting(
        "recogniser", "pocketsphinx", "what understands speech", choices=("pocketsphinx", "server", "faster-whisper")
    ),
    Setting("recogniser_weights", "", "folder of the weights of faster-whisper"),
    Setting("speak", False, "say questions, results and refusals aloud"),
    Setting(
        "voice",
        "auto",
        "program that speaks; auto: the first that is there",
        choices=("auto", "piper", "espeak-ng", "spd-say"),
    ),
    Setting("voice_file", "", "file of the voice of piper (NAME.onnx)"),
)

MOST_BYTES = 1_000_000  # of one message; half a minute of sound
MOST_MISSED = 500  # messages kept until the recogniser is open


@dataclass(frozen=True)
class SpeechPipeline:
    """Segmenter of a stream of sound, and recogniser of its segments, one at a time."""

    hearing: Listener
    recogniser: Recogniser


class AudioFeed:
    """Recognises speech on the topic `audio`.

    The recogniser opens in the background at the first sound, so a system without sound needs no speech packages. Sound
    that arrives before it is open is kept. At a pause, a cheap recogniser starts at once on the utterance so far.

    `on_stop(words)` is called for a stop word, `on_words(words)` for a recognised utterance, both in the node's
    executor. `vocabulary()` returns the words to expect. While the robot `speaks()`, only stop words count, which are
    then the whole utterance; `on_interruption()` is called for a person who speaks above it.
    """

    def __init__(
        self,
        node: BaseNode,
        vocabulary: Callable[[], Vocabulary],
        on_stop: Callable[[str], None],
        on_words: Callable[[str], None],
        speaks: Callable[[], bool] = lambda: False,
        on_interruption: Callable[[], None] = lambda: None,
        open_ears: Callable[[BaseNode], SpeechPipeline] | None = None,
    ) -> None:
        self._node, self._vocabulary, self._on_stop, self._on_words = node, vocabulary, on_stop, on_words
        self._speaks, self._on_interruption = speaks, on_interruption
        self._worker, self._one_at_a_time = Worker(node), threading.Lock()
        self._open, self._opening = open_ears or _open_ears, None
        self._ears: SpeechPipeline | None = None
        self._missed: deque[tuple[bytes, bool]] = deque(maxlen=MOST_MISSED)
        self._draft: tuple[Utterance | None, Future] = (None, Future())  # early transcript of an unfinished utterance
        heard = checks.validated(node, _sound_from_msg, self._on_sound)
        node.create_subscription(UInt8MultiArray, "audio", heard, SENSOR_DATA)
        try:
            from audio_common_msgs.msg import AudioData
        except ImportError:
            return
        node.create_subscription(AudioData, "audio_data", heard, SENSOR_DATA)

    def _on_sound(self, sound: bytes) -> None:
        if self._opening is None:
            self._opening = self._worker.do(lambda: self._open(self._node))
            self._opening.add_done_callback(self._on_open)
        if self._ears is None:
            self._missed.append((sound, self._speaks()))
        else:
            self._hear(self._ears, sound, self._speaks())

    def _hear(self, ears: SpeechPipeline, chunk: bytes, deaf: bool) -> None:
        for event in ears.hearing.hear(chunk, deaf):
            if hasattr(event, "words"):
                (self._on_words if event.is_all else self._on_stop)(event.words)
            else:
                self._understanding(event).add_done_callback(self._on_transcript)
        if ears.hearing.interrupted:
            self._on_interruption()
        paused = ears.hearing.paused
        if paused is not None and ears.recogniser.is_cheap:
            self._draft = (paused, self._understanding(paused))

    def _understanding(self, utterance: Utterance) -> Future:
        def understood() -> Transcript:
            with self._one_at_a_time:
                return self._ears.recogniser.transcribe(utterance.samples, self._vocabulary())

        begun, understanding = self._draft
        return understanding if begun is utterance else self._worker.do(understood)

    def _on_open(self, opened: Future) -> None:
        if opened.exception() is None:
            self._ears = opened.result()
            while self._missed:
                self._hear(self._ears, *self._missed.popleft())
        else:
            self._missed.clear()
            self._node.get_logger().error(f"speech is not heard: {opened.exception()}")

    def _on_transcript(self, understood: Future) -> None:
        error = understood.exception()
        if error is not None:
            self._node.get_logger().error(str(error))
        elif understood.result().accepted:
            self._on_words(understood.result().words)


def _sound_from_msg(message: UInt8MultiArray) -> bytes:
    checks.items("audio.data", message.data, MOST_BYTES)
    return bytes(message.data)


def _open_ears(node: BaseNode) -> SpeechPipeline:
    """Open listener and recogniser; raise SpeechError for missing packages, InputError for invalid settings."""
    from llm_planner.speech.audio import AudioFormat
    from llm_planner.speech.listening import Endpointer, Listener, SileroDetector
    from llm_planner.speech.recognisers import open_recogniser
    from llm_planner.speech.sphinx_recogniser import SphinxStopSpotter

    weights = node.setting("recogniser_weights")
    recogniser = open_recogniser(node.setting("recogniser"), Path(weights) if weights else None)
    form = AudioFormat(node.setting("audio_rate"), node.setting("audio_encoding"))
    return SpeechPipeline(Listener(form, Endpointer(SileroDetector()), SphinxStopSpotter()), recogniser)


MEET = 5.0  # [s] for discovery of a running system
SILENCE = 1.0  # [s] of silence appended, so that the system detects the end of speech
ANSWERED = 4.0  # [s] to wait for results after that


def send_sound(
    client: SystemClient, sound: Iterable[Samples], tell: Callable[[str], None], in_step: bool = False
) -> None:
    """Publish sound on the topic `audio`, and report what the system makes of it.

    Args:
        client: Client of the running system.
        sound: Chunks (n,) of samples at 16 kHz.
        tell: Called with each transcript and result, as a line of text.
        in_step: Whether to publish in real time instead of as fast as chunks arrive.

    Raises:
        SystemUnreachableError: No node subscribes to `audio`.
    """
    from llm_planner.ros.stop_client import NO_SYSTEM
    from llm_planner.speech.audio import pcm

    audio = client.node.create_publisher(UInt8MultiArray, "audio", SENSOR_DATA)
    client.node.create_subscription(String, "transcript", lambda heard: tell(f"heard: {heard.data}"), RELIABLE)
    client.node.create_subscription(
        CorrectionResult, "correction_result", lambda one: tell(f"  {one.message}"), RELIABLE
    )
    client.wait_until(lambda: audio.get_subscription_count() > 0, MEET, otherwise=NO_SYSTEM)
    for piece in sound:
        audio.publish(UInt8MultiArray(data=pcm(piece)))
        client.spin_for(len(piece) / RATE if in_step else 0.001)
    audio.publish(UInt8MultiArray(data=pcm(np.zeros(round(SILENCE * RATE), np.float32))))
    client.spin_for(ANSWERED)


AT_REST = "The robot is at rest."  # not "stopped", which it would hear as a stop word
Result = ExecuteCommand.Result


class SpokenAnswers:
    """Says what the node's system answers, if the parameter `speak` is set; a stop silences it at once.

    Args:
        node: Node with the parameters `SETTINGS`.
        open_speaker: Makes the speaker; raises InputError where no voice is installed.
    """

    def __init__(self, node: BaseNode, open_speaker: Callable[[BaseNode], Speaker] | None = None) -> None:
        self._speaker: Speaker | None = None
        self._stops: int | None = None
        self._ended = ""  # id of the last command whose end was said
        if not node.setting("speak"):
            return
        self._speaker = (open_speaker or _open_speaker)(node)
        node.create_subscription(CommandStatus, "command_status", self._on_command, COMMANDS)
        node.create_subscription(CorrectionResult, "correction_result", self._on_answer, SPOKEN)
        node.create_subscription(PlanStatus, "plan_status", self._on_status, LATCHED)
        node.create_subscription(String, "transcript", lambda said: is_stop(said.data) and self.silence(), RELIABLE)

    @property
    def is_heard(self) -> bool:
        """Whether a microphone beside the robot hears its voice now."""
        return self._speaker is not None and self._speaker.is_heard

    def silence(self) -> None:
        """End what is being said; nothing if the robot does not speak."""
        if self._speaker is not None:
            self._speaker.silence()

    def _on_status(self, status: PlanStatus) -> None:
        if self._stops not in (None, status.stops):
            self.silence()
            self._say(AT_REST, Urgency.ALARM)
        self._stops = status.stops

    def _on_command(self, status: CommandStatus) -> None:
        if status.state != CommandStatus.ENDED or status.id == self._ended:
            return
        self._ended = status.id
        if status.error_code != Result.STOPPED:  # the plan's status tells of it
            is_asked = status.error_code == Result.QUESTION
            self._say(status.message, Urgency.QUESTION if is_asked else Urgency.RESULT)

    def _on_answer(self, answer: CorrectionResult) -> None:
        is_asked = answer.outcome == CorrectionResult.QUESTION
        self._say(answer.message, Urgency.QUESTION if is_asked else Urgency.RESULT)

    def _say(self, text: str, urgency: Urgency) -> None:
        if self._speaker is not None:
            self._speaker.say(spoken(text), urgency)


def _open_speaker(node: BaseNode) -> Speaker:
    voice = open_voice(str(node.setting("voice")), str(node.setting("voice_file")))
    return Speaker(voice, lambda reason: node.get_logger().error(reason, throttle_duration_sec=5.0))

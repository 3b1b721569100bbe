"""The robot's spoken answers: questions, results and refusals from the topics on which they are published."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from llm_planner_interfaces.action import ExecuteCommand
from llm_planner_interfaces.msg import CommandStatus, CorrectionResult, PlanStatus
from std_msgs.msg import String

from llm_planner.language.stop_words import is_stop
from llm_planner.ros.base_node import COMMANDS, LATCHED, RELIABLE, SPOKEN
from llm_planner.ros.parameters import Setting
from llm_planner.speech.spoken_text import spoken
from llm_planner.speech.voices import Speaker, Urgency, open_voice

if TYPE_CHECKING:
    from llm_planner.ros.base_node import BaseNode

SETTINGS = (
    Setting("speak", False, "say questions, results and refusals aloud"),
    Setting(
        "voice",
        "auto",
        "program that speaks; auto: the first that is there",
        choices=("auto", "piper", "espeak-ng", "spd-say"),
    ),
    Setting("voice_file", "", "file of the voice of piper (NAME.onnx)"),
)
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
        self._speaker = (open_speaker or _opened)(node)
        node.create_subscription(CommandStatus, "command_status", self._on_command, COMMANDS)
        node.create_subscription(CorrectionResult, "correction_result", self._on_answer, SPOKEN)
        node.create_subscription(PlanStatus, "plan_status", self._on_status, LATCHED)
        node.create_subscription(String, "transcript", self._on_transcript, RELIABLE)

    @property
    def is_heard(self) -> bool:
        """Whether a microphone beside the robot hears its voice now."""
        return self._speaker is not None and self._speaker.is_heard

    def silence(self) -> None:
        """End what is being said; nothing if the robot does not speak."""
        if self._speaker is not None:
            self._speaker.silence()

    def _on_transcript(self, message: String) -> None:
        if is_stop(message.data):
            self.silence()

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


def _opened(node: BaseNode) -> Speaker:
    voice = open_voice(str(node.setting("voice")), str(node.setting("voice_file")))
    return Speaker(voice, lambda reason: node.get_logger().error(reason, throttle_duration_sec=5.0))

"""What the robot says aloud of the answers on its topics, and what silences it; node and speaker are fakes."""

from __future__ import annotations

from dataclasses import dataclass, field

import pytest
from llm_planner_interfaces.action import ExecuteCommand
from llm_planner_interfaces.msg import CommandStatus, CorrectionResult, PlanStatus
from std_msgs.msg import String

from llm_planner.ros.speech_topics import AT_REST, SETTINGS, SpokenAnswers
from llm_planner.speech.speaking import VOICES, Urgency
from test.ros.fake_node import FakeNode

Result = ExecuteCommand.Result


@dataclass
class FakeSpeaker:
    is_heard: bool = False
    said: list[tuple[str, Urgency]] = field(default_factory=list)

    def say(self, text: str, urgency: Urgency) -> None:
        self.said.append((text, urgency))

    def silence(self) -> None:
        self.said.append(("", Urgency.ALARM))


@pytest.fixture
def robot():
    node, speaker = FakeNode({"speak": True}), FakeSpeaker()
    SpokenAnswers(node, lambda _: speaker)
    return node.heard, speaker.said


def test_every_voice_can_be_chosen():
    (choices,) = (one.choices for one in SETTINGS if one.name == "voice")
    assert choices == VOICES


def ended(code: int, message: str, id: str = "c") -> CommandStatus:
    return CommandStatus(id=id, state=CommandStatus.ENDED, error_code=code, message=message)


def test_a_result_is_said_once(robot):
    callbacks, said = robot
    callbacks["command_status"](CommandStatus(id="c", state=CommandStatus.EXECUTING, message="executing"))
    for _ in range(3):
        callbacks["command_status"](ended(Result.SUCCEEDED, "The red block is in the bowl."))
    assert said == [("The red block is in the bowl.", Urgency.RESULT)]


def test_questions_of_commands_and_corrections_are_more_urgent_than_results(robot):
    callbacks, said = robot
    callbacks["command_status"](ended(Result.QUESTION, "Which block? (red / blue)"))
    callbacks["correction_result"](CorrectionResult(outcome=CorrectionResult.QUESTION, message="Which mug?"))
    callbacks["correction_result"](CorrectionResult(outcome=CorrectionResult.REFUSED, message="There is no mug."))
    assert said == [
        ("Which block: red, or blue?", Urgency.QUESTION),
        ("Which mug?", Urgency.QUESTION),
        ("There is no mug.", Urgency.RESULT),
    ]


def test_a_stop_silences_and_is_told(robot):
    callbacks, said = robot
    callbacks["plan_status"](PlanStatus(stops=3))
    assert said == []
    callbacks["plan_status"](PlanStatus(stops=4))
    callbacks["command_status"](ended(Result.STOPPED, "Stopped."))
    assert said == [("", Urgency.ALARM), (AT_REST, Urgency.ALARM)]


def test_the_word_stop_silences_also_at_rest(robot):
    callbacks, said = robot
    callbacks["transcript"](String(data="slower"))
    assert said == []
    callbacks["transcript"](String(data="stop"))
    assert said == [("", Urgency.ALARM)]


def test_without_the_parameter_nothing_is_opened_and_nothing_is_said():
    node = FakeNode({"speak": False})
    answers = SpokenAnswers(node, lambda _: pytest.fail("a voice was opened"))
    answers.silence()
    assert (node.heard, answers.is_heard) == ({}, False)

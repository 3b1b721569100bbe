"""What is remembered from one command to the next: real nodes, real DDS, physics, a memory on the disk."""

from __future__ import annotations

import pytest

from llm_planner.corrections.edits import Outcome
from llm_planner.ros.client import Submission

COMMAND = "put the red block in the green bowl"


@pytest.fixture
def learning(fresh):
    """The system, which nobody has taught anything."""
    fresh.forget_everything()
    return fresh


@pytest.fixture
def unasked(learning) -> list[str]:
    """What the robot says that is no answer."""
    lines: list[str] = []
    learning.client.watch_remarks(lambda remark: lines.append(remark.message))
    return lines


def begun(system, *words: str) -> tuple[Submission, list[str]]:
    """The command is begun on a fresh table; what is answered to the words that are said then."""
    system.reset()
    running = system.start(COMMAND)
    answers = [system.client.correct(one) for one in words]
    assert all(answer.outcome is Outcome.APPLIED for answer in answers), answers
    return running, [answer.message for answer in answers]


def test_what_is_always_to_be_so_is_announced_and_done_in_the_next_command_until_it_is_forgotten(learning, unasked):
    running, said = begun(learning, "always a bit slower with blocks")
    assert said == ["~ speed 1 -> 0.75 of the full speed, in steps 1 and 2"]
    result = learning.finish(running)
    assert result.succeeded, result.message
    assert unasked == []

    _, said = begun(learning, "half speed", "undo that")
    assert said == [
        "~ speed 1 -> 0.5 of the full speed; ~ speed 0.75 -> 0.5 of the full speed, in step 1",
        "~ speed 0.5 -> 1 of the full speed; ~ speed 0.5 -> 0.75 of the full speed, in step 1",
    ]
    assert unasked == ["using what you told me today: slower with blocks"]
    assert learning.client.correct("forget that").message == "forgotten: slower with blocks"
    learning.client.stop("seen enough")

    unasked.clear()
    _, said = begun(learning, "half speed")
    assert said == ["~ speed 1 -> 0.5 of the full speed"]
    assert unasked == []
    learning.client.stop("the test is over")

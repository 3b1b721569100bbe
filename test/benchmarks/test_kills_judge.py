"""The kill benchmark misses nothing that is lost or moves, and calls nothing lost that is there."""

from __future__ import annotations

import random
import sys
from pathlib import Path

import pytest

sys.path.append(str(Path(__file__).parents[2] / "benchmarks"))

from kills_judge import Motion, lost_commands, lost_edits, lost_lessons, moving_after, not_offered, rested_after
from kills_run import LONGEST, drawn

from llm_planner.corrections.edits import Adjust, Answer, Change, Edit, Hold, Outcome, Remember, Undo
from llm_planner.corrections.preferences.preference import Occasion, Preference, Slots, State
from llm_planner.execution.journal import Record, RecordKind
from llm_planner.language.correction_requests import Scope
from llm_planner.language.stop_words import GO_ON

SLOWER = Adjust("speed", Change.SCALE, 0.5)
LESSON = Preference("", (SLOWER,), Slots(kind="block"), Slots(), Scope.ALWAYS, Occasion(0.0), state=State.LEARNED)


def applied(*operations: object, message: str = "") -> Answer:
    return Answer(Outcome.APPLIED, message, Edit(tuple(operations)))


def edit(words: str) -> Record:
    return Record(0.0, RecordKind.EDIT, "a", {"words": words})


def test_a_command_that_was_taken_twice_must_be_there_twice() -> None:
    kept = [Record(0.0, RecordKind.COMMAND, "a", {"command": "wave"}), edit("wave")]
    assert lost_commands(["wave"], kept) == []
    assert lost_commands(["wave", "wave"], kept) == ["the command “wave” is not in the journal"]


@pytest.mark.parametrize("operation", [SLOWER, Undo()])
def test_an_edit_that_was_said_to_be_in_force_must_be_there(operation: object) -> None:
    assert lost_edits([("slower", applied(operation))], [edit("slower")]) == []
    assert lost_edits([("slower", applied(operation))], []) == ["the edit “slower” is not in the journal"]


def test_what_changes_no_plan_or_was_refused_need_not_be_there() -> None:
    refused = Answer(Outcome.REFUSED, "no", Edit((SLOWER,)))
    said = [("wait", applied(Hold())), ("remember that", applied(Remember())), ("slower", refused), ("", applied())]
    assert lost_edits(said, []) == []


def test_what_was_said_to_be_remembered_must_be_there_and_learned() -> None:
    said = [("remember that", applied(message="I will remember: slower with blocks"))]
    assert lost_lessons(said, [LESSON]) == []
    assert lost_lessons(said, []) == ["the lesson “slower with blocks” is not in the memory"]
    assert lost_lessons([("slower", applied(message="~ speed 1 -> 0.5 of the full speed"))], []) == []


def test_what_was_taken_back_with_its_edit_need_not_be_remembered() -> None:
    said = [("remember that", applied(message="I will remember: slower with blocks")), ("undo that", applied(Undo()))]
    assert lost_lessons(said, []) == []


def test_an_arm_that_moves_when_it_should_rest_is_told() -> None:
    motions = [Motion(1.0, 0.5), Motion(3.0, 0.005), Motion(6.0, 0.2), Motion(7.0, 0.0)]
    assert moving_after(motions, 5.0) == "the arm moved at 20 % of the limit, 1.0 s after it had to rest"
    assert moving_after(motions, 6.5) == ""
    assert rested_after(motions, 0.5) == 5.5
    assert rested_after([], 0.5) == 0.0


def test_what_is_said_and_killed_is_the_same_for_the_same_seed() -> None:
    first, second = (drawn("simulator", random.Random(5)) for _ in range(2))
    assert first == second
    assert 0.0 <= first.kill <= LONGEST
    assert list(first.spoken) == sorted(first.spoken)


def test_of_words_that_were_said_twice_the_newer_lesson_counts():
    older, newer = (applied(message=f"I will remember: {what}") for what in ("much slower", "slower with blocks"))
    said = [("always slower with blocks", older), ("always slower with blocks", newer)]
    assert lost_lessons(said, [LESSON]) == []
    assert lost_lessons([("always slower", older), ("always slower with blocks", newer)], [LESSON]) == [
        "the lesson “much slower” is not in the memory"
    ]


def test_an_unfinished_plan_has_to_be_offered_and_a_finished_one_not():
    assert not_offered(True, "unfinished: “tidy up”; done: nothing; " + GO_ON) == []
    assert not_offered(True, "idle") == ["the unfinished plan is not offered: the executor says “idle”"]
    assert not_offered(False, "") == []

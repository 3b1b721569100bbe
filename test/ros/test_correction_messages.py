"""Edits, situations and ways of doing a step, as messages and back."""

from __future__ import annotations

import json

import pytest
from geometry_msgs.msg import Point
from llm_planner_interfaces.msg import CorrectionResult, PlanStatus
from std_msgs.msg import Header

from llm_planner.corrections.edits import Adjust, Answer, Change, Edit, Outcome, Rebind
from llm_planner.errors import InputError
from llm_planner.plans.plan import PlanStep, StepStatus
from llm_planner.ros.conversions.correction_messages import (
    edit_from_text,
    edit_to_text,
    result_from_msg,
    result_to_msg,
    situation_from_msg,
    tuning_from_msg,
    tuning_to_msg,
)
from llm_planner.ros.conversions.plan_messages import step_to_msg
from llm_planner.scene.places import viewpoint
from llm_planner.scene.scene import Scene
from llm_planner.skills.tuning import Tuning

EDIT = Edit((Adjust("speed", Change.SCALE, 0.5), Rebind("2", "object", "mug")), "slower, and the müg", 3)
STEP = PlanStep("2", "pick", {"object": "mug"}, 1, StepStatus.RUNNING)


def test_an_edit_survives_as_text():
    assert edit_from_text(edit_to_text(EDIT)) == EDIT


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("slower", r"an edit is written in JSON; 'slower' is not: "),
        ('{"operations": [{"op": "fly"}]}', r"'fly' is not an operation; there are: hold, "),
    ],
)
def test_text_that_is_no_edit_is_told(text, complaint):
    with pytest.raises(InputError, match=complaint):
        edit_from_text(text)


def test_how_a_step_is_to_be_done_survives():
    tuning = Tuning((0.01, -0.02, 0.0), 0.05)
    message = tuning_to_msg(tuning, "2", 7, Header())
    assert (message.step_id, message.executor, tuning_from_msg(message)) == ("2", 7, tuning)


def test_a_result_survives():
    answer = Answer(Outcome.REFUSED, "there is no mug", EDIT, ("~ 2",))
    assert result_from_msg(result_to_msg(answer, "the mug", "Ann", Header())) == answer
    unread = Answer(Outcome.NOTHING, "no")
    assert result_from_msg(result_to_msg(unread, "hm", "", Header())) == unread


def test_a_situation_is_what_the_executor_tells():
    status = PlanStatus(
        command="the mug", version=3, complete=True, steps=[step_to_msg(STEP)], edits=[edit_to_text(EDIT)],
        things=["mug"], origins=[Point(x=0.5, y=0.1, z=0.02)],
    )  # fmt: skip
    scene, facing = Scene(1.0, ()), viewpoint("facing")
    situation = situation_from_msg(status, scene, {}, facing)
    assert (situation.running, situation.version, situation.edits) == (STEP, 3, (EDIT,))
    assert (situation.plan.command, situation.plan.complete, situation.viewpoint) == ("the mug", True, facing)
    assert situation.origins == {"mug": (0.5, 0.1, 0.02)}


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("[" * 10_000, r"an edit nests 10000 deep .*; none needs more than 8"),
        ('{"operations":' * 1000, "an edit nests 1000 deep"),
        (" " * 30_000, "an edit has 30000 characters .*; it may have 20000"),
        ('{"operations": [{"op": []}]}', r"\[\] is not an operation; there are: hold, "),
        ('{"operations": [], "words": "\\ud800"}', r"words is text, not '\\ud800'"),
        ('{"operations": [], "version": 4294967296}', "version is a whole number from 0 on"),
    ],
    ids=["deep list", "deep object", "long", "no name", "half a character", "version"],
)
def test_an_edit_that_no_program_could_hold_is_refused(text, complaint):
    with pytest.raises(InputError, match=complaint):
        edit_from_text(text)


def test_brackets_in_words_do_not_nest():
    assert edit_from_text(json.dumps({"operations": [], "words": '[[[[[[[[[[[[ "[[[[[['})).words.startswith("[[[")


@pytest.mark.parametrize(
    ("field", "value", "complaint"),
    [
        ("origins", [], "plan_status.things has 1 items and plan_status.origins has 0"),
        ("state", 9, "plan_status.state is 9; the highest is 5"),
        ("edits", ["[" * 5000], "an edit nests 5000 deep"),
    ],
)
def test_a_plan_status_that_cannot_be_is_refused(field, value, complaint):
    status = PlanStatus(things=["mug"], origins=[Point()])
    setattr(status, field, value)
    with pytest.raises(InputError, match=complaint):
        situation_from_msg(status, Scene(1.0, ()), {}, viewpoint("facing"))


def test_an_outcome_that_does_not_exist_is_refused():
    with pytest.raises(InputError, match=r"correction_result\.outcome is 9; the highest is 3"):
        result_from_msg(CorrectionResult(outcome=9))


def test_an_offset_beyond_what_anybody_means_is_refused():
    message = tuning_to_msg(Tuning((0.01, 0.0, 0.0)), "2", 7, Header())
    message.offset.y = float("nan")
    with pytest.raises(InputError, match=r"motion_tuning.offset is \(0.01, nan, 0\)"):
        tuning_from_msg(message)

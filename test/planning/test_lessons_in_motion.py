"""What lessons make of the motion of single steps: no edit of the person's."""

import pytest

from llm_planner.corrections.editing import edited, with_lesson
from llm_planner.corrections.edits import Adjust, Change, Edit, Shift, Undo
from llm_planner.language.correction_requests import Frame


@pytest.fixture
def state(play):
    told = play('pick("red block")\nplace_in("green bowl")')
    told.observe()
    return told.state


def slower(scale=0.5, step=""):
    return Adjust("speed", Change.SCALE, scale, step)


def speeds(state):
    return [state.manner.quantity("speed", step) for step in ("1", "2", "")]


def said(state, *operations):
    return edited(state, Edit(operations, "said", state.version)).state


def test_they_add_up_in_their_step_and_make_no_version(state):
    after = with_lesson(with_lesson(state, [slower(step="1")]), [slower(step="1")])
    assert (speeds(after), after.version, after.before) == ([0.25, 1.0, 1.0], 0, None)
    left = Shift((0.0, 0.02, 0.0), Frame.ROBOT)
    assert with_lesson(with_lesson(after, [left]), [left]).manner.offset_of("1") == pytest.approx((0.0, 0.04, 0.0))


def test_what_the_person_says_comes_on_top_and_alone_outlives_the_step(state):
    after = said(with_lesson(state, [slower(step="1")]), slower(0.2))
    assert speeds(after) == [0.1, 0.2, 0.2]
    assert speeds(said(after, Undo())) == [0.5, 1.0, 1.0]


def test_what_the_person_has_said_of_the_step_goes_before(state):
    assert speeds(with_lesson(said(state, slower(0.2, "1")), [slower(step="1")])) == [0.2, 1.0, 1.0]


def test_taking_an_edit_back_is_not_about_them(state):
    after = with_lesson(said(state, slower(0.5)), [slower(0.5, "1")])
    assert speeds(after) == [0.25, 0.5, 0.5]
    assert speeds(said(after, Undo())) == [0.25, 1.0, 1.0]

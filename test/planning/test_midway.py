"""A plan in the middle of being carried out, for corrections that are only looked at."""

import pytest

from llm_planner.corrections.edit_preview import midway
from llm_planner.errors import InputError
from llm_planner.execution.execution_state import Phase
from llm_planner.planning.planning import plan_program
from llm_planner.scene.places import BEHIND

PROGRAM = 'pick("red block")\nplace_in("red bowl")\npick("green block")\nplace_in("green bowl")'


@pytest.fixture
def at(scene, skills):
    kinds = tuple(skills.values())
    plan = plan_program("tidy up", PROGRAM, scene, kinds).plan
    return lambda step="", holding="": midway(plan, scene, kinds, BEHIND, step, holding)


def test_before_the_first_step_it_is_held_and_nothing_is_in_the_gripper(at):
    state = at()
    assert (state.phase, state.run, state.scene.held) == (Phase.PAUSED, None, "")


def test_what_steps_before_have_done_is_so(at):
    state = at("3")
    assert state.run.step.id == "3"
    assert [step.status.value for step in state.plan.steps] == ["done", "done", "running", "pending"]


def test_what_was_put_down_goes_back_to_where_it_lay_at_first_and_what_is_held_to_where_it_was_taken(at, scene):
    first = {item.name: item.position for item in scene.objects}
    assert at("3").places_before == first
    assert at("3").origins["red block"] != first["red block"]
    assert at("3", "green block").places_before["green block"] == first["green block"]


def test_in_the_middle_of_a_step_something_may_be_in_the_gripper(at):
    assert at("1", "red block").scene.held == "red block"


@pytest.mark.parametrize(
    ("step", "holding", "told"),
    [
        ("9", "", "no step is called '9'; the steps are: 1 pick"),
        ("1", "piano", "there is no 'piano' to be held; the scene holds: "),
        ("1", "green block", "'green block' is in no step up to step 1; what can be held then is: red block"),
    ],
)
def test_a_step_or_a_thing_that_cannot_be_is_told(at, step, holding, told):
    with pytest.raises(InputError) as raised:
        at(step, holding)
    assert told in str(raised.value)

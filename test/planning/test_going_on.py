"""The rest of a command, planned for the scene as it is when the person says "go on"."""

from dataclasses import replace

import pytest

from llm_planner.corrections.resume import Leftover, NothingLeftError, as_before, plan_rest
from llm_planner.errors import InputError
from llm_planner.execution.execution_state import start_execution
from llm_planner.ltl.formula import Constraint
from llm_planner.ltl.parser import parse
from llm_planner.planning.planned import ImpossibleError, PlanningSettings
from llm_planner.planning.planning import plan_program
from llm_planner.plans.manner import AS_USUAL, OfSteps
from llm_planner.plans.plan import StepStatus
from llm_planner.plans.privileges.decision import PrivilegeError
from llm_planner.scene.places import VIEWPOINTS

TWO = 'pick("red block")\nplace_in("green bowl")\npick("blue block")\nplace_in("red bowl")'
DONE, PENDING = StepStatus.DONE, StepStatus.PENDING


@pytest.fixture
def left(play):
    """What is left of a program after so many steps, and the scene in which it was left."""

    def make(text, done, manner=AS_USUAL, **changes):
        begun = play(text)
        begun.observe()
        for _ in range(done):
            begun.step()
        steps = tuple(
            replace(one, status=DONE if number < done else PENDING, message="")
            for number, one in enumerate(begun.state.plan.steps)
        )
        return Leftover("a", replace(begun.state.plan, steps=steps, **changes), manner), begun.robot.scene

    return make


@pytest.fixture
def rest(skills):
    def make(left, scene, **options):
        return plan_rest(left, scene, tuple(skills.values()), **options)

    return make


def program(rest):
    return rest.planned.plan.program.splitlines()


def test_only_what_was_not_done_is_done(left, rest):
    made = rest(*left(TWO, 2))
    assert program(made) == ['pick("blue block")', 'place_in("red bowl")']
    assert made.continues == "a"
    assert made.told == ('going on with “do it”: 1 pick("blue block"), 2 place_in("red bowl")')


def test_what_is_carried_is_put_down_where_it_was_to_go(left, rest):
    assert program(rest(*left(TWO, 1)))[0] == 'place_in("green bowl")'


def test_a_step_whose_end_nobody_saw_is_left_out_where_the_scene_shows_it(left, rest):
    (none, _), (one, picked), (_, placed) = (left(TWO, done) for done in range(3))
    assert program(rest(none, picked))[0] == 'place_in("green bowl")'
    assert program(rest(one, placed))[0] == 'pick("blue block")'


def test_what_was_dropped_since_is_picked_up_again(left, rest, scene):
    carrying, _ = left(TWO, 3)
    assert program(rest(carrying, scene)) == ['pick("blue block")', 'place_in("red bowl")']


def test_where_all_is_done_one_is_told(left, rest):
    unseen, _ = left('pick("red block")\nplace_in("green bowl")', 1)
    _, done = left('pick("red block")\nplace_in("green bowl")', 2)
    with pytest.raises(NothingLeftError, match="nothing to go on with: all of “do it” is done, as far as I can see"):
        rest(unseen, done)


def test_where_a_thing_is_gone_one_is_told(left, rest):
    unseen, now = left(TWO, 2)
    without = replace(now, objects=tuple(item for item in now.objects if item.name != "blue block"))
    with pytest.raises(NothingLeftError, match="the blue block of “do it” is not there any more; there is: red block"):
        rest(unseen, without)


def test_where_a_skill_is_gone_one_is_told(left, skills):
    fewer = [skill for skill in skills.values() if skill.name != "place_in"]
    with pytest.raises(NothingLeftError, match="the skill place_in of “do it” is not there"):
        plan_rest(*left(TWO, 2), fewer)


def test_where_the_rest_cannot_be_done_one_is_told_why(left, rest):
    full, now = left(TWO, 2)
    holding = replace(now, held="green block")
    told = "what is left of “do it” cannot be done now: the robot holds the green block"
    with pytest.raises(NothingLeftError, match=told):
        rest(full, holding)


def test_what_somebody_has_put_into_the_gripper_goes_nowhere_in_the_place_of_another_thing(left, rest):
    carrying, now = left(TWO, 3)
    with pytest.raises(NothingLeftError, match="the robot holds the green block"):
        rest(carrying, replace(now, held="green block"))


def test_what_was_in_the_gripper_from_the_beginning_is_put_down(left, rest, skills, scene):
    holding = replace(scene, held="red block")
    planned = plan_program("put it down", 'place_in("green bowl")', holding, tuple(skills.values()))
    assert program(rest(Leftover("a", planned.plan, AS_USUAL), holding)) == ['place_in("green bowl")']


def test_a_plan_that_depends_on_what_is_seen_is_begun_again(left, rest):
    made = rest(*left('pick("red block")\nplace_in("green bowl")', 2, program="go_home()\n", complete=False))
    assert program(made) == ["go_home()"]
    assert made.told == "“do it” depends on what is seen on the way, so I begin it again: 1 go_home()"


def test_the_rules_bind_the_rest(left, rest):
    rule = Constraint(parse("G !holding(blue_block)"), "hands off the blue block")
    with pytest.raises(ImpossibleError, match="This plan may not run"):
        rest(*left(TWO, 2, constraints=(rule,)))


def test_whoever_says_go_on_must_be_allowed_to_have_it_done(left, rest, careful):
    settings = PlanningSettings(policy=careful(), source="cli")
    with pytest.raises(PrivilegeError):
        rest(*left(TWO, 2), settings=settings)


def test_a_scene_with_names_that_mean_something_else_is_refused(left, rest):
    unseen, now = left(TWO, 2)
    with pytest.raises(InputError, match="is called 'held', which means something else already"):
        rest(unseen, replace(now, objects=(*now.objects, replace(now.objects[0], name="held"))))


def test_directions_stay_those_of_the_speaker(left, rest):
    made = rest(*left('pick("red block")\nplace_at("left side")', 1), viewpoint=VIEWPOINTS["facing"])
    assert program(made) == ['place_at("left side")']


def test_it_moves_as_the_person_wanted_it_before(left, rest):
    said = OfSteps({"2": (0.0, 0.0, 0.01), "4": (0.0, 0.02, 0.0)}, {"1": {"height": 0.1}, "3": {"speed": 0.2}})
    manner = replace(AS_USUAL, speed=0.5, said=said)
    unfinished, now = left(TWO, 2, manner)
    planned = rest(unfinished, now).planned
    state = as_before(start_execution(planned.plan, planned.interpreter, scene=now), unfinished)
    assert state.manner.speed == 0.5
    assert state.manner.said == OfSteps({"2": (0.0, 0.02, 0.0)}, {"1": {"speed": 0.2}})

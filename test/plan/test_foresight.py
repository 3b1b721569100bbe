"""That there is no room is told before anything moves, where it is certain."""

from dataclasses import replace

import pytest

from llm_planner.errors import QuestionError
from llm_planner.plan.planning import plan_program
from llm_planner.world.scene import Scene, SceneObject


@pytest.fixture
def plan(scene, skills):
    def make(text, *more, without=()):
        kept = tuple(item for item in scene.objects if item.name not in without)
        where = replace(scene, objects=(*kept, *more))
        return plan_program("do it", text, where, tuple(skills.values())).plan

    return make


def block(name, x, y, size=(0.04, 0.04, 0.04)):
    return SceneObject(name, name.split()[-1], name.split()[0], (x, y, size[2] / 2), (0.0, 0.0, 0.0, 1.0), size)


NO_ROOM = {
    'pick("red block")\nplace_at(point(0.45, -0.12))': r"at \(0.45, -0.12\); the red bowl is in",
    'pick("red block")\nplace_beside("red bowl", "left")': r"beside the red bowl on that side; the green block is in",
    'pick("green block")\nplace_offset("right", 0.1)': r"exactly that far away; the red bowl is in",
}


@pytest.mark.parametrize("text", NO_ROOM)
def test_a_taken_place_becomes_a_question(plan, text):
    with pytest.raises(QuestionError, match=f"There is no room for the .* {NO_ROOM[text]} the way. What should I do"):
        plan(text)


def test_a_place_off_the_table_becomes_a_question(plan):
    with pytest.raises(
        QuestionError, match=r"The arm cannot reach the place exactly that far away .* What should I do"
    ):
        plan('pick("red block")\nplace_offset("top", 0.5)')


def test_a_full_region_becomes_a_question(plan):
    crowd = [block(f"pink block {k}", 0.29 + 0.05 * (k % 4), -0.39 + 0.05 * (k // 4)) for k in range(24)]
    with pytest.raises(QuestionError, match="There is no room for the red block in that part of the table; the pink"):
        plan('pick("red block")\nplace_at("bottom right corner")', *crowd, without=("blue block",))


def test_what_does_not_fit_into_a_container_becomes_a_question(plan):
    mug = block("pink mug", 0.3, 0.3, (0.05, 0.05, 0.08))
    with pytest.raises(QuestionError, match=r"The red block does not fit into the pink mug\. What should I do instead"):
        plan('pick("red block")\nplace_in("pink mug")', mug, without=("blue block", "blue bowl"))


def test_a_place_that_the_plan_itself_clears_is_no_reason_to_ask(plan):
    made = plan(
        'pick("green block")\nplace_in("blue bowl")\npick("red block")\nplace_at(point(0.45, 0.0))',
        without=("red bowl",),
    )
    assert len(made.steps) == 4


def test_a_place_beside_what_the_plan_moves_is_left_to_the_skill(plan):
    made = plan('pick("red bowl")\nplace_at("middle")\npick("red block")\nplace_beside("red bowl", "right")')
    assert len(made.steps) == 4


def test_a_free_side_is_no_reason_to_ask(plan):
    assert len(plan('pick("red block")\nplace_beside("red bowl")').steps) == 2


def test_what_is_held_already_is_left_to_the_skill(scene, skills):
    holding = Scene(scene.time, scene.objects, "red block")
    made = plan_program("go", "place_at(point(0.45, -0.12))", holding, tuple(skills.values()))
    assert len(made.plan.steps) == 1

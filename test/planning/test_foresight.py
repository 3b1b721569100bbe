"""No room is told before anything moves: where it is certain, and where the plan itself fills the place."""

from dataclasses import replace
from itertools import combinations

import pytest

from llm_planner.errors import QuestionError
from llm_planner.planning.planned import PlanningSettings
from llm_planner.planning.planning import plan_program
from llm_planner.planning.rehearsal import Advice
from llm_planner.scene.scene import Scene, SceneObject
from llm_planner.skills.footprints import footprint, separation


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
    free = r"the way: move that away first, or .*\. What should I do"
    with pytest.raises(QuestionError, match=f"There is no room for the .* {NO_ROOM[text]} {free}"):
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


def test_a_free_place_beside_what_the_plan_moves_is_no_reason_to_ask(plan):
    made = plan('pick("red bowl")\nplace_at("middle")\npick("red block")\nplace_beside("red bowl", "right")')
    assert len(made.steps) == 4


FILLED = {
    'pick("red block")\nplace_beside("green bowl", "left")\npick("green block")\nplace_beside("green bowl", "left")':
        r'in step 4, place_beside\("green bowl", "left", 0.04\), there is no room for the green block .* on that side; '
        r"the red block is in the way: move that away first, or choose its .* side, or choose a distance of",
    'pick("red block")\nplace_at(point(0.6, 0.1))\npick("green block")\nplace_at(point(0.6, 0.1))':
        r"in step 4, place_at\(point\(0.60, 0.10\)\), .* the red block is in the way: move that away first, or put it",
    'pick("red block")\nplace_at(point(0.6, 0.1))\npick("green block")\nplace_offset("top", 0.15)\n'
    'pick("blue block")\nplace_at(point(0.6, 0.0))': r"in step 6, .* the green block is in the way",
    'for block, spot in zip(objects("block"), line_points(3, "horizontal", center=point(0.6, 0.2), gap=0.03)):\n'
    "    pick(block)\n    place_at(spot)": r"in step 6, .* the green block is in the way",
    'here = position("red block")\nthere = position("green block")\npick("red block")\nplace_at(point(0.55, 0.26))\n'
    'pick("green block")\nplace_at(here)': r"in step 4, .* the red block is in the way",
}  # fmt: skip


@pytest.mark.parametrize("text", FILLED)
def test_a_place_that_the_plan_itself_fills_is_asked_about(plan, text):
    with pytest.raises(QuestionError, match=FILLED[text]):
        plan(text)


def test_a_thing_that_the_plan_shuts_in_is_asked_about(plan):
    text = 'pick("green block")\nplace_at(point(0.55, 0.305))\npick("red block")'
    near = block("pink block", 0.6, 0.25, (0.05, 0.05, 0.04)), block("gray block", 0.5, 0.25, (0.05, 0.05, 0.04))
    with pytest.raises(QuestionError, match=r'pick\("red block"\), the fingers do not fit around the red block'):
        plan(text, *near)


EVERYDAY = (
    'for block in objects("block"):\n    pick(block)\n    place_at("left side")',
    'pick("red block")\nplace_beside("green block", "left")\npick("blue block")\nplace_beside("red block", "left")',
    'pick("red block")\nplace_beside("blue block")\npick("green block")\nplace_beside("blue block")',
    'pick("red block")\nplace_on("green block")\npick("blue block")\nplace_on("red block")',
    'pick("red block")\nplace_in("green bowl")\npick("blue block")\nplace_in("green bowl")',
    'for block, spot in zip(objects("block"), line_points(3, "vertical")):\n    pick(block)\n    place_at(spot)',
    'here = position("red block")\nthere = position("green block")\npick("red block")\nplace_at("middle")\n'
    'pick("green block")\nplace_at(here)\npick("red block")\nplace_at(there)',
    'pick("red block")\nplace_at(point(0.6, 0.1))\npush("red block", "top", 0.1)\npick("green block")\n'
    "place_at(point(0.6, 0.1))",
)


@pytest.mark.parametrize("text", EVERYDAY)
def test_what_goes_well_is_no_reason_to_ask(plan, text):
    plan(text)


def test_it_is_a_doubt_that_the_simulation_may_settle(scene, skills):
    text = next(iter(FILLED))
    planned = plan_program("go", text, scene, tuple(skills.values()), settings=PlanningSettings(ask=False))
    (finding,) = planned.rehearsal.findings
    assert (planned.rehearsal.verdict, finding.line, finding.settled_by_physics) == (Advice.ASK, 4, True)


def test_things_come_to_lie_where_the_skills_put_them(scene, skills):
    """The region is a choice of the robot: each thing finds its place beside those before."""
    last = plan_program("go", EVERYDAY[0], scene, tuple(skills.values())).last
    placed = [footprint(item) for item in last.objects if item.kind == "block"]
    assert min(separation(a, b) for a, b in combinations(placed, 2)) >= 0.004


def test_a_free_side_is_no_reason_to_ask(plan):
    assert len(plan('pick("red block")\nplace_beside("red bowl")').steps) == 2


def test_what_is_held_already_is_left_to_the_skill(scene, skills):
    holding = Scene(scene.time, scene.objects, "red block")
    made = plan_program("go", "place_at(point(0.45, -0.12))", holding, tuple(skills.values()))
    assert len(made.plan.steps) == 1

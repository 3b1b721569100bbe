"""Before anything moves a plan, in the scenes foreseen for it, and all calls of its program are held to the policy."""

import pytest

from llm_planner.errors import QuestionError
from llm_planner.planning.planned import PlanningSettings
from llm_planner.planning.planning import plan_program
from llm_planner.plans.privileges.decision import PrivilegeError, review_plan, review_program
from llm_planner.plans.privileges.policy import EVERYTHING
from llm_planner.programs.checker import check_program
from llm_planner.scene.places import viewpoint
from llm_planner.simulation.worlds import open_world
from llm_planner.skills.library import load_skills

RULES = (
    "- {name: all, allow: any, from: any}\n"
    "- {name: the vase stays, deny: [pick, push], from: any, where: {object: {kind: vase}}}\n"
    "- {name: not to the left, deny: push, from: any, where: {direction: left}, otherwise: ask}\n"
)


@pytest.fixture
def review(policy, skills, scene):
    """Reviews a program under the rules above, for a speaker who stands somewhere."""

    def run(text, stands="behind", rules=None):
        chosen = policy(RULES) if rules is None else rules
        review_program(chosen, "topic", check_program(text, skills, scene), scene, viewpoint(stands))

    return run


@pytest.mark.parametrize(
    "text",
    [
        'push("vase", "right", 0.1)',
        'if is_on("red block", "bowl"):\n    pick("vase")\ngo_home()',
        'def f(thing):\n    pick(thing)\nf("vase")',
        'name = "va" + "se"\npick(object=name)',
        'while is_on("red block", "bowl"):\n    pick("vase")\n    open_gripper()\ngo_home()',
    ],
)
def test_a_forbidden_call_is_found_in_whatever_branch(review, text):
    with pytest.raises(PrivilegeError, match=r"does not let commands from topic use (pick|push) on the vase"):
        review(text)


@pytest.mark.parametrize(
    "text",
    [
        'pick("red block")\nplace_on("bowl")',
        'for item in objects("block"):\n    push(item, "right", 0.1)',
        'for item in ["red block", "vase"]:\n    if item != "vase":\n        pick(item)\n        place_in("bowl")',
        'push("red block", "right", width("red block"))',
        'pick("red block")\nplace_at(point(0.4, 0.1))',
    ],
)
def test_what_may_be_allowed_passes(review, text):
    review(text)


def test_what_must_be_asked_is_a_question(review):
    with pytest.raises(QuestionError, match=r"rule 3, “not to the left”.*an operator must be asked first"):
        review('push("bowl", "left", 0.1)')


def test_directions_are_judged_from_behind_the_robot(review):
    review('push("bowl", "left", 0.1)', stands="facing")
    with pytest.raises(QuestionError, match="not to the left"):
        review('push("bowl", "right", 0.1)', stands="facing")


def test_defaults_count_as_arguments(review, policy):
    rules = policy("- {name: r, allow: any, from: any}\n- {name: far, deny: place_beside, from: any, "
                   "where: {distance: {at_most: 0.05}}}")  # fmt: skip
    with pytest.raises(PrivilegeError, match="rule 2, “far”"):
        review('pick("red block")\nplace_beside("bowl", "left")', rules=rules)


def test_the_steps_of_a_plan_are_reviewed(policy, skills, scene):
    text = 'for item in ["blue block", "vase"]:\n    push(item, "right", 0.03)'
    planned = plan_program("push both", text, scene, skills)
    table = {skill.name: skill for skill in skills}
    with pytest.raises(PrivilegeError, match="push on the vase"):
        review_plan(policy(RULES), "topic", planned.plan, table, scene)
    review_plan(EVERYTHING, "topic", planned.plan, table, scene)


ALL = "- {name: all, allow: any, from: any}\n"


@pytest.fixture
def steps_pass(policy, scene):
    """Whether the steps of a program may be done under rules."""

    def run(rules, text, where=scene):
        fitting = load_skills().for_scene(where).signatures
        plan = plan_program("do it", text, where, fitting, settings=PlanningSettings(ask=False)).plan
        try:
            review_plan(policy(rules), "topic", plan, {skill.name: skill for skill in fitting}, where)
        except PrivilegeError:
            return False
        return True

    return run


HELD_VASE = "place_on, from: any, while: {held: {kind: vase}}}"


@pytest.mark.parametrize(("rules", "vase", "block"), [
    (ALL + "- {name: r, deny: " + HELD_VASE, False, True),
    ("- {name: a, allow: pick, from: any}\n- {name: r, allow: " + HELD_VASE, True, False),
])  # fmt: skip
def test_what_will_be_held_decides_before_it_is_picked_up(steps_pass, rules, vase, block):
    assert steps_pass(rules, 'pick("vase")\nplace_on("red block")') is vase
    assert steps_pass(rules, 'pick("blue block")\nplace_on("red block")') is block


def test_each_step_is_judged_where_things_will_lie_by_then(steps_pass):
    rules = ALL + "- {name: r, deny: pick, from: any, where: {object: {area: {x: [0.2, 0.7], y: [-0.5, -0.2]}}}}"
    assert not steps_pass(rules, 'pick("vase")')
    assert steps_pass(rules, 'push("vase", "left", 0.3)\npick("vase")')
    assert not steps_pass(rules, 'push("blue block", "right", 0.3)\npick("blue block")')


@pytest.mark.parametrize(("pushed", "passes"), [(0.16, True), (0.18, False), (0.22, False), (0.24, False)])
def test_what_may_come_to_lie_in_a_forbidden_place_is_taken_to_lie_there(steps_pass, pushed, passes):
    rules = ALL + "- {name: r, deny: pick, from: any, where: {object: {area: {x: [0.2, 0.7], y: [0.22, 0.5]}}}}"
    assert steps_pass(rules, f'push("blue block", "left", {pushed})\npick("blue block")') is passes


@pytest.mark.parametrize(("pushed", "passes"), [(0.16, False), (0.24, False), (0.28, True)])
def test_what_may_miss_an_allowed_place_is_not_allowed(steps_pass, pushed, passes):
    rules = (
        "- {name: a, allow: push, from: any}\n"
        "- {name: r, allow: pick, from: any, where: {object: {area: {x: [0.2, 0.7], y: [0.22, 0.5]}}}}"
    )
    assert steps_pass(rules, f'push("blue block", "left", {pushed})\npick("blue block")') is passes


@pytest.mark.parametrize(
    ("area", "passes"), [("x: [0.6, 0.7], y: [0.3, 0.5]", False), ("x: [0.2, 0.7], y: [-0.5, 0]", True)]
)
def test_in_a_region_a_thing_may_come_to_lie_anywhere(steps_pass, area, passes):
    rules = ALL + f"- {{name: r, deny: push, from: any, where: {{object: {{area: {{{area}}}}}}}}}"
    text = 'pick("vase")\nplace_at("left side")\npush("vase", "bottom", 0.03)'
    assert steps_pass(rules, text) is passes


@pytest.mark.parametrize("area", ["x: [0.56, 0.66], y: [-0.05, 0.05]", "x: [0.4, 0.5], y: [-0.2, -0.1]"])
def test_beside_on_any_side_may_be_on_each(steps_pass, area):
    rules = ALL + f"- {{name: r, deny: push, from: any, where: {{object: {{area: {{{area}}}}}}}}}"
    assert not steps_pass(rules, 'pick("vase")\nplace_beside("blue block", "any", 0.1)\npush("vase", "top", 0.03)')


def test_the_hand_is_foreseen_as_unsurely_as_what_it_puts_down(steps_pass):
    rules = ALL + "- {name: r, deny: open_gripper, from: any, while: {robot: {area: {x: [0.6, 0.7], y: [0.3, 0.5]}}}}"
    assert not steps_pass(rules, 'pick("vase")\nplace_at("left side")\nopen_gripper()')
    assert steps_pass(rules, 'pick("vase")\nplace_at("right side")\nopen_gripper()')


def test_the_room_that_a_robot_will_be_in_decides(steps_pass):
    scene = open_world("rooms", 0).scene()
    here = scene.building.room_at(*scene.robot.position[:2])
    there, third, *_ = (room for room in scene.building.names if room != here)
    rules = ALL + f"- {{name: r, deny: look, from: any, while: {{robot: {{room: {there}}}}}}}"
    assert steps_pass(rules, "look()", scene)
    assert not steps_pass(rules, f'go_to("{there}")\nlook()', scene)
    assert steps_pass(rules, f'go_to("{there}")\ngo_to("{third}")\nlook()', scene)

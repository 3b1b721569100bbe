"""A plan and every call that its program can make are held against the policy before anything moves."""

import pytest

from llm_planner.errors import QuestionError
from llm_planner.plan.planning import plan_program
from llm_planner.privileges.decision import PrivilegeError
from llm_planner.privileges.policy import EVERYTHING
from llm_planner.privileges.review import review_plan, review_program
from llm_planner.program.checker import check_program
from llm_planner.world.places import viewpoint

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

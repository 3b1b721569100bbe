"""Rules that come beside the words of a command or a program bind its plan as those in the words do."""

from __future__ import annotations

import pytest

from llm_planner.errors import InputError, LlmPlannerError
from llm_planner.language.factory import open_model
from llm_planner.planning.planned import DEFAULTS, PlanningSettings
from llm_planner.planning.planning import plan_command, plan_program, read_rules
from llm_planner.scene.places import BEHIND
from llm_planner.skills.library import load_skills


@pytest.fixture(scope="module")
def model():
    return open_model("embedded", None)


@pytest.fixture
def known(scene):
    return load_skills().for_scene(scene).signatures


@pytest.fixture
def read(model, scene):
    return lambda *rules: read_rules(rules, scene, model, BEHIND, DEFAULTS)


def test_each_is_read_by_itself(read):
    assert [str(one.formula) for one in read("never touch the red block", "never reach over the blue bowl")] == [
        "G !moved(red block)",
        "G !over(robot, blue bowl)",
    ]


@pytest.mark.parametrize(
    "words", ["put the red block in the red bowl", "be careful", "never touch the purple block", ""]
)
def test_what_is_no_clear_rule_is_refused(read, words):
    with pytest.raises(InputError, match=r"rule|asks for something to be done"):
        read(words)


def test_a_command_keeps_them(read, model, scene, known):
    settings = PlanningSettings(rules=read("never touch the red block"))
    with pytest.raises(LlmPlannerError):
        plan_command("put the red block in the red bowl", scene, known, model, BEHIND, settings)
    planned = plan_command("put the blue block in the blue bowl", scene, known, model, BEHIND, settings)
    assert planned.plan.constraints[-1:] == settings.rules


def test_a_program_keeps_them(read, scene, known):
    rules = read("never touch the red block")
    with pytest.raises(LlmPlannerError, match="may not run"):
        plan_program("x", 'pick("red block")\nplace_in("red bowl")', scene, known, constraints=rules)
    assert plan_program("x", 'pick("blue block")\nplace_in("blue bowl")', scene, known, constraints=rules).plan.complete

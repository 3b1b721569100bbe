"""Rules that forbid the task itself."""

import pytest

from llm_planner.errors import InputError
from llm_planner.language.understanding.forbidden import check_task
from llm_planner.temporal.constraint import Constraint
from llm_planner.temporal.parser import parse
from llm_planner.world.scene import IDENTITY, Scene, SceneObject

SCENE = Scene(0.0, tuple(SceneObject(n, n, "", (0, 0, 0), IDENTITY, (0.1, 0.1, 0.1)) for n in ("red block", "vase")))
TASK = "put the red block near the vase"


@pytest.mark.parametrize(
    "formula",
    [
        "G !moved(red block)",
        "G !(holding(red block) | holding(vase))",
        "G !near(robot, vase) & G !holding(red block)",
    ],
)
def test_a_rule_against_the_task_is_refused(formula):
    with pytest.raises(
        InputError, match=r"“not touching it” forbids what the task “put the red .*” asks for: that the r"
    ):
        check_task(TASK, Constraint(parse(formula), "not touching it"), SCENE)


@pytest.mark.parametrize(
    "formula",
    ["G !moved(vase)", "!moved(red block) W near(robot, vase)", "F holding(red block)", "G !near(robot, red block)"],
)
def test_other_rules_pass(formula):
    check_task(TASK, Constraint(parse(formula), "not touching it"), SCENE)

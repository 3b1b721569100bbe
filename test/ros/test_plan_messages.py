"""Plans and their constraints survive the way into messages and back; none is dropped on the way."""

from __future__ import annotations

from dataclasses import replace
from math import isnan

import pytest
from hypothesis import given
from hypothesis import strategies as st
from llm_planner_interfaces.msg import Constraint as ConstraintMsg
from llm_planner_interfaces.msg import ConstraintState
from llm_planner_interfaces.msg import Plan as PlanMsg
from llm_planner_interfaces.msg import PlanStep as PlanStepMsg

from llm_planner.errors import InputError
from llm_planner.execution.watch import ConstraintResult, watch_for
from llm_planner.ltl.formula import Constraint
from llm_planner.ltl.parser import FormulaError, parse
from llm_planner.plans.plan import Plan, PlanStep, StepStatus
from llm_planner.ros.conversions import plan_messages as convert
from llm_planner.scene.scene import IDENTITY, Pose, Scene, SceneObject

number = st.floats(-10.0, 10.0)
word = st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=20)
arguments = st.dictionaries(word, st.one_of(word, number, st.tuples(number, number, number)), max_size=4)
steps = st.lists(
    st.builds(PlanStep, word, word, arguments, st.integers(0, 99), st.sampled_from(StepStatus), word),
    unique_by=lambda step: step.id,
)
RULE = Constraint(parse("G !on(a, b) & F[0,5] clear(b)"), "never on b, and clear it")
GOAL = Constraint(parse("F holding(mug)"), "pick it up", goal=True)


@given(steps)
def test_a_plan_survives_with_its_constraints(listed):
    plan = Plan("tidy up", "pick('a')", tuple(listed), False, (RULE, GOAL))
    assert convert.plan_from_msg(convert.plan_to_msg(plan, "id", 0.0)) == plan


def test_a_constraint_is_told_in_plain_words_besides():
    message = convert.constraint_to_msg(GOAL)
    assert (message.formula, message.words, message.goal) == ("F holding(mug)", "pick it up", True)
    assert "mug" in message.plain


def test_a_plan_may_go_on_with_another():
    assert convert.plan_to_msg(Plan("a", ""), "2", 0.0, continues="1").continues == "1"


def test_a_constraint_that_cannot_be_read_refuses_the_whole_plan():
    with pytest.raises(FormulaError, match="expected"):
        convert.plan_from_msg(PlanMsg(constraints=[ConstraintMsg(formula="G !")]))


def test_a_step_with_an_unknown_status_is_refused():
    with pytest.raises(InputError, match="step '7' has the status 99; the highest is 4"):
        convert.step_from_msg(PlanStepMsg(id="7", status=99))


def test_what_the_monitors_say_is_told_with_the_trace():
    mug = SceneObject("mug", "mug", "", (0.5, 0.0, 0.04), IDENTITY, (0.08, 0.08, 0.08))
    scene = Scene(1.0, (mug,), robot=Pose((0.5, 0.0, 0.28)))
    rules = (
        GOAL,
        Constraint(parse("G !holding(mug)"), "do not touch it"),
        Constraint(parse("G distance(robot, mug) > 0.1"), "keep away"),
    )
    watch = watch_for(rules, scene).see(scene).see(replace(scene, time=2.0, held="mug"))
    status = convert.watch_to_msg(watch, "7", replace(scene, time=2.0, held="mug"))
    assert (status.plan_id, status.header.stamp.sec) == ("7", 2)
    assert [(state.verdict, state.holds) for state in status.constraints] == [
        (ConstraintState.SATISFIED, True),
        (ConstraintState.VIOLATED, False),
        (ConstraintState.PENDING, True),
    ]
    margins = [state.robustness for state in status.constraints]
    assert isnan(margins[0])
    assert margins[2] == pytest.approx(0.1)
    assert status.trace == ["distance(robot, mug) > 0.1", "distance(robot, mug) > 0.1; holding(mug)"]
    kept = [
        ConstraintResult(GOAL, True),
        ConstraintResult(rules[1], False),
        ConstraintResult(rules[2], True, 0.05, "m"),
    ]
    over = [state.robustness for state in convert.watch_to_msg(watch, "7", scene, kept).constraints]
    assert [isnan(over[0]), isnan(over[1]), over[2]] == [True, True, 0.05]


def test_letters_survive_the_way_through_messages():
    trace = (frozenset(), frozenset({"in(robot, lab)", "did(look, lab)"}), frozenset({"distance(robot, vase) > 0.3"}))
    assert convert.trace_to_msg(trace)[:2] == ["", "did(look, lab); in(robot, lab)"]
    assert convert.trace_from_msg(convert.trace_to_msg(trace)) == trace

"""What the executor makes of plans that it is sent."""

from dataclasses import replace

import pytest

from llm_planner.errors import InputError
from llm_planner.execution.execution_state import EndReason, Finish
from llm_planner.ltl.formula import Constraint
from llm_planner.ltl.parser import parse
from llm_planner.planning.in_process import accept
from llm_planner.planning.planned import DEFAULTS, PlanningSettings
from llm_planner.plans.plan import Plan, StepStatus
from llm_planner.plans.privileges.decision import PrivilegeError
from llm_planner.programs.problems import ProgramError
from llm_planner.scene.places import BEHIND

RULE = Constraint(parse("G !holding(green block)"), "never touch the green block")


@pytest.fixture
def accepted(scene, skills):
    def send(text, *constraints, unfinished=None, settings=DEFAULTS):
        shown = Plan("do it", text, constraints=constraints)
        return accept(shown, scene, tuple(skills.values()), BEHIND, settings, unfinished)

    return send


def test_a_plan_that_keeps_its_constraints_is_taken_with_them(accepted):
    assert accepted('pick("red block")', RULE).plan.constraints == (RULE,)


def test_a_plan_that_breaks_a_constraint_is_refused_whoever_sent_it(accepted):
    with pytest.raises(InputError, match=r"The plan may not run: Step 1, .* would break “never touch the green block”"):
        accepted('pick("green block")', RULE)


def test_a_constraint_about_a_thing_that_is_gone_refuses_the_plan(accepted):
    with pytest.raises(InputError, match=r"The plan may not run: .* names 'vase', which is not here"):
        accepted('pick("red block")', Constraint(parse("G !holding(vase)"), "not the vase"))


def test_a_program_that_may_not_run_is_refused(accepted):
    with pytest.raises(ProgramError, match="import"):
        accepted("import os", RULE)


def test_a_plan_that_goes_on_is_bound_by_the_constraints_of_the_first(accepted):
    first = accepted('pick("red block")', RULE)
    ended = replace(first, end=Finish(EndReason.REPLAN, "…"))
    assert accepted('pick("blue block")', unfinished=ended).plan.constraints == (RULE,)
    with pytest.raises(InputError, match="never touch the green block"):
        accepted('pick("green block")', unfinished=ended)


def test_a_plan_that_goes_on_keeps_what_is_done(accepted):
    first = accepted('pick("red block")')
    done = replace(first.plan, steps=(replace(first.plan.steps[0], status=StepStatus.DONE),))
    after = accepted('pick("blue block")', unfinished=replace(first, plan=done))
    assert [(step.id, step.status.value) for step in after.plan.steps] == [("1", "done"), ("2", "pending")]


def test_a_plan_whose_source_may_not_have_it_done_is_refused(accepted, careful):
    with pytest.raises(PrivilegeError, match=r"does not let commands from action use pick.*“hands off”"):
        accepted('pick("blue block")', settings=PlanningSettings(policy=careful(), source="action"))


def test_the_policy_that_a_plan_was_taken_under_is_asked_at_every_step_also_of_one_that_goes_on(accepted, careful):
    settings = PlanningSettings(policy=careful(), source="action")
    first = accepted('go_home()\npick("red block")', settings=settings)
    assert first.permit == settings.permit
    assert accepted("go_home()", unfinished=first).permit == settings.permit

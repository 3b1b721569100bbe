"""Another branch is taken where a step has failed for good: no model is asked, and what bound the first binds it."""

from dataclasses import replace

import pytest

from llm_planner.errors import InputError
from llm_planner.execution.execution_state import EndReason, start_execution
from llm_planner.ltl.formula import Constraint
from llm_planner.ltl.parser import parse
from llm_planner.planning.choices import Call, merged, promised_steps
from llm_planner.planning.in_process import go_on
from llm_planner.planning.planned import ImpossibleError, PlanningSettings
from llm_planner.planning.planning import plan_program
from llm_planner.planning.repair import other_branch, plan_remainder, remainder_of, unrepaired
from llm_planner.scene.places import BEHIND
from llm_planner.skills.contract import SkillErrorCode, SkillResult

RED, GREEN = 'pick("red block")\nplace_in("red bowl")\n', 'pick("green block")\nplace_in("green bowl")\n'
BLUE = 'pick("blue block")\nplace_in("blue bowl")\n'
PICK_RED = Call("pick", ("red block",))


@pytest.fixture
def table_skills(skills):
    return tuple(skill for skill in skills.values() if skill.name in ("pick", "place_in", "place_at", "push"))


@pytest.fixture
def tree(scene, table_skills):
    """Of programs for the table, and the goals of the first."""

    def make(*programs):
        plans = [plan_program("do it", text, scene, table_skills).plan for text in programs]
        steps = [promised_steps(plan.steps, table_skills, scene, BEHIND) for plan in plans]
        return merged(steps), plans[0].goals

    return make


def lines(calls):
    return "".join(f"{call}\n" for call in calls)


def slips(before, promised):
    return before, SkillResult(SkillErrorCode.NO_GRASP, "the fingers closed on nothing")


def test_what_failed_is_put_off_until_other_things_are_done(tree, scene, table_skills):
    assert lines(other_branch(*tree(RED + GREEN, GREEN + RED), (), [PICK_RED], scene, table_skills)) == GREEN + RED


def test_where_every_program_begins_with_what_failed_there_is_no_other_way(tree, scene, table_skills):
    assert other_branch(*tree(RED + GREEN, RED + GREEN), (), [PICK_RED], scene, table_skills) == ()
    assert other_branch(*tree(RED + GREEN), (), [PICK_RED], scene, table_skills) == ()


def test_a_branch_that_does_not_come_to_the_goals_is_none(tree, scene, table_skills):
    stuck = 'pick("green block")\n'  # with the gripper full nothing else can start
    assert other_branch(*tree(RED + GREEN, stuck), (), [PICK_RED], scene, table_skills) == ()


@pytest.fixture
def sampled(play, tree, scene):
    """A run of the first program, and the tree of all of them."""

    def make(mishaps, *programs, rules=()):
        run = play(programs[0], mishaps)
        constraints = tuple(Constraint(parse(rule), rule) for rule in rules)
        plan = replace(run.state.plan, constraints=constraints)
        run.state = start_execution(plan, run.state.interpreter, scene=scene)
        return run, tree(*programs)[0]

    return make


def test_the_run_goes_on_by_the_other_branch_and_repeats_nothing(sampled, table_skills):
    programs = BLUE + RED + GREEN, BLUE + GREEN + RED
    run, tree = sampled({3: slips, 4: slips}, *programs)
    run.to_the_end()
    assert run.state.end.may_go_on
    anew = plan_remainder(remainder_of(run.state, tree), run.robot.scene, table_skills)
    assert anew.plan.program == GREEN + RED
    run.state = go_on(run.state, anew, run.robot.scene)
    run.to_the_end()
    assert run.state.end.reason is EndReason.DONE
    assert [name for skill, name in run.robot.started if skill == "pick"] == [
        "blue block", "red block", "red block", "green block", "red block",
    ]  # fmt: skip
    assert run.statuses == {
        "1": "done", "2": "done", "3": "failed", "4": "done", "5": "done", "6": "done", "7": "done",
    }  # fmt: skip


def test_a_branch_that_would_break_a_constraint_is_not_taken(sampled, table_skills):
    rule = "!holding(green block) U in(red block, red bowl)"
    run, tree = sampled({1: slips, 2: slips}, RED + GREEN, GREEN + RED, rules=[rule])
    run.to_the_end()
    anew = plan_remainder(remainder_of(run.state, tree), run.robot.scene, table_skills)
    with pytest.raises(InputError, match=r"The plan may not run: Step 2, .* would break"):
        go_on(run.state, anew, run.robot.scene)


def test_a_remainder_in_which_nothing_is_to_be_done_is_no_plan(sampled, table_skills):
    run, tree = sampled({1: slips, 2: slips}, RED + GREEN)
    run.to_the_end()
    nothing = replace(remainder_of(run.state, tree), reason=EndReason.REPLAN, goals=())
    with pytest.raises(ImpossibleError, match=r"Nothing would be left to do then\."):
        plan_remainder(nothing, run.robot.scene, table_skills)


def test_where_there_is_no_other_way_the_person_hears_of_the_failure_only(sampled, table_skills):
    run, tree = sampled({1: slips, 2: slips}, RED + GREEN)
    run.to_the_end()
    with pytest.raises(ImpossibleError, match="I know no other way") as error:
        plan_remainder(remainder_of(run.state, tree), run.robot.scene, table_skills)
    assert unrepaired(EndReason.FAILED, "It failed.", error.value) == "It failed."
    assert unrepaired(EndReason.REPLAN, "It may not.", error.value) == "It may not. I know no other way."


@pytest.mark.parametrize("otherwise", ["stop", "refuse", "ask"])
def test_after_what_a_policy_says_no_other_plan_may_go_on(play, careful, otherwise):
    def is_handed_a_block(before, promised):
        return replace(promised, held="red block"), SkillResult(SkillErrorCode.SUCCEEDED)

    settings = PlanningSettings(policy=careful(otherwise))
    run = play("wait(1.0)\ngo_home()", {1: is_handed_a_block}, settings=settings).to_the_end()
    assert "no tours with a block" in run.state.end.message
    assert not run.state.end.may_go_on

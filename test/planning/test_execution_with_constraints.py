"""Carrying out a plan that has to keep constraints."""

from dataclasses import replace

import pytest

from llm_planner.execution.execution_state import (
    CancelSkill,
    EndReason,
    Phase,
    SceneObserved,
    SkillFinished,
    StartSkill,
    continue_execution,
    start_execution,
)
from llm_planner.ltl.formula import Constraint
from llm_planner.ltl.parser import parse
from llm_planner.planning.planning import plan_program
from llm_planner.plans.plan import Outcome, StepStatus
from llm_planner.skills.contract import SkillErrorCode, SkillResult

OK = SkillResult(SkillErrorCode.SUCCEEDED)
INTO_THE_BOWL = 'pick("red block")\nplace_in("red bowl")'
ONCE = "G (did(pick, red block) -> N G !did(pick, red block))"
TWO = INTO_THE_BOWL + '\npick("green block")\nplace_in("green bowl")'


@pytest.fixture
def obeying(play, scene):
    """A run of a program under constraints given as formula: words."""

    def make(text, constraints, mishaps=None):
        run = play(text, mishaps)
        listed = tuple(Constraint(parse(formula), words) for formula, words in constraints.items())
        plan = replace(run.state.plan, constraints=listed)
        run.state = start_execution(plan, run.state.interpreter, scene=scene)
        return run

    return make


def test_a_plan_that_keeps_its_constraints_is_done(obeying):
    run = obeying(TWO, {"!moved(green block) U on(red block, red bowl)": "the red one first"}).to_the_end()
    assert run.state.end.reason is EndReason.DONE


def test_a_step_foreseen_to_break_a_constraint_is_not_started(obeying):
    run = obeying(TWO, {"G !holding(green block)": "never touch the green block"}).to_the_end()
    assert run.robot.started == [("pick", "red block"), ("place_in", "red bowl")]
    assert run.state.end.reason is EndReason.REPLAN
    assert run.state.end.message == (
        'Step 3, pick("green block"), may not start: it would break “never touch the green block” '
        "(holding(green block))."
    )
    assert run.state.watch.broken == ()
    assert run.statuses == {"1": "done", "2": "done", "3": "skipped", "4": "skipped"}
    assert EndReason.REPLAN.outcome is Outcome.FAILED


def test_what_is_broken_from_the_start_is_told_without_a_change(obeying):
    run = obeying(INTO_THE_BOWL, {"G holding(red bowl)": "keep hold of the bowl"})
    (finish,) = run.tell(SceneObserved(run.robot.scene))
    assert finish.message == "I stop here, because this is broken: “keep hold of the bowl”."


def test_a_step_that_turns_out_to_break_a_constraint_is_cancelled_at_once(obeying):
    run = obeying(INTO_THE_BOWL, {"G !moved(blue bowl)": "leave the blue bowl alone"})
    run.observe()
    item = run.robot.scene.find("blue bowl")
    pushed = replace(item, position=(0.45, 0.15, item.position[2]))
    objects = tuple(pushed if other is item else other for other in run.robot.scene.objects)
    cancel, finish = run.tell(SceneObserved(replace(run.robot.scene, time=0.5, objects=objects)))
    assert cancel == CancelSkill("1")
    assert finish.reason is EndReason.BROKEN
    assert finish.message == "I stop here, because this is broken: “leave the blue bowl alone” (moved(blue bowl))."
    assert run.statuses == {"1": "failed", "2": "skipped"}


def test_a_plan_is_done_only_when_every_goal_has_come_true(obeying):
    run = obeying(INTO_THE_BOWL, {"F in(blue block, blue bowl)": "and the blue one into the blue bowl"}).to_the_end()
    assert run.statuses == {"1": "done", "2": "done"}
    assert run.state.end.reason is EndReason.REPLAN
    assert run.state.end.message == "After every step this is still not so: “and the blue one into the blue bowl”."


def test_what_a_skill_did_is_an_event_once_the_scene_shows_it(obeying):
    run = obeying(INTO_THE_BOWL, {"F did(pick, red block)": "pick it"})
    run.observe()
    run.tell(SkillFinished("1", OK))
    assert run.state.watch.unmet
    run.robot.obey(run.commands[-1])
    run.observe()
    assert not run.state.watch.unmet


def test_an_event_that_breaks_a_constraint_ends_the_plan(obeying, scene):
    run = obeying(INTO_THE_BOWL, {"G (did(pick, red block) -> clear(red bowl))": "only while the bowl is empty"})
    run.observe()
    result = run.robot.obey(run.commands[-1])
    item = scene.find("blue block")
    x, y, _ = scene.find("red bowl").position
    inside = replace(item, position=(x, y, 0.03))
    filled = tuple(inside if other is item else other for other in run.robot.scene.objects)
    run.tell(SkillFinished("1", result))
    (finish,) = run.tell(SceneObserved(replace(run.robot.scene, objects=filled)))
    assert finish.reason is EndReason.BROKEN
    assert run.statuses == {"1": "done", "2": "skipped"}


def test_a_second_try_that_would_break_a_constraint_is_not_made(obeying):
    def drops(before, promised):
        return replace(before, held=""), OK

    run = obeying(INTO_THE_BOWL, {ONCE: "pick it up once only"}, {2: drops}).to_the_end()
    assert run.robot.started == [("pick", "red block"), ("place_in", "red bowl")]
    assert "may not start: it would break “pick it up once only”" in run.state.end.message
    assert obeying(INTO_THE_BOWL, {ONCE: "pick it up once only"}).to_the_end().state.end.reason is EndReason.DONE


def test_a_repaired_plan_goes_on_and_repeats_no_finished_step(obeying, skills):
    run = obeying(TWO, {"G !holding(green block)": "never touch the green block"}).to_the_end()
    planned = plan_program(
        "do it", 'pick("blue block")\nplace_in("blue bowl")', run.robot.scene, tuple(skills.values())
    )
    run.state = continue_execution(run.state, planned.plan, planned.interpreter)
    assert [(step.id, step.status) for step in run.state.plan.steps] == [
        ("1", StepStatus.DONE),
        ("2", StepStatus.DONE),
        ("3", StepStatus.PENDING),
        ("4", StepStatus.PENDING),
    ]
    run.to_the_end()
    assert [name for _, name in run.robot.started] == ["red block", "red bowl", "blue block", "blue bowl"]
    assert run.state.end.message == "The red block is in the red bowl; the blue block is in the blue bowl."


def test_a_repaired_plan_is_bound_by_what_has_happened(obeying, skills):
    run = obeying(INTO_THE_BOWL, {ONCE: "pick it up once only", "F clear(red bowl) & F did(pick, mug)": "and the mug"})
    run.to_the_end()
    planned = plan_program("do it", 'pick("red block")', run.robot.scene, tuple(skills.values()))
    run.state = continue_execution(run.state, planned.plan, planned.interpreter)
    assert run.state.phase is Phase.READY
    run.observe()
    assert not isinstance(run.commands[-1], StartSkill)
    assert "pick it up once only" in run.state.end.message

"""What lessons lend to the step under way of the plan in the executor."""

import importlib.util
from dataclasses import replace
from pathlib import Path

import pytest

from llm_planner.nodes.running_plan import Running
from llm_planner.plan.draft import EditError
from llm_planner.plan.editing import edited
from llm_planner.plan.edits import Adjust, Change, Edit
from llm_planner.plan.events import SkillFinished
from llm_planner.plan.execution import advance
from llm_planner.plan.execution_state import start_execution
from llm_planner.plan.planning import plan_program
from llm_planner.skills.contract import SkillErrorCode, SkillResult
from llm_planner.skills.library import load_skills
from llm_planner.world.scene import Scene

_PLAN = importlib.util.spec_from_file_location("pretended_table", Path(__file__).parents[1] / "plan" / "conftest.py")
pretended = importlib.util.module_from_spec(_PLAN)
_PLAN.loader.exec_module(pretended)

TABLE = Scene(0.0, (pretended.thing("red block", 0.35, 0.0), pretended.thing("green bowl", 0.5, 0.2, pretended.BOWL)))
SKILLS = {skill.name: skill for skill in load_skills(learned=False).for_scene(TABLE).signatures}


def slower(scale=0.5, **said):
    return Edit((Adjust("speed", Change.SCALE, scale),), **said)


@pytest.fixture
def robot():
    return pretended.Robot(TABLE, SKILLS, None)


@pytest.fixture
def begun(robot):
    """Before its first step, and in it."""
    planned = plan_program("tidy", 'pick("red block")\nplace_in("green bowl")', TABLE, tuple(SKILLS.values()))
    before = start_execution(planned.plan, planned.interpreter, scene=TABLE)
    state, commands = advance(before, pretended.SceneObserved(TABLE))
    return Running(None, before), state, commands


def next_step(running, robot, commands):
    """The state in which the step has ended, and the next one runs."""
    state, _ = advance(running.state, SkillFinished(running.state.run.step.id, robot.obey(commands[-1])))
    state, _ = advance(state, pretended.SceneObserved(robot.scene))
    return state


def test_what_is_lent_ends_with_its_step_and_makes_no_version(begun, robot):
    running, state, commands = begun
    running.state = state
    running.state = running.lend(slower().operations)
    running.state = running.lend(slower().operations)
    assert (running.state.manner.speed, running.state.version) == (0.25, 0)
    assert running.as_usual(running.state) is running.state
    after = running.as_usual(next_step(running, robot, commands))
    assert (after.run.step.id, after.manner.speed, running.lent) == ("2", 1.0, ())


def test_what_the_person_says_meanwhile_outlives_the_step(begun, robot):
    running, state, commands = begun
    running.state = state
    running.state = running.lend(slower().operations)
    running.state = edited(running.state, slower(0.2, words="much slower")).state
    assert running.as_usual(next_step(running, robot, commands)).manner.speed == 0.1


def test_nothing_is_lent_while_no_step_is_under_way(begun):
    running, _, _ = begun
    with pytest.raises(EditError, match="no step is under way for which the motion could be changed"):
        running.lend(slower().operations)


def test_who_has_edited_a_plan_that_fails_is_told_how_to_have_it_tried_again(begun):
    running, state, _ = begun
    failed = SkillResult(SkillErrorCode.INVALID_ARGUMENT, "it went wrong")
    state, _ = advance(state, SkillFinished(state.run.step.id, failed))
    for time in (1.0, 2.0, 3.0):
        state, _ = advance(state, pretended.SceneObserved(replace(TABLE, time=time)))
    running.state = state
    assert (running.may_go_on, running.told_at_the_end) == (True, running.state.end.message)
    running.edits = (slower(words="slower"),)
    assert running.told_at_the_end.endswith("If it shall be tried again, say “go on” to have the rest done.")


def test_a_plan_under_way_tells_nothing_of_its_end(begun):
    assert begun[0].told_at_the_end == ""

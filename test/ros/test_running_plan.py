"""What is told of the plan under way in the executor."""

import importlib.util
from dataclasses import replace
from pathlib import Path

import pytest

from llm_planner.corrections.edits import Adjust, Change, Edit
from llm_planner.execution.execution import advance
from llm_planner.execution.execution_state import SkillFinished, start_execution
from llm_planner.planning.planning import plan_program
from llm_planner.ros.running_plan import Running
from llm_planner.scene.scene import Scene
from llm_planner.skills.contract import SkillErrorCode, SkillResult
from llm_planner.skills.library import load_skills

_PLAN = importlib.util.spec_from_file_location(
    "pretended_table", Path(__file__).parents[1] / "planning" / "conftest.py"
)
pretended = importlib.util.module_from_spec(_PLAN)
_PLAN.loader.exec_module(pretended)

TABLE = Scene(0.0, (pretended.thing("red block", 0.35, 0.0), pretended.thing("green bowl", 0.5, 0.2, pretended.BOWL)))
SKILLS = {skill.name: skill for skill in load_skills(learned=False).for_scene(TABLE).signatures}


@pytest.fixture
def begun():
    """Before its first step, and in it."""
    planned = plan_program("tidy", 'pick("red block")\nplace_in("green bowl")', TABLE, tuple(SKILLS.values()))
    before = start_execution(planned.plan, planned.interpreter, scene=TABLE)
    state, commands = advance(before, pretended.SceneObserved(TABLE))
    return Running(None, before), state, commands


def test_who_has_edited_a_plan_that_fails_is_told_how_to_have_it_tried_again(begun):
    running, state, _ = begun
    failed = SkillResult(SkillErrorCode.INVALID_ARGUMENT, "it went wrong")
    state, _ = advance(state, SkillFinished(state.run.step.id, failed))
    for time in (1.0, 2.0, 3.0):
        state, _ = advance(state, pretended.SceneObserved(replace(TABLE, time=time)))
    running.state = state
    assert (running.may_go_on, running.told_at_the_end) == (True, running.state.end.message)
    running.edits = (Edit((Adjust("speed", Change.SCALE, 0.5),), "slower"),)
    assert running.told_at_the_end.endswith("If it shall be tried again, say “go on” to have the rest done.")


def test_a_plan_under_way_tells_nothing_of_its_end(begun):
    assert begun[0].told_at_the_end == ""

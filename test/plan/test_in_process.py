"""A plan, the skills, the controller and the simulated world in one process."""

import numpy as np
import pytest

from llm_planner.plan.in_process import Workcell, run_command
from llm_planner.plan.plan import Outcome
from llm_planner.plan.planning import plan_program
from llm_planner.simulation.objects import parse_objects
from llm_planner.simulation.world import open_world
from llm_planner.skills.library import load_skills
from llm_planner.world import predicates
from llm_planner.world.places import BEHIND, viewpoint

LIBRARY = load_skills()
INTO_THE_BOWL = 'pick("red block")\nplace_in("green bowl")'


@pytest.fixture
def world():
    return open_world("tabletop", 1, parse_objects("red block, blue block, green bowl"))


def planner(text, where=BEHIND):
    return lambda scene: plan_program("do it", text, scene, LIBRARY.signatures, where)


def test_a_plan_is_carried_out_and_its_every_change_is_told(world):
    seen = []
    report = run_command("do it", Workcell(world, LIBRARY), planner(INTO_THE_BOWL), on_change=seen.append)
    assert (report.outcome, report.message) == (Outcome.DONE, "The red block is in the green bowl.")
    assert predicates.in_(world.scene(), "red block", "green bowl")
    assert [[step.status.value for step in state.plan.steps] for state in seen] == [
        ["running", "pending"],
        ["done", "running"],
        ["done", "done"],
    ]
    assert report.duration == pytest.approx(world.time - 0.0)


def test_a_stop_in_the_middle_of_a_motion_leaves_the_arm_at_rest(world):
    report = run_command(
        "do it", Workcell(world, LIBRARY), planner(INTO_THE_BOWL), stop_requested=lambda: world.time > 1.0
    )
    assert (report.outcome, report.message) == (Outcome.FAILED, "Stopped: you said stop.")
    assert np.abs(world.joint_state().qvel).max() < 0.02
    assert world.time < 3.0
    assert [step.status.value for step in report.plan.steps] == ["failed", "skipped"]


def test_a_command_without_a_plan_moves_nothing_and_is_a_report_too(world):
    report = run_command("do it", Workcell(world, LIBRARY), planner('pick("mug")'))
    assert report.outcome is Outcome.QUESTION
    assert 'There is no "mug" here' in report.message
    assert report.scene_before == report.scene_after == world.scene()


def test_a_person_facing_the_robot_has_left_and_right_the_other_way_round(world):
    facing = viewpoint("facing")
    text = 'pick("red block")\nplace_at("left side")'
    report = run_command("do it", Workcell(world, LIBRARY), planner(text, facing), facing)
    assert report.outcome is Outcome.DONE
    assert predicates.at(world.scene(), "red block", "right side")

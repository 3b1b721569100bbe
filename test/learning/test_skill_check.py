"""The check of a skill: which calls it draws, and what fails it."""

from __future__ import annotations

from pathlib import Path

import pytest

from llm_planner.learning.skill_check import check_skill
from llm_planner.share import share_folder

MANIFEST = """\
name: {name}
description: A skill of a test.
robot: {robot}
timeout: 20.0
parameters: {parameters}
preconditions: {preconditions}
effects: []
"""
REST = "def move(robot, arguments):\n    yield from robot.rest('rest', 0.2)\n"


@pytest.fixture
def write(tmp_path):
    """Writes a skill and returns the path of its manifest."""

    def written(code: str = REST, robot: str = "arm", parameters: str = "[]", preconditions: str = "[]") -> Path:
        path = tmp_path / "try_it" / "skill.yaml"
        path.parent.mkdir()
        text = MANIFEST.format(name="try_it", robot=robot, parameters=parameters, preconditions=preconditions)
        path.write_text(text, encoding="utf-8")
        path.with_name("skill.py").write_text(code, encoding="utf-8")
        return path

    return written


@pytest.mark.parametrize("name", ["press", "place_on", "go_to"])
def test_shipped_skills_pass(name):
    check = check_skill(share_folder("skills") / name / "skill.yaml")
    assert (check.fault, check.doubt) == ("", "")
    assert f"{name}(" in check.program
    assert check.seconds > 0


@pytest.mark.parametrize("robot", ["arm", "mobile", "any"])
def test_a_skill_without_a_plan_passes_with_a_doubt(write, robot):
    check = check_skill(write(robot=robot))
    assert (check.fault, check.doubt) == ("", "how try_it moves is found as it runs")


def test_something_is_picked_up_first_if_the_skill_needs_it(write):
    check = check_skill(write(preconditions="[{atom: holding(), otherwise: nothing is held}]"))
    assert check.fault == ""
    assert check.program.startswith('pick("')


def test_a_skill_that_fails_does_not_pass(write):
    check = check_skill(write("def move(arm, arguments):\n    yield 3\n"))
    assert "the skill try_it gave 3 instead of a MotionReference" in check.fault


def test_a_plan_that_refuses_a_call_that_succeeds_does_not_pass(write):
    refusing = "\nfrom llm_planner.errors import InputError\n\ndef plan(call):\n    raise InputError('no')\n"
    check = check_skill(write(REST + refusing))
    assert check.fault == "the plan of the skill try_it refuses the call: no"


def test_a_skill_whose_call_cannot_be_drawn_is_not_run(write):
    check = check_skill(write(parameters="[{name: to, type: point, description: where to}]"))
    assert (check.program, check.fault) == ("", "")
    assert check.doubt == "it was not run: no command can be drawn over to, a point"


def test_numbers_without_bounds_are_drawn_by_their_default(write):
    turn = "[{name: turn, type: number, unit: rad, default: -3, description: how far}]"
    assert check_skill(write(parameters=turn)).program == "try_it(-3.0)\n"

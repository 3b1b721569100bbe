"""What constraints may say that the robot has done."""

import pytest

from llm_planner.errors import InputError
from llm_planner.ltl.formula import Constraint
from llm_planner.ltl.parser import parse
from llm_planner.planning.program_checks import check_skills
from llm_planner.programs.signatures import Parameter, Signature

SKILLS = (
    Signature("go_to", (Parameter("destination", "destination"),)),
    Signature("look", ()),
    Signature("wait", (Parameter("seconds", "number"),)),
)


def check(formula):
    check_skills([Constraint(parse(formula), formula)], SKILLS)


def test_a_skill_that_is_not_there_is_told_with_those_that_are():
    with pytest.raises(InputError, match=r"'did\(fly, lab\)': this robot has no skill fly; it has: go_to, look, wait"):
        check("G (in(robot, lab) -> !did(fly, lab))")


def test_a_skill_that_takes_no_thing_is_told():
    with pytest.raises(
        InputError,
        match=r"'did\(wait, lab\)': wait\(seconds\) is not done with 'lab' in the first place; did\(...\) can speak "
        "of: go_to, look",
    ):
        check("F did(wait, lab)")


@pytest.mark.parametrize("formula", ["F did(go_to, lab)", "F did(look, lab)", "F in(robot, lab)"])
def test_what_can_be_done_may_be_spoken_of(formula):
    check(formula)

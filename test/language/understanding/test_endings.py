"""Where the robot is to be in the end."""

import pytest

from llm_planner.errors import InputError
from llm_planner.language.understanding.endings import check_ending
from llm_planner.temporal.constraint import Constraint
from llm_planner.temporal.parser import parse


@pytest.mark.parametrize(
    "words", ["in the end come to the lab", "the lab is your last stop", "be at the lab at the end"]
)
def test_a_passing_visit_is_not_the_end(words):
    with pytest.raises(InputError, match=r"“.*” says '.*', but F in\(robot, lab\) holds of some time only"):
        check_ending(Constraint(parse("F in(robot, lab)"), words, goal=True))


@pytest.mark.parametrize(
    ("formula", "words", "goal"),
    [
        ("F G in(robot, lab)", "in the end come to the lab", True),
        ("F in(robot, hall) & F G in(robot, lab)", "the hall, and at the end the lab", True),
        ("F in(parcel, lab)", "the parcel is to be in the lab in the end", True),
        ("G (in(robot, hall) -> F in(robot, lab))", "from the hall go to the lab in the end", False),
        ("F in(robot, lab)", "go to the lab at the end of the corridor", False),
        ("F in(robot, lab)", "come to the lab", True),
    ],
)
def test_all_else_passes(formula, words, goal):
    check_ending(Constraint(parse(formula), words, goal=goal))

"""Amounts that no robot can keep or do are asked about before anything is read."""

import pytest

from llm_planner.errors import QuestionError
from llm_planner.language.understanding.amounts import check_amounts_said


@pytest.mark.parametrize(
    ("command", "said"),
    [
        ("stay -5 cm away from the vase", "-5 cm"),
        ("never faster than -0.1 m/s", "-0.1 m/s"),
        ("never faster than minus 10 cm/s", "minus 10 cm/s"),
        ("stay negative five centimetres away", "negative five"),
        ("keep 0 cm from the vase", "0 cm"),
        ("no faster than 0.0 m/s", "0.0 m/s"),
    ],
)
def test_what_is_not_above_zero_is_a_question(command, said):
    with pytest.raises(QuestionError, match=f"What do you mean by “{said}”. A speed or a distance must be above zero"):
        check_amounts_said(command)


@pytest.mark.parametrize(
    ("command", "unit"),
    [("lift it at 10 mph", "mph"), ("go 5 knots", "knots"), ("under 2 feet per second", "feet per")],
)
def test_a_unit_that_is_not_known_is_named(command, unit):
    with pytest.raises(QuestionError, match=f"How much is “[1-9].*”. I do not know '{unit}.*' as a unit here"):
        check_amounts_said(command)


@pytest.mark.parametrize(
    ("command", "number"),
    [
        ("lift the vase, max 0.1", "0.1"),
        ("lift the vase at 0.1 please", "0.1"),
        ("no faster than 2", "2"),
        ("never go faster than -0.1", "-0.1"),
        ("no closer than 15 to the vase", "15"),
        ("speed limit 0,2 until it is done", "0,2"),
    ],
)
def test_a_number_without_its_unit_is_a_question(command, number):
    with pytest.raises(QuestionError, match=f"{number} of what. “.*” has no unit; please add it"):
        check_amounts_said(command)


@pytest.mark.parametrize(
    "command",
    [
        "push the red block 5 cm to the left",
        "stay 5-10 cm from the vase",
        "never faster than 0.1 m/s, and 15 cm from it",
        "stack at most 3, then stop",
        "max speed 0.5 m/s",
        "push it 2 feet to the left",
        "be there within 0.5 minutes",
        "G speed(robot) < 0.1",
    ],
)
def test_amounts_as_people_say_them_pass(command):
    check_amounts_said(command)

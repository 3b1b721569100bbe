"""A limit of the motion is the one that was asked for, in size and in time, or it is asked about."""

import pytest

from llm_planner.errors import InputError, QuestionError
from llm_planner.language.understanding.limits import check_limits, check_pace
from llm_planner.temporal.constraint import Constraint
from llm_planner.temporal.parser import parse

SLOW, FAR = "speed(robot) < 0.1", "distance(robot, vase) > 0.2"


def constraint(formula: str, words: str) -> Constraint:
    return Constraint(parse(formula), words)


@pytest.mark.parametrize(
    ("formula", "words", "said"),
    [
        ("G speed(robot) < 10", "never faster than 10 cm/s", "10 cm/s"),
        (f"G {SLOW}", "no faster than 0.2 m/s", "0.2 m/s"),
        (f"G {SLOW}", "no faster than 1 km per hour", "1 km per hour"),
        (f"G {SLOW}", "no faster than 10 metres a minute", "10 metres a minute"),
        (f"G {FAR}", "stay 2 m from the vase", "2 m"),
        (f"G {FAR}", "stay 20 cm from the vase and under 5 cm/s", "5 cm/s"),
        (f"G {SLOW}", "under 0.1 m/s and 20 centimetres from the vase", "20 centimetres"),
        (f"G {SLOW}", "under 0.1 m/s, no, 0.3 m/s", "0.3 m/s"),
    ],
)
def test_a_number_that_is_not_in_the_formula_is_refused(formula, words, said):
    with pytest.raises(InputError, match=f"“.*” says '{said}', but .* has no such bound"):
        check_limits(constraint(formula, words))


@pytest.mark.parametrize("words", ["until the mug is held", "before you hold the mug", "till you have the mug"])
@pytest.mark.parametrize("formula", [f"G {SLOW}", f"G (holding(mug) -> {SLOW})", f"holding(mug) W {SLOW}"])
def test_a_limit_that_should_end_and_does_not_is_refused(formula, words):
    with pytest.raises(InputError, match=r"“.*” sets a limit '(until|till|before)' something, but .* never ends it"):
        check_limits(constraint(formula, f"under 10 cm/s {words}"))


@pytest.mark.parametrize("words", ["while you hold the mug", "once it is there", "whenever the mug is held"])
def test_a_limit_that_is_given_for_some_of_the_time_is_not_for_ever(words):
    with pytest.raises(InputError, match=r"“.*” sets a limit '.*' something is so, but .* always"):
        check_limits(constraint(f"G ({FAR} & {SLOW})", f"{words} under 10 cm/s and 20 cm from the vase"))


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("no slower than 0.1 m/s until the mug is held", "no slower than"),
        ("go at least 0.1 m/s until the mug is held", "at least"),
        ("never go below 10 cm/s until the mug is held", "never go below"),
        ("faster than 0.1 m/s is fine until the mug is held", "faster than"),
    ],
)
def test_a_least_speed_is_no_limit(words, said):
    with pytest.raises(InputError, match=f"“.*” says '{said}' of a speed, but .* is a limit of it"):
        check_limits(constraint(f"{SLOW} W holding(mug)", words))


@pytest.mark.parametrize(
    ("task", "words"),
    [
        ("", "move gently until the mug is held"),
        ("", "take it easy before you hold the mug"),
        ("", "drive slowly to the lab"),
        ("", "not too fast"),
        ("lift the mug but do not move so quickly", "do not touch the vase"),
        ("slowly put the mug down", "do not touch the vase"),
    ],
)
def test_how_slow_is_asked_for(task, words):
    with pytest.raises(QuestionError, match=r"How fast may the robot be at most\? Please say “.*” with a speed"):
        check_pace(task, (constraint("!moved(vase) W holding(mug)", words),))


def test_how_slow_is_known_where_any_part_says_it():
    check_pace("slowly put the mug down", (constraint(f"G {SLOW}", "under 0.1 m/s"),))
    check_pace("be careful with it until the end", ())


@pytest.mark.parametrize(
    ("formula", "words"),
    [
        (f"{SLOW} W holding(mug)", "under 10 cm/s until you hold the mug"),
        (f"G {FAR} & {SLOW} U holding(mug)", "100 mm/s before you hold the mug, 20 cm from the vase"),
        (f"holding(mug) R {SLOW}", "under 0.1 m / s till the mug is held"),
        (f"G[0,20] {SLOW}", "no faster than 6 m per minute until 20 s have passed"),
        (f"G (holding(mug) -> {SLOW})", "while you hold the mug never above 10 cm per second"),
        (f"G {SLOW}", "go there while staying under 0.1 m/s"),
        (f"G {SLOW}", "under 0.3 m/s, no, 0.1 m/s"),
        ("!holding(mug) W moved(vase)", "do not pick up the mug until the vase is moved"),
    ],
)
def test_a_limit_as_it_was_said_passes(formula, words):
    check_limits(constraint(formula, words))

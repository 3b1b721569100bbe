"""How much people mean by what they say."""

from __future__ import annotations

import pytest

from llm_planner.corrections.building_motion import shift_length, thing_size
from llm_planner.errors import InputError
from llm_planner.language.correction_requests import Size
from llm_planner.language.grounding.lifting import Amount, read_amount


@pytest.mark.parametrize(
    ("words", "value"),
    [
        ("2 cm", 0.02), ("2cm", 0.02), ("ten centimetres", 0.1), ("an inch", 0.0254), ("half an inch", 0.0127),
        ("twenty five mm", 0.025), ("half a metre", 0.5), ("a couple of cm", 0.02), ("1.5 m", 1.5),
        ("30 percent", 0.3), ("a hundred percent", 1.0), ("10 seconds", 10.0), ("two minutes", 120.0), ("3 times", 3.0),
        ("1,5 cm", 0.015), ("three and a half centimetres", 0.035),
        ("two centimetres and a half", 0.025), ("two and half metres", 2.5),
        ("2 and a half meters", 2.5), ("2 1/2 cm", 0.025), ("half an hour", 1800.0),
        ("three quarters of an hour", 2700.0),
        ("two dozen cm", 0.24), ("a good hand's width", 0.1), ("twice", 2.0), ("thrice", 3.0),
        ("one and a quarter metres", 1.25), ("forty-five seconds", 45.0), ("a hundred and five cm", 1.05),
    ],
)  # fmt: skip
def test_numbers_are_taken_as_they_are_said(words: str, value: float) -> None:
    assert read_amount(words).value == pytest.approx(value)


@pytest.mark.parametrize(
    ("words", "amount"),
    [("8", (8.0, "")), ("two", (2.0, "")), ("a minute", (1.0, "minute")), ("about 7 cm", (7.0, "cm")),
     ("0.05 m/s", (0.05, "m/s")), ("full minute", (1.0, "minute")), ("about half a minute", (0.5, "minute")),
     ("half a dozen", (6.0, "")), ("2 and a half", (2.5, ""))],
)  # fmt: skip
def test_words_that_are_said_to_be_an_amount_may_be_a_number_alone(words: str, amount: tuple[float, str]) -> None:
    assert read_amount(words, bare=True) == Amount(*amount)


@pytest.mark.parametrize("words", ["a second", "as far", "left", "2"])
def test_what_is_no_amount_is_refused(words: str) -> None:
    with pytest.raises(InputError, match=r"is not an amount; say a number and a unit, such as 2 cm"):
        read_amount(words)


def test_without_a_number_the_size_of_the_thing_counts() -> None:
    assert [shift_length(size, None, 0.06) for size in (Size.BIT, Size.PLAIN, Size.MUCH)] == [0.03, 0.06, 0.12]


def test_back_again_is_half_of_what_it_was_unless_a_number_was_said() -> None:
    assert shift_length(Size.BIT, None, 0.06, reversed_from=0.08) == 0.04
    assert shift_length(Size.PLAIN, Amount(1.0, "cm"), 0.06, reversed_from=0.08) == 0.01
    assert shift_length(Size.MUCH, None, 0.06, reversed_from=0.08) == 0.12


def test_the_size_of_a_thing_is_its_smaller_width_and_that_of_a_mobile_robots_surroundings_is_its_own(
    at_table, in_house
) -> None:
    table, house = at_table().scene, in_house().scene
    assert thing_size(table.find("mug"), table) == 0.07
    assert thing_size(None, table) == 0.04
    assert thing_size(house.find("mug"), house) == 0.4

"""What constraints see of a scene, and which sights are possible."""

import pytest

from llm_planner.errors import InputError
from llm_planner.plan.letters import occurring, propositions_of
from llm_planner.temporal.parser import parse
from llm_planner.world.propositions import parse_proposition


def test_the_propositions_of_formulas_are_listed_once():
    formulas = [parse("G !holding(red block) & F clear(mug)"), parse("F clear(mug) | G distance(robot, mug) > 0.3")]
    assert list(map(str, propositions_of(formulas))) == [
        "clear(mug)",
        "distance(robot, mug) > 0.3",
        "holding(red block)",
    ]


def test_a_proposition_that_no_scene_can_show_is_refused():
    with pytest.raises(InputError, match="'a' is no proposition"):
        propositions_of([parse("F a")])


def test_a_robot_is_in_one_room_and_holds_one_thing():
    names = ["in(robot, lab)", "in(robot, hall)", "in(mug, lab)", "in(mug, hall)"]
    held = ["holding(mug)", "holding(book)", "holding(anything)"]
    letters = occurring(map(parse_proposition, [*names, *held])).letters
    assert len(letters) == 3 * 4 * 3 * 2
    assert not any({"in(robot, lab)", "in(robot, hall)"} <= letter for letter in letters)
    assert frozenset({"holding(mug)", "holding(anything)"}) in letters

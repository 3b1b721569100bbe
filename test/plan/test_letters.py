"""What constraints see of a scene, and which sights are possible."""

from dataclasses import replace

import pytest

from llm_planner.errors import InputError
from llm_planner.plan.letters import occurring, reader
from llm_planner.temporal.parser import parse
from llm_planner.world.propositions import Moment


def letter(scene, *formulas, **moment):
    return reader(map(parse, formulas)).letter(Moment(scene, **moment))


def test_a_letter_has_the_propositions_that_hold_and_no_others(scene):
    held = replace(scene, held="red block")
    assert letter(held, "G !holding(green block)", "F holding(red block)", "F holding(anything)") == {
        "holding(red block)",
        "holding(anything)",
    }


def test_what_has_just_been_done_is_seen(scene):
    assert letter(scene, "F did(pick, red block)", events=frozenset({("pick", "red block")})) == {"did(pick, red block)"}


def test_a_thing_has_moved_when_it_lies_elsewhere_than_at_the_beginning(scene):
    assert letter(scene, "G !moved(red block)", origins={"red block": (0.3, 0.3, 0.02)}) == {"moved(red block)"}


def test_a_proposition_that_no_scene_can_show_is_refused():
    with pytest.raises(InputError, match="'a' is no proposition"):
        reader([parse("F a")])


def test_a_robot_is_in_one_room_and_holds_one_thing():
    names = ["in(robot, lab)", "in(robot, hall)", "in(mug, lab)", "in(mug, hall)"]
    held = ["holding(mug)", "holding(book)", "holding(anything)"]
    letters = occurring([*names, *held]).letters
    assert len(letters) == 3 * 4 * 3 * 2
    assert not any({"in(robot, lab)", "in(robot, hall)"} <= letter for letter in letters)
    assert frozenset({"holding(mug)", "holding(anything)"}) in letters

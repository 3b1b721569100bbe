"""What a network has read, against the plain words."""

import pytest

from llm_planner.correction.believable import believable
from llm_planner.correction.reading import CorrectionReader
from llm_planner.plan.edits import (
    AddRule,
    Adjust,
    Cancel,
    Change,
    Clarify,
    Edit,
    Forget,
    Hold,
    Insert,
    Move,
    Rebind,
    Remove,
    Resume,
    Shift,
    Undo,
)

LEFT = Shift((0.0, 0.05, 0.0))
FULL, HALF = Adjust("speed", Change.SET, 1.0), Adjust("speed", Change.SCALE, 0.5)


@pytest.mark.parametrize(
    ("words", "operation"),
    [
        ("don't skip the mug", Remove("3")),
        ("please don’t forget the mug", Remove("3")),
        ("don't do the mug first", Move(("3",), "1")),
        ("let go of it", Resume()),
        ("speed 50", FULL),
        ("-5% speed", FULL),
        ("-3 cm to the left", LEFT),
        ("leave out everything except the mug", Remove("3")),
        ("only the mug today", Remove("3")),
        ("if the mug is hot, skip it", Remove("3")),
        ("when you're done go slower", HALF),
        ("were you going to do the mug first?", Move(("3",), "1")),
        ("I hate the blue block", Rebind("1", "object", "blue block")),
        ("by the way, the red block is mine", Rebind("1", "object", "red block")),
        ("swap the vase and the mug", Rebind("1", "object", "mug")),
        ("you chose the blue block, right?", LEFT),
        ("keep the vase in your hand", AddRule("G !holding(vase)", "")),
        ("no longer slower with mugs", HALF),
        ("slower with the next one", HALF),
        ("slower with the mug", HALF),  # as a change of all motion
        ("always higher with glasses", HALF),
        ("only the vase should be slower", HALF),
        ("what rules do you have?", Resume()),
        ("ask me before you take the mug", Insert("pick", {"object": "mug"}, "")),
        ("wait before you take the mug", Insert("pick", {"object": "mug"}, "")),
        ("don't do the mug again", Insert("pick", {"object": "mug"}, "")),
        ("my colleague said the mug is broken", Rebind("1", "object", "mug")),
        ("the mug too", Move(("3",), "")),
        ("put the mug in there as well", Rebind("1", "object", "mug")),
        ("skip step 40", Remove("3")),
        ("do the red one twice", Remove("3")),
        ("everything in the green bowl", Remove("3")),
        ("remember the vase", Forget("vase")),
        ("minus 2 cm to the left", LEFT),
        ("0.5", Undo()),
        ("the mug two times", Move(("3",), "1")),
        ("the blue one twice", Rebind("1", "object", "blue block")),
        ("reverse the order", Undo()),
        ("start over from the beginning", Resume()),
        ("whose plate is that, it's gorgeous", Cancel()),
        ("don't get closer than a hand's width", LEFT),
        ("no closer than 5 cm", HALF),
    ],
)
def test_words_that_say_the_opposite_are_not_believed(words, operation):
    assert not believable(words, Edit((operation,), words))


@pytest.mark.parametrize(
    ("words", "operation"),
    [
        ("don't bother with the mug", Remove("3")),
        ("not the mug", Remove("3")),
        ("do the mug first", Move(("3",), "1")),
        ("off you go again", Resume()),
        ("speed 50 %", FULL),
        ("not so fast", HALF),
        ("3 cm to the left", LEFT),
        ("if you can, go slower", HALF),
        ("if it's okay, skip the mug", Remove("3")),
        ("if the vase is there, keep away from it", AddRule("G !near(robot, vase)", "")),
        ("did you see her, go slower", HALF),
        ("don't touch the vase", AddRule("G !holding(vase)", "")),
        ("pass things with a little more room", HALF),
        ("slower with the arm", HALF),
        ("what about the mug", Rebind("1", "object", "mug")),
        ("wait a bit", Insert("wait", {"seconds": 5.0}, "")),
        ("twice as fast", FULL),
        ("the others can stay where they are", Remove("3")),
        ("I'd rather you didn't keep that in mind", Forget("vase")),
        ("call it a day", Cancel()),
        ("as it was before", Undo()),
        ("a bit closer", LEFT),
    ],
)
def test_others_are(words, operation):
    assert believable(words, Edit((operation,), words))


@pytest.fixture
def reads(at_table):
    """What is read of words that no rule reads, where a network says so."""

    def read(words, *operations):
        reader = CorrectionReader(other=lambda text, situation: Edit(operations, text, situation.version))
        return reader.read(words, at_table(1)).operations

    return read


def test_a_stop_at_the_end_of_a_correction_stops(reads):
    assert reads("slower, and stop") == (Cancel(),)
    assert reads("slower stop") == (Cancel(),)
    assert reads("a bit to the left and stop now!") == (Cancel(),)


def test_talk_that_ends_with_the_word_stops_nothing(reads):
    assert reads("the bus stop") == ()
    assert reads("slower, no need to stop") != (Cancel(),)
    assert reads("that is where the train will stop") == ()


def test_no_speed_at_all_is_to_hold(reads):
    assert reads("zero speed, would you", Adjust("speed", Change.SET, 0.0)) == (Hold(),)


def test_what_the_network_says_against_the_words_is_asked_about(at_table):
    from llm_planner.correction.reading import open_reader

    (question,) = open_reader().read("let go of it", at_table(1)).operations
    assert isinstance(question, Clarify)

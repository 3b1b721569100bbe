"""From the network's readings to an edit: one that is sure is built, others are asked about, talk is let be."""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from llm_planner.correction.compact_reader import Reading, Readings
from llm_planner.correction.network_reader import read_by_network
from llm_planner.correction.request_words import in_words
from llm_planner.correction.requests import Intent, Request, Sense, Size
from llm_planner.correction.utterances import read_requests
from llm_planner.plan.edits import AddRule, Adjust, Change, Clarify, Confirm, Frame, Rebind, Scope

SLOWER, FASTER = Request(Intent.SPEED, sense=Sense.LESS), Request(Intent.SPEED, sense=Sense.MORE)
SKIP, UNDO, TALK = Request(Intent.SKIP, thing="the mug"), Request(Intent.UNDO), Request(Intent.NOTHING)


@dataclass
class ScriptedReader:
    """Gives readings with these probabilities, of which so many are in the prediction set."""

    readings: tuple[tuple[float, tuple[Request, ...]], ...]
    held: int

    def read(self, words, names):
        readings = tuple(Reading(requests, probability) for probability, requests in self.readings)
        return Readings(readings, min((one.probability for one in readings[: self.held]), default=1.0))


@pytest.fixture
def read(at_table, sources):
    """The edit for readings, given as a probability and its requests, of which the first so many are in the set."""

    def run(*readings, held=1, situation=None):
        situation = situation or at_table(1)
        return read_by_network("so they say", situation, ScriptedReader(readings, held), sources)

    return run


def test_the_only_reading_in_the_set_becomes_an_edit(read):
    edit = read((0.9, (SLOWER,)), (0.1, (FASTER,)))
    assert edit.operations == (Adjust("speed", Change.SCALE, 0.5),)
    assert edit.words == "so they say"


def test_several_readings_in_the_set_are_a_question_that_offers_each_in_words(read):
    (question,) = read((0.5, (SLOWER,)), (0.4, (UNDO, SKIP)), held=2).operations
    assert question == Clarify(
        "What do you mean by “so they say”: go slower or undo that and skip the mug?",
        ("go slower", "undo that and skip the mug"),
    )


def test_a_reading_that_nothing_can_be_done_about_is_no_other(read):
    no_teapot = Request(Intent.SKIP, thing="the teapot")
    assert read((0.3, (SLOWER,)), (0.3, (no_teapot,)), held=2).operations == (Adjust("speed", Change.SCALE, 0.5),)
    (question,) = read((0.2, (SLOWER,)), (0.3, (no_teapot,)), held=2).operations
    assert isinstance(question, Clarify)


def test_readings_that_come_to_the_same_are_one(read):
    twice = Request(Intent.SPEED, sense=Sense.EXACT, number=50.0, unit="%")
    assert read((0.45, (twice,)), (0.4, (twice,)), held=2).operations == (Adjust("speed", Change.SET, 0.5),)


def test_readings_that_differ_in_the_words_of_a_rule_alone_are_one(read):
    rule, longer = (Request(Intent.RULE, text=f"keep away from the vase{end}") for end in ("", " please"))
    (added,) = read((0.3, (rule,)), (0.28, (longer,)), held=2).operations
    assert added == AddRule("G !near(robot, vase)", "keep away from the vase")
    (added,) = read((0.3, (rule,)), (0.28, (longer,)), (0.2, (SLOWER,)), held=1).operations
    assert added.formula == "G !near(robot, vase)"


def test_a_question_has_at_most_three_options(read):
    some = tuple((0.2, (request,)) for request in (SLOWER, FASTER, SKIP, UNDO))
    assert len(read(*some, held=4).operations[0].options) == 3


def test_where_nothing_conforms_the_most_probable_readings_are_offered(read):
    assert read((0.3, (SLOWER,)), (0.2, (FASTER,)), held=0).operations[0].options == ("go slower", "go faster")


def test_a_single_thing_to_offer_is_asked_as_such(read):
    assert read((0.4, (SLOWER,)), (0.3, (TALK,)), held=2).operations[0].question == "Do you mean: go slower?"
    assert "say it in another way" in read((0.4, (TALK,)), held=0).operations[0].question


@pytest.mark.parametrize("readings", [((0.4, (TALK,)),), ((0.6, (TALK,)), (0.3, (SLOWER,)))])
def test_talk_is_not_asked_about(read, readings):
    assert read(*readings, held=len(readings)).operations == ()


def test_no_readings_are_no_correction(read):
    assert read(held=0).operations == ()


def test_an_answer_is_one_only_while_a_question_is_open(read, at_table):
    yes = (0.9, (Request(Intent.YES),))
    assert read(yes).operations == ()
    asked = Clarify("May I drop the rule?", ("yes", "no"))
    assert read(yes, situation=at_table(1, asked=asked)).operations == (Confirm(True),)


def test_a_number_is_the_option_that_it_stands_for(read, at_table):
    asked = Clarify("Which block?", ("the yellow block", "the blue block"))
    for text in ("2", "last"):
        edit = read((0.9, (Request(Intent.OPTION, text=text),)), situation=at_table(1, asked=asked))
        assert Rebind("1", "object", "blue block") in edit.operations


def test_a_number_that_is_none_of_them_is_asked_again(read, at_table):
    asked = Clarify("Which block?", ("the yellow block", "the blue block"))
    assert read((0.9, (Request(Intent.OPTION, text="3"),)), situation=at_table(1, asked=asked)).operations == (asked,)


def test_what_cannot_be_built_is_the_builders_question(read):
    (question,) = read((0.9, (Request(Intent.SKIP, thing="the teapot"),))).operations
    assert isinstance(question, Clarify)


@pytest.mark.parametrize(
    "request_",
    [
        *(Request(intent) for intent in (Intent.HOLD, Intent.RESUME, Intent.CANCEL, Intent.SKIP_THIS, Intent.AGAIN)),
        *(Request(intent) for intent in (Intent.UNDO, Intent.TOO_FAR, Intent.FORGET, Intent.LAST, Intent.PUT_BACK)),
        *(
            Request(intent, sense=sense, size=size)
            for intent in (Intent.SPEED, Intent.HEIGHT, Intent.CLEARANCE)
            for sense in (Sense.MORE, Sense.LESS)
            for size in Size
        ),
        *(Request(Intent.DISTANCE, text=which, sense=Sense.LESS) for which in ("push", "place", "follow")),
        *(
            Request(Intent.SHIFT, direction=way, size=Size.BIT)
            for way in ("left", "right", "up", "down", "forward", "backward", "back", "opposite", "more")
        ),
        *(Request(Intent.SHIFT, direction=way, frame=Frame.ROBOT) for way in ("left", "forward", "backward")),
        Request(Intent.SHIFT, direction="towards", target="the vase"),
        Request(Intent.SHIFT, direction="left", number=2.0, unit="cm"),
        Request(Intent.SPEED, sense=Sense.NORMAL),
        Request(Intent.SPEED, sense=Sense.EXACT, number=30.0, unit="%"),
        Request(Intent.SPEED, sense=Sense.LESS, scope=Scope.ALWAYS),
        Request(Intent.DURATION, sense=Sense.EXACT, number=20.0, unit="seconds"),
        Request(Intent.OTHER_THING, thing="the mug"),
        Request(Intent.OTHER_THING, instead_of="the mug", negated=True),
        *(
            Request(Intent.OTHER_TARGET, relation=relation, target="the vase")
            for relation in ("in", "on", "beside", "left", "right", "top", "bottom", "opposite")
        ),
        Request(Intent.OTHER_TARGET, relation="at", target="the left side"),
        Request(Intent.OTHER_TARGET, relation="direction", direction="left"),
        Request(Intent.FIRST, thing="the mug"),
        Request(Intent.FIRST, thing="the mug", relation="before", target="the vase"),
        SKIP,
        *(Request(Intent.REMEMBER, scope=scope) for scope in Scope),
        Request(Intent.FORGET, about="everything"),
    ],
    ids=in_words,
)
def test_what_is_offered_is_read_by_the_rules_as_what_was_meant(request_, at_table):
    (read,) = read_requests(in_words(request_), at_table().scene)
    for slot in ("intent", "direction", "frame", "sense", "size", "number", "thing", "target", "instead_of", "scope",
                 "about", "relation", "negated"):  # fmt: skip
        assert getattr(read, slot) == getattr(request_, slot), slot


def test_what_is_no_correction_has_no_words():
    assert in_words(TALK) == ""

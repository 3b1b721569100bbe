"""Corrections as people say them: terse, polite, annoyed, roundabout; and talk beside the robot that is none."""

from __future__ import annotations

import pytest

from llm_planner.correction.amounts import is_added
from llm_planner.correction.clauses import normal, take_scope, without_hesitation
from llm_planner.correction.requests import Intent, Sense, Size, When
from llm_planner.correction.slips import corrected
from llm_planner.correction.utterances import read_requests
from llm_planner.language.stop_words import is_stop
from llm_planner.plan.edits import Lifetime, Scope

LESS, MORE, EXACT = Sense.LESS, Sense.MORE, Sense.EXACT
BIT, MUCH = Size.BIT, Size.MUCH


def assert_read(words, scene, intent, slots, asked=False):
    requests = read_requests(words, scene, asked)
    assert requests is not None
    (request,) = requests
    assert request.intent is intent
    assert {name: getattr(request, name) for name in slots} == slots


@pytest.mark.parametrize(
    "words",
    ["hang on a sec", "ooh wait wait wait", "gimme a sec", "bear with me a moment", "don't do anything yet",
     "hold your horses", "could you just wait there a tick", "stay there a moment", "hold position", "not yet",
     "uh, can you pause for a minute, someone's coming", "hang on, let her through first", "wait for them to pass"],
)  # fmt: skip
def test_hold(at_table, words) -> None:
    assert_read(words, at_table(1).scene, Intent.HOLD, {})


@pytest.mark.parametrize(
    "words",
    ["right, off you go", "right then, on you go", "k continue", "get on with it then",
     "start again where you left off", "you can start moving again", "all clear, carry on", "right, let's crack on",
     "resume operation", "ok go for it", "you can go ahead again"],
)  # fmt: skip
def test_resume(at_table, words) -> None:
    assert_read(words, at_table(1).scene, Intent.RESUME, {})


@pytest.mark.parametrize(
    "words", ["call it off", "drop the whole thing", "just leave it all, we don't need it any more"]
)
def test_cancel(at_table, words) -> None:
    assert_read(words, at_table(1).scene, Intent.CANCEL, {})


@pytest.mark.parametrize(
    ("words", "intent", "slots"),
    [
        ("move over to the left some more", Intent.SHIFT, {"direction": "left"}),
        ("you need to be more to the left", Intent.SHIFT, {"direction": "left"}),
        ("a hair to the left", Intent.SHIFT, {"direction": "left", "size": BIT}),
        ("go left like 5 cm", Intent.SHIFT, {"direction": "left", "number": 5.0, "unit": "cm"}),
        ("stick to the left", Intent.SHIFT, {"direction": "left"}),
        ("no, the other way round", Intent.SHIFT, {"direction": "opposite"}),
        ("right, a bit", Intent.SHIFT, {"direction": "right", "size": BIT}),
        ("keep a bit more to the right for the rest of it", Intent.SHIFT, {"size": BIT, "lifetime": Lifetime.PLAN}),
        ("whoops, a bit much", Intent.TOO_FAR, {}),
        ("overshot it", Intent.TOO_FAR, {}),
        ("not so high", Intent.TOO_FAR, {"direction": "up"}),
        ("you're a bit too far right", Intent.TOO_FAR, {"direction": "right"}),
    ],
)
def test_where_it_goes(at_table, words, intent, slots) -> None:
    assert_read(words, at_table(1).scene, intent, slots)


@pytest.mark.parametrize(
    ("words", "slots"),
    [
        ("that's a little quick for me", {"sense": LESS, "size": BIT}),
        ("you're a bit fast", {"sense": LESS, "size": BIT}),
        ("bit quick there", {"sense": LESS, "size": BIT}),
        ("easy does it", {"sense": LESS}),
        ("careful with that", {"sense": LESS}),
        ("I'd feel better if you went slower", {"sense": LESS}),
        ("put the mug down gently, always", {"sense": LESS, "scope": Scope.ALWAYS}),
        ("handle the mug with care", {"sense": LESS}),
        ("careful around the vase", {"sense": LESS, "about": "the vase"}),
        ("press the button gently", {"sense": LESS, "thing": "the button"}),
        ("very slow please", {"sense": LESS}),
        ("slower by a third", {"sense": LESS, "number": 33.0}),
        ("only the mug slower", {"sense": LESS, "thing": "the mug"}),
        ("you're not going slow enough", {"sense": LESS}),
        ("faster, but not too fast", {"sense": MORE, "size": BIT}),
        ("slow it right down", {"sense": LESS, "size": MUCH}),
        ("walk a bit slower, I can't keep up", {"sense": LESS, "size": BIT}),
        ("that was way too quick", {"sense": LESS, "size": MUCH}),
        ("chop chop", {"sense": MORE}),
        ("put some speed on", {"sense": MORE}),
        ("this is way too slow", {"sense": MORE, "size": MUCH}),
        ("drop to thirty percent", {"sense": EXACT, "number": 30.0}),
        ("set speed to 40%", {"sense": EXACT, "number": 40.0}),
        ("slower when you're near the vase please", {"sense": LESS, "about": "the vase"}),
    ],
)
def test_speed(at_table, words, slots) -> None:
    assert_read(words, at_table(1).scene, Intent.SPEED, slots)


@pytest.mark.parametrize(
    ("words", "intent", "slots"),
    [
        ("hold it a little higher while moving", Intent.HEIGHT, {"sense": MORE, "size": BIT}),
        ("keep it closer to the table", Intent.HEIGHT, {"sense": LESS}),
        ("don't carry it so low", Intent.HEIGHT, {"sense": MORE}),
        ("give it a bit more elbow room", Intent.CLEARANCE, {"sense": MORE, "size": BIT}),
        ("give the stuff on the table some more room", Intent.CLEARANCE, {"sense": MORE}),
        ("you're cutting it too fine", Intent.CLEARANCE, {"sense": MORE}),
        ("keep well away from everything", Intent.CLEARANCE, {"sense": MORE}),
        ("you don't need that much room", Intent.CLEARANCE, {"sense": LESS}),
        ("I always want more room around the vase", Intent.CLEARANCE, {"scope": Scope.ALWAYS, "about": "the vase"}),
        ("the gap is too big", Intent.DISTANCE, {"sense": LESS}),
        ("leave a bit more space between the mug and the plate", Intent.DISTANCE, {"thing": "the mug", "size": BIT}),
        ("leave twice the gap", Intent.DISTANCE, {"number": 2.0}),
        ("push it another 5 cm", Intent.DISTANCE, {"sense": MORE, "number": 5.0}),
    ],
)
def test_other_quantities_at_the_table(at_table, words, intent, slots) -> None:
    assert_read(words, at_table(1).scene, intent, slots)


@pytest.mark.parametrize(
    ("words", "intent", "slots"),
    [
        ("you're too close to her", Intent.DISTANCE, {"sense": MORE}),
        ("hang back a bit more from her", Intent.DISTANCE, {"sense": MORE, "size": BIT}),
        ("give it 20 more seconds", Intent.DURATION, {"sense": MORE, "number": 20.0}),
        ("wait five seconds more", Intent.DURATION, {"sense": MORE, "number": 5.0}),
        ("only 5 seconds", Intent.DURATION, {"sense": EXACT, "number": 5.0}),
        ("wait a whole minute", Intent.DURATION, {"sense": EXACT, "number": 1.0}),
        ("that's too long to wait", Intent.DURATION, {"sense": LESS}),
        ("no need to wait that long", Intent.DURATION, {"sense": LESS}),
        ("keep out of the office please", Intent.RULE, {}),
        ("you're not allowed in the kitchen", Intent.RULE, {}),
        ("the kitchen isn't off limits any more", Intent.LIFT, {}),
        ("you're allowed in the kitchen now", Intent.LIFT, {}),
        ("the parcel's more important, do that first", Intent.FIRST, {"thing": "the parcel"}),
        ("before you go there, fetch the mug", Intent.ADD, {"text": "fetch the mug", "when": When.NEXT}),
    ],
)
def test_in_rooms(in_house, words, intent, slots) -> None:
    assert_read(words, in_house(6).scene, intent, slots)


@pytest.mark.parametrize(
    ("words", "intent", "slots"),
    [
        ("the one on the left", Intent.OTHER_THING, {"thing": "the left one"}),
        ("don't do that again", Intent.OTHER_THING, {"negated": True}),
        ("the vase too", Intent.AGAIN, {"thing": "the vase"}),
        ("and the vase as well", Intent.AGAIN, {"thing": "the vase"}),
        ("do the same with the vase", Intent.AGAIN, {"thing": "the vase"}),
        ("the vase too, but in the blue bowl", Intent.ADD, {"text": "put the vase in the blue bowl"}),
        ("one more thing: the vase goes in the bowl", Intent.ADD, {"text": "put the vase in the bowl"}),
        ("wait 3 seconds before you press the button", Intent.ADD, {"text": "wait 3 seconds", "target": "the button"}),
        ("not on the plate, next to it", Intent.OTHER_TARGET, {"target": "the plate", "relation": "beside"}),
        ("put that down here", Intent.OTHER_TARGET, {"target": "", "relation": ""}),
        ("just the mug, the rest I'll do myself", Intent.SKIP, {"thing": "the mug", "relation": "except"}),
        ("skip everything", Intent.CANCEL, {}),
        ("left, sorry, I mean right", Intent.SHIFT, {"direction": "right"}),
        ("go around the plate", Intent.RULE, {"text": "avoid the plate"}),
        ("not through the plate", Intent.RULE, {"text": "do not go through the plate"}),
        ("should it go in the blue bowl?", Intent.NOTHING, {}),
        ("can you stop for a moment", Intent.HOLD, {}),
        ("blue not red", Intent.OTHER_THING, {"thing": "blue", "instead_of": "red"}),
        ("i said blue", Intent.OTHER_THING, {"thing": "blue"}),
        ("should have been the blue one", Intent.OTHER_THING, {"thing": "the blue one"}),
        ("the blue one over there", Intent.OTHER_THING, {"thing": "the blue one"}),
        ("actually make that the yellow one", Intent.OTHER_THING, {"thing": "the yellow one"}),
        ("to the left of the plate, not to the right", Intent.OTHER_TARGET, {"relation": "left"}),
        ("please do first the mug", Intent.FIRST, {"thing": "the mug"}),
        ("can the mug go first", Intent.FIRST, {"thing": "the mug"}),
        ("do the mug straight after this", Intent.FIRST, {"thing": "the mug"}),
        ("there's no rush with the mug, do it last", Intent.LAST, {"thing": "the mug"}),
        ("push the mug to the back of the queue", Intent.LAST, {"thing": "the mug"}),
        ("I'll do the mug myself", Intent.SKIP, {"thing": "the mug"}),
        ("drop the mug from the list", Intent.SKIP, {"thing": "the mug"}),
        ("give this one a miss", Intent.SKIP_THIS, {}),
        ("leave it, do the next one", Intent.SKIP_THIS, {}),
        ("forget this one", Intent.SKIP_THIS, {}),
        ("stick it back where it was", Intent.PUT_BACK, {}),
        ("and while you're at it press the button", Intent.ADD, {"text": "press the button"}),
        ("plus put the blue block in the bowl", Intent.ADD, {"text": "put the blue block in the bowl"}),
        ("give it another go", Intent.AGAIN, {}),
        ("do the last bit again", Intent.AGAIN, {}),
        ("careful not to knock the vase over", Intent.RULE, {}),
        ("mind the vase from here on", Intent.RULE, {"text": "avoid the vase", "scope": Scope.ALWAYS}),
        ("the vase rule no longer applies", Intent.LIFT, {}),
    ],
)
def test_steps_and_rules(at_table, words, intent, slots) -> None:
    assert_read(words, at_table(1).scene, intent, slots)


@pytest.mark.parametrize(
    ("words", "intent", "slots"),
    [
        ("that's how I always want it", Intent.REMEMBER, {"scope": Scope.ALWAYS}),
        ("from now on always like that", Intent.REMEMBER, {"scope": Scope.ALWAYS}),
        ("like that every time please", Intent.REMEMBER, {"scope": Scope.ALWAYS}),
        ("don't forget that", Intent.REMEMBER, {"scope": Scope.ALWAYS}),
        ("keep it like that for today", Intent.REMEMBER, {"scope": Scope.SESSION}),
        ("that's only for now", Intent.REMEMBER, {"scope": Scope.TASK}),
        ("that's just for this time", Intent.REMEMBER, {"scope": Scope.ONCE}),
        ("scrap what I said about mugs", Intent.FORGET, {"about": "mugs"}),
        ("forget the thing about the vase", Intent.FORGET, {"about": "the vase"}),
        ("you don't need to remember that", Intent.FORGET, {"about": ""}),
        ("ignore that last one", Intent.UNDO, {}),
        ("ctrl z", Intent.UNDO, {}),
        ("no, the way you had it before was better", Intent.UNDO, {}),
    ],
)
def test_memory_and_undo(at_table, words, intent, slots) -> None:
    assert_read(words, at_table(1).scene, intent, slots)


@pytest.mark.parametrize(
    ("words", "intent", "slots"),
    [
        ("uh huh", Intent.YES, {}),
        ("please do", Intent.YES, {}),
        ("I don't think so", Intent.NO, {}),
        ("definitely not", Intent.NO, {}),
        ("the 2nd one", Intent.OPTION, {"text": "2"}),
        ("I'd say the second one", Intent.OPTION, {"text": "2"}),
    ],
)
def test_answers(at_table, words, intent, slots) -> None:
    assert_read(words, at_table(1).scene, intent, slots, asked=True)


@pytest.mark.parametrize(
    "words",
    ["no don't stop, keep at it", "the bus stop is on the left", "I left the blue mug at home",
     "it went faster yesterday", "she left an hour ago", "I can't wait for the weekend",
     "he told me to slow down at work", "my car was faster", "I wish I could undo yesterday",
     "what colour is the bowl", "remember when we used to do this by hand",
     "hold the line please, I'll put you through", "the shop is a bit further down the road",
     "the red one is my favourite", "the vase was a present from my mother", "why is it so slow",
     "I skip breakfast most days", "red", "it's blue", "could you hold this for me, Jenny", "let's go to the pub",
     "carry on luggage only", "too long, didn't read", "right, who wants tea", "right, where were we",
     "take five pounds from the till", "mind the gap", "mind your head", "I'm not ready for the exam",
     "watch the match tonight", "that song is a bit slow", "don't forget the milk", "wait, did you feed the cat",
     "the price is a bit much", "I need a minute with the manager"],
)  # fmt: skip
def test_talk_that_is_no_correction_asks_for_nothing(at_table, in_house, words) -> None:
    for situation in (at_table(1), in_house(1)):
        requests = read_requests(words, situation.scene) or ()
        assert not is_stop(words)
        assert {request.intent for request in requests} <= {Intent.NOTHING}


def test_how_to_go_is_no_place_to_go_to(at_table) -> None:
    assert read_requests("go slower through the blue door", at_table(1).scene) is None


def test_two_commands_in_one_breath_are_two(at_table) -> None:
    requests = read_requests("then open the drawer, then press the button", at_table(1).scene)
    assert requests is not None
    assert [request.text for request in requests] == ["open the drawer", "press the button"]


def test_left_not_right_is_one_shift(at_table) -> None:
    assert_read("to the left, not to the right", at_table(1).scene, Intent.SHIFT, {"direction": "left"})


def test_what_is_said_twice_is_said_once() -> None:
    assert without_hesitation(normal("slower, slower... um, the the mug")) == "slower , the mug"


def test_whatever_you_do_do_not_is_not_said_twice() -> None:
    assert without_hesitation(normal("whatever you do don't drop it")) == "whatever you do do not drop it"


def test_a_number_is_no_slip_of_the_finger(at_table) -> None:
    assert corrected("five seven nine", at_table(1).scene) == "five seven nine"


def test_an_amount_may_come_on_top() -> None:
    assert is_added("20 more seconds")
    assert is_added("another minute")
    assert not is_added("20 seconds")


def test_while_you_are_at_it_is_no_time() -> None:
    assert take_scope("while you are at it go slower")[1] is Scope.ONCE
    assert take_scope("that is only for today") == ("", Scope.SESSION)


@pytest.mark.parametrize(
    "words", ["skip the rest", "just this one and then you're done", "that's enough after this one", "leave the others"]
)
def test_the_rest_may_be_left_out(at_table, words) -> None:
    assert_read(words, at_table(1).scene, Intent.SKIP, {"thing": "rest"})


@pytest.mark.parametrize(
    "words", ["only the mug please", "nothing but the mug", "skip everything except the mug", "only do the mug"]
)
def test_all_but_one_may_be_left_out(at_table, words) -> None:
    assert_read(words, at_table(1).scene, Intent.SKIP, {"thing": "the mug", "relation": "except"})


def test_just_do_the_rest_leaves_nothing_out(at_table) -> None:
    assert read_requests("just do the rest", at_table(1).scene)[0].intent is Intent.NOTHING


def test_what_is_too_slow_and_shall_be_normal_is_said_once(at_table) -> None:
    assert_read("okay now it's too slow, normal speed again", at_table(1).scene, Intent.SPEED, {"sense": Sense.NORMAL})


@pytest.mark.parametrize("words", ["lift it", "pick it up", "push it", "bring it down a bit"])
def test_words_for_moving_a_thing_are_none_for_speed(at_table, words) -> None:
    assert all(request.intent is not Intent.SPEED for request in read_requests(words, at_table(1).scene) or ())


@pytest.mark.parametrize(
    ("words", "slots"),
    [
        ("fifteen centimetres, not ten", {"number": 15.0, "text": ""}),
        ("make it 8 cm", {"number": 8.0, "text": ""}),
        ("I'd like 10 cm between the mug and the plate", {"number": 10.0, "text": "place", "thing": "the mug"}),
    ],
)
def test_an_amount_by_itself_is_of_whatever_step_is_under_way(at_table, words, slots) -> None:
    assert_read(words, at_table(1).scene, Intent.DISTANCE, {"sense": EXACT, **slots})

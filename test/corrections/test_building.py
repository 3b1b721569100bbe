"""From requests to operations: what the plan, the scene and what was said before make of them."""

from __future__ import annotations

from dataclasses import replace

import pytest

from llm_planner.corrections.building import build
from llm_planner.corrections.edits import (
    AddRule,
    Adjust,
    Change,
    Clarify,
    Edit,
    Insert,
    LiftRule,
    Move,
    Rebind,
    Remove,
    Replace,
    Shift,
    Undo,
)
from llm_planner.corrections.situation import Sources
from llm_planner.errors import AlreadySatisfiedError, InputError, QuestionError
from llm_planner.language.correction_requests import Frame, Intent, Lifetime, Request, Scope, Sense, Size, When
from llm_planner.ltl.formula import Constraint
from llm_planner.ltl.parser import parse
from llm_planner.plans.plan import PlanStep, StepStatus
from llm_planner.scene.places import VIEWPOINTS
from test.corrections.conftest import ROOMS_SCENE, ROOMS_STEPS, TABLE, TABLE_STEPS, thing

LEFT = Edit((Shift((0.0, 0.04, 0.0)),))
PUT_BACK = Insert("place_at", {"place": (0.36, -0.10, 0.0)}, "2")


@pytest.fixture
def built(sources):
    """The operations for requests in a situation."""
    return lambda situation, *requests: build(requests, "", situation, sources).operations


def question(operations) -> str:
    (clarify,) = operations
    assert isinstance(clarify, Clarify)
    return clarify.question


# Motion


def test_a_shift_is_in_the_persons_frame_and_as_long_as_what_is_held_is_wide(built, at_table) -> None:
    assert built(at_table(2, "red block"), Request(Intent.SHIFT, direction="left")) == (Shift((0.0, 0.04, 0.0)),)
    assert built(at_table(4, "mug"), Request(Intent.SHIFT, direction="up")) == (Shift((0.0, 0.0, 0.07)),)


def test_against_the_shift_before_it_is_half_of_that(built, at_table) -> None:
    situation = at_table(4, "mug", edits=[Edit((Shift((0.0, 0.1, 0.0)),))])
    assert built(situation, Request(Intent.SHIFT, direction="right", size=Size.BIT)) == (Shift((0.0, -0.05, 0.0)),)
    assert built(situation, Request(Intent.SHIFT, direction="back")) == (Shift((0.0, -0.05, 0.0)),)
    assert built(situation, Request(Intent.TOO_FAR)) == (Shift((0.0, -0.05, 0.0)),)
    assert built(situation, Request(Intent.SHIFT, direction="more")) == (Shift((0.0, 0.1, 0.0)),)
    assert built(situation, Request(Intent.SHIFT, direction="more", number=2.0, unit="cm")) == (
        Shift((0.0, 0.02, 0.0)),
    )


def test_towards_a_thing_is_along_the_line_from_what_is_held(built, at_table) -> None:
    (shift,) = built(at_table(2, "red block"), Request(Intent.SHIFT, direction="towards", target="the vase"))
    assert shift.frame is Frame.ROBOT
    assert shift.offset == pytest.approx((-0.003, 0.04, 0.0), abs=1e-3)


def test_a_shift_of_what_is_not_under_way_is_a_question(built, at_table) -> None:
    asked = built(at_table(2, "red block"), Request(Intent.SHIFT, thing="the vase", direction="left"))
    assert "“the vase” is not what I am at now, that is the red block" in question(asked)


def test_a_change_of_motion_is_remembered_of_one_kind_at_a_time(built, at_table) -> None:
    slower = [Request(Intent.SPEED, sense=Sense.LESS, about=about, scope=Scope.ALWAYS) for about in ("mugs", "vases")]
    assert "shall I remember that of “mugs” or of “vases”" in question(built(at_table(1), *slower))


def test_a_change_of_the_motion_with_what_is_done_is_a_question(built, at_table) -> None:
    asked = built(at_table(3), Request(Intent.SPEED, sense=Sense.LESS, about="the red block"))
    assert "Nothing that is left to do is about “the red block”" in question(asked)
    always = Request(Intent.SPEED, sense=Sense.LESS, about="the red block", scope=Scope.ALWAYS)
    assert [one.step for one in built(at_table(3), always)] == [""]  # there is something to remember


def test_what_is_said_of_the_motion_with_a_thing_that_is_not_moved_is_a_question(built, at_table) -> None:
    with_vase = Request(Intent.HEIGHT, thing="the vase")
    assert "Nothing that is left to do is about “the vase”" in question(built(at_table(1), with_vase))
    with_teapot = Request(Intent.SPEED, sense=Sense.LESS, thing="the teapot")
    assert "I see nothing here that is “the teapot”" in question(built(at_table(1), with_teapot))
    near = Request(Intent.SPEED, sense=Sense.LESS, about="the vase")
    assert built(at_table(1), near) == (Adjust("speed", Change.SCALE, 0.5),)


def test_slower_near_a_thing_is_a_rule(built, at_table, in_house) -> None:
    near = Request(Intent.SPEED, sense=Sense.LESS, near="the vase")
    assert built(at_table(1), near) == (AddRule("G (near(robot, vase) -> speed(robot) < 0.1)", "slower near the vase"),)
    people = Request(Intent.SPEED, sense=Sense.LESS, size=Size.BIT, near="anna")
    (rule,) = built(in_house(1), people)
    assert rule == AddRule("G (near(robot, Anna) -> speed(robot) < 0.375)", "slower near Anna")


def test_another_thing_as_well_is_the_errand_under_way_after_it(built, at_table) -> None:
    into_bowl = (Insert("pick", {"object": "vase"}, "3"), Insert("place_in", {"object": "green bowl"}, "3"))
    for situation in (at_table(0), at_table(2, "red block")):
        assert built(situation, Request(Intent.AGAIN, thing="the vase")) == into_bowl
    planned = built(at_table(1), Request(Intent.AGAIN, thing="the mug"))
    assert "The mug is part of the plan already. What should be done with it" in question(planned)
    others = built(at_table(2, "red block"), Request(Intent.AGAIN, thing="all the other blocks"))
    assert [one.arguments for one in others] == [{"object": "blue block"}, {"object": "green bowl"}]
    both = built(at_table(1), Request(Intent.AGAIN, thing="mugs"))
    assert "The mug is part of the plan already" in question(both)


def test_what_takes_nothing_is_done_with_the_same_thing_once_more(built, situation_of) -> None:
    scene = replace(TABLE, objects=(*TABLE.objects, thing("button", 0.3, 0.3, (0.05, 0.05, 0.02))))
    situation = situation_of(scene, (("press", {"object": "button"}), *TABLE_STEPS))
    assert built(situation, Request(Intent.AGAIN, thing="button")) == (Insert("press", {"object": "button"}, "2"),)


def test_a_bowl_said_with_something_in_hand_may_be_taken_or_filled(built, at_table) -> None:
    asked = built(at_table(4, "mug"), Request(Intent.OTHER_THING, thing="the blue bowl"))
    assert "Does the mug go to the blue bowl, or shall I take the blue bowl instead of it" in question(asked)
    assert asked[0].options == ("put it in the blue bowl", "take the blue bowl")
    holding = at_table(2, "red block")
    assert built(holding, Request(Intent.OTHER_THING, thing="the blue bowl")) == (Rebind("2", "object", "blue bowl"),)


def test_what_no_errand_is_about_is_left_alone_by_a_rule(built, at_table) -> None:
    rule = AddRule("G !moved(vase)", "leave the vase be")
    assert built(at_table(1), Request(Intent.SKIP, thing="the vase", text="leave the vase be")) == (rule,)
    several = built(at_table(1), Request(Intent.SKIP, thing="the blue things", text="leave the blue things be"))
    assert "Nothing that is left to do is about “the blue things”" in question(several)


@pytest.mark.parametrize(
    ("words", "request_", "operations"),
    [
        ("the vase is old so never touch it", Request(Intent.RULE, text="never touch it"),
         (AddRule("G !near(robot, vase)", "never touch the vase"),)),
        ("the mug is broken, skip that", Request(Intent.SKIP, thing="that"), (Remove("3"), Remove("4"))),
        ("the vase is empty, take it", Request(Intent.OTHER_THING, thing="it"), (Rebind("1", "object", "vase"),)),
    ],
)  # fmt: skip
def test_it_is_the_one_thing_that_was_named_outside_of_the_request(
    at_table, sources, words, request_, operations
) -> None:
    assert build((request_,), words, at_table(1), sources).operations == operations


def test_it_is_none_of_several_things_that_were_named(at_table, sources) -> None:
    unclear = build((Request(Intent.RULE, text="never touch it"),), "the vase and the mug", at_table(1), sources)
    assert "never touch it" in question(unclear.operations)


@pytest.mark.parametrize(
    ("words", "pronoun", "steps"),
    [("Anna is not there today, skip her", "her", "56"), ("the kitchen is wet, skip it", "it", "78")],
)
def test_a_person_or_a_room_that_was_named_is_left_out(in_house, sources, words, pronoun, steps) -> None:
    found = build((Request(Intent.SKIP, thing=pronoun),), words, in_house(1), sources)
    assert found.operations == tuple(map(Remove, steps))


def test_what_is_new_is_done_once_and_no_lesson(built, at_table) -> None:
    always = Request(
        Intent.OTHER_TARGET, thing="vases", target="the bowl", relation="in", text="put vases away", scope=Scope.ALWAYS
    )
    (clarify,) = built(at_table(1), always)
    assert "I remember how things are done, not what is to be done. Shall I put vases away now" in clarify.question
    assert clarify.options == ("put vases away",)


@pytest.mark.parametrize(
    ("request_", "words"),
    [
        (Request(Intent.SHIFT, direction="more"), "More of what"),
        (Request(Intent.SHIFT, direction="opposite"), "Which way? Nothing has been shifted yet"),
        (Request(Intent.TOO_FAR), "Too far which way"),
        (Request(Intent.SHIFT, direction="left", number=3.0, unit="seconds"), "How far is 3 seconds"),
        (Request(Intent.SPEED, number=3.0, unit="cm", sense=Sense.EXACT), "How fast is 3 cm"),
        (Request(Intent.HEIGHT, number=3.0, unit="seconds"), "How far is 3 seconds"),
        (Request(Intent.HEIGHT, number=3.0, unit="m"), "Of height I can give 20 cm at most. How much shall it be"),
        (Request(Intent.SHIFT, about="the vase", direction="left"), "“the vase” is not what I am at now, that is"),
        (Request(Intent.SPEED, instead_of="the mug", scope=Scope.ALWAYS), "I can remember that of things, not of all"),
        (Request(Intent.DISTANCE, text="place", number=3.0, unit="s"), "No step ahead has a time"),
        (Request(Intent.DURATION, number=3.0, unit="cm", present=(2.0, "s")), "Is 3 cm how far, or how long"),
        (Request(Intent.DURATION), "No step ahead has a time that could be changed"),
        (Request(Intent.DISTANCE, text="place", thing="the vase"), "No step ahead about “the vase” has a distance"),
        (Request(Intent.OTHER_TARGET), "Where shall I put the red block down?"),
        (Request(Intent.ADD), "What should I do besides? Please say it as a command"),
        (Request(Intent.OTHER_TARGET, relation="in", target="the purple bowl"),
         "I see nothing here that is “the purple bowl”"),
        (Request(Intent.OTHER_TARGET, relation="in", target="the green bowl"), "That is how it is planned already"),
        (Request(Intent.OTHER_TARGET, relation="direction", direction="left"), "Nothing that is left to do pushes"),
        (Request(Intent.OTHER_TARGET, relation="opposite"), "On which side should it be"),
        (Request(Intent.OTHER_TARGET, target="the vase", instead_of="the vase"),
         "Nothing that is left goes to “the vase”"),
        (Request(Intent.OTHER_THING, thing="the red block"), "The red block is what I am to take already"),
        (Request(Intent.OTHER_THING), "Which one should it be then: the blue block or the yellow block"),
        (Request(Intent.FIRST, thing="red block"), "The red block is under way already"),
        (Request(Intent.FIRST, thing="mug"), "That is the order of things already"),
        (Request(Intent.PUT_BACK, thing="the mug"), "The mug is where it lay already"),
        (Request(Intent.LIFT, text="go near the vase again"), "There is no rule about that"),
        (Request(Intent.RULE, text="never enter the attic"), "What do you mean by “never enter the attic”"),
        (Request(Intent.ADD, text="fry an egg"), "I cannot do “fry an egg”"),
        (Request(Intent.ADD, text="put the vase 3 cm left"), "I found no way to do “put the vase 3 cm left” with 3 cm"),
    ],
)  # fmt: skip
def test_what_cannot_be_decided_is_a_question(built, at_table, request_, words) -> None:
    assert words in question(built(at_table(2, "red block"), request_))


@pytest.mark.parametrize(
    ("calls", "running", "held", "request_", "words"),
    [
        ([("wait", {"seconds": 5.0})], 1, "", Request(Intent.OTHER_THING, thing="the vase"),
         "Nothing that is under way takes"),
        ([("wait", {"seconds": 5.0})], 1, "", Request(Intent.AGAIN, thing="the vase"),
         "What should I do with the vase? Nothing is being done with anything else"),
        ([("wait", {"seconds": 5.0})], 1, "", Request(Intent.OTHER_TARGET, target="plate"),
         "is put anywhere. What should go"),
        ([("wait", {"seconds": 5.0})], 1, "", Request(Intent.PUT_BACK),
         "What should go back? Nothing has been moved yet"),
        ([("wait", {"seconds": 5.0})], 1, "", Request(Intent.PUT_BACK, thing="the vase"),
         "The vase is where it lay already. What should go back"),
        ([("pick", {"object": "mug"})], 2, "", Request(Intent.SKIP_THIS), "Nothing of the plan is left to do"),
        ([("pick", {"object": "red block"})], 1,
         "", Request(Intent.OTHER_THING, instead_of="red one", negated=True),
         "Which one should it be then: the blue block or the yellow block"),
        ([("push", {"object": "mug", "direction": "left", "distance": 0.1})], 1, "",
         Request(Intent.OTHER_TARGET, relation="direction", direction="up"), "A push goes left, right, forward or"),
        ([("pick", {"object": "red block"}), ("place_on", {"object": "plate"}), ("pick", {"object": "blue block"})], 0,
         "",
         Request(Intent.SKIP, thing="block"), "Which one do you mean by “block”: the red block or the blue block"),
    ],
)  # fmt: skip
def test_what_the_plan_does_not_hold_is_a_question(built, table_with, calls, running, held, request_, words) -> None:
    assert words in question(built(table_with(calls, running, held), request_))


def test_nobody_knows_where_a_thing_lay_that_was_never_seen_lying(built, at_table) -> None:
    held = replace(at_table(2, "red block"), origins={})
    assert "I do not know where the red block lay before" in question(built(held, Request(Intent.SKIP_THIS)))
    done = replace(at_table(3), origins={})
    assert "I do not know where the red block lay before" in question(built(done, Request(Intent.PUT_BACK)))


def test_over_a_thing_there_is_no_way_towards_it(built, at_table) -> None:
    situation = at_table(2, "red block")
    above = Request(Intent.SHIFT, direction="towards", target="the red block")
    assert "I am right over “the red block”" in question(built(situation, above))


def test_a_word_that_is_no_direction_is_refused(built, at_table) -> None:
    with pytest.raises(
        InputError, match="'sideways' is not a direction of a shift; the directions are: forward, backward"
    ):
        built(at_table(1), Request(Intent.SHIFT, direction="sideways"))


def test_words_that_are_a_goal_are_no_rule(at_table) -> None:
    goal = Sources(lambda words, scene: (Constraint(parse("F near(robot, vase)"), words, goal=True),), None)
    edit = build([Request(Intent.RULE, text="go to the vase")], "", at_table(1), goal)
    assert "“go to the vase” is not a rule that I can keep" in question(edit.operations)


@pytest.mark.parametrize(
    ("words", "formula", "kept"),
    [
        ("until the tower is finished don't touch the vase", "G !moved(vase)", False),
        ("until the red block is in the bowl leave the vase", "!moved(vase) W in(red block, green bowl)", True),
        ("until i say otherwise leave the vase", "G !moved(vase)", True),
    ],
)
def test_a_rule_with_an_end_is_not_kept_for_good(at_table, words, formula, kept) -> None:
    rule = Sources(lambda said, scene: (Constraint(parse(formula), said),), None)
    (operation,) = build([Request(Intent.RULE, text=words)], words, at_table(1), rule).operations
    assert isinstance(operation, AddRule) == kept
    assert kept or "I understood that the vase is never moved, but not until when" in question((operation,))


def test_a_way_that_leads_there_already_or_none_at_all_is_a_question(built, in_house) -> None:
    office = Request(Intent.OTHER_TARGET, relation="to", target="the office")
    assert "That is where it goes already: office" in question(built(in_house(3, "mug"), office))
    waiting = in_house(8)
    assert "Nothing that is under way goes anywhere" in question(built(waiting, office))


# Quantities


@pytest.mark.parametrize(
    ("request_", "change", "value"),
    [
        (Request(Intent.SPEED, sense=Sense.LESS), Change.SCALE, 0.5),
        (Request(Intent.SPEED, sense=Sense.LESS, size=Size.BIT), Change.SCALE, 0.75),
        (Request(Intent.SPEED, size=Size.MUCH), Change.SCALE, 4.0),
        (Request(Intent.SPEED, sense=Sense.NORMAL), Change.SET, 1.0),
        (Request(Intent.SPEED, sense=Sense.EXACT, number=30.0, unit="percent"), Change.SET, 0.3),
        (Request(Intent.SPEED, sense=Sense.LESS, number=20.0, unit="percent"), Change.SCALE, 0.8),
        (Request(Intent.SPEED, number=2.0, unit="times"), Change.SCALE, 2.0),
    ],
)
def test_speed_is_scaled_or_set(built, at_table, request_, change, value) -> None:
    (adjust,) = built(at_table(1), request_)
    assert (adjust.quantity, adjust.change, adjust.value) == ("speed", change, pytest.approx(value))


def test_height_and_clearance_are_shifted(built, at_table) -> None:
    assert built(at_table(1), Request(Intent.HEIGHT, size=Size.BIT)) == (Adjust("height", Change.SHIFT, 0.025),)
    less = Request(Intent.CLEARANCE, sense=Sense.LESS)
    assert built(at_table(1), less) == (Adjust("clearance", Change.SHIFT, -0.02),)


def test_a_distance_is_that_of_the_step_that_is_meant(built, at_table, pushing, in_house) -> None:
    farther = Request(Intent.DISTANCE, text="push", size=Size.BIT)
    assert built(pushing, farther) == (Adjust("distance", Change.SCALE, 1.25, "1"),)
    gap = Request(Intent.DISTANCE, text="place", sense=Sense.EXACT, number=6.0, unit="cm")
    assert built(at_table(2), gap) == (Adjust("distance", Change.SET, 0.06, "4"),)
    longer = Request(Intent.DURATION, text="wait", number=10.0, unit="seconds")
    assert built(in_house(1), longer) == (Adjust("seconds", Change.SHIFT, 10.0, "8"),)


def test_a_time_to_be_at_a_place_where_nothing_waits_is_waited_after_arriving_there(in_house) -> None:
    waiting = Sources(None, lambda command, scene: (PlanStep("1", "wait", {"seconds": 30.0}, 1),))
    stay = Request(Intent.DURATION, sense=Sense.EXACT, number=0.5, unit="minute", target="the office")
    edit = build((stay,), "remain in the office for half a minute", in_house(1), waiting)
    assert edit.operations == (Insert("wait", {"seconds": 30.0}, "5"),)


def test_higher_near_a_thing_is_said_of_the_errand_under_way(built, at_table) -> None:
    higher = Request(Intent.HEIGHT, size=Size.BIT, near="the mug")
    assert built(at_table(2, "red block"), higher) == (Adjust("height", Change.SHIFT, 0.025, "2"),)


def test_nearer_to_what_it_is_put_beside_is_a_smaller_gap(built, at_table) -> None:
    nearer = Request(Intent.SHIFT, direction="towards", thing="the mug", target="the plate")
    assert built(at_table(2, "red block"), nearer) == (Adjust("distance", Change.SCALE, 2 / 3, "4"),)
    away = replace(nearer, direction="away", number=2.0, unit="cm")
    assert built(at_table(2, "red block"), away) == (Adjust("distance", Change.SHIFT, 0.02, "4"),)


def test_nearer_said_of_what_is_under_way_is_a_smaller_gap_too(built, at_table) -> None:
    nearer = Request(Intent.SHIFT, direction="towards", target="the plate")
    assert built(at_table(4, "mug"), nearer) == (Adjust("distance", Change.SCALE, 2 / 3, "4"),)
    (shift,) = built(at_table(2, "red block"), nearer)
    assert isinstance(shift, Shift)


def test_a_shift_of_what_is_only_being_taken_is_one_of_where_it_goes(built, at_table) -> None:
    left = Request(Intent.SHIFT, direction="left", number=3.0, unit="cm")
    assert [(one.step, one.parameter) for one in built(at_table(5), left)] == [("6", "place")]
    assert built(at_table(6, "yellow block"), left) == (Shift((0.0, 0.03, 0.0)),)


def test_what_shall_not_change_changes_nothing_unless_it_just_did(built, at_table) -> None:
    negated = Request(Intent.SPEED, sense=Sense.LESS, negated=True)
    assert built(at_table(1), negated) == ()
    slower = Edit((Adjust("speed", Change.SCALE, 0.5),))
    assert built(at_table(1, edits=[slower]), negated) == (Undo(),)


# Another thing, another target


def test_before_the_grasp_the_taking_step_gets_the_other_thing(built, at_table) -> None:
    assert built(at_table(1), Request(Intent.OTHER_THING, thing="the blue one")) == (
        Rebind("1", "object", "blue block"),
    )


def test_later_targets_follow_the_thing_that_they_are_about(built, pushing) -> None:
    found = built(pushing, Request(Intent.OTHER_THING, thing="the blue block"))
    assert found == (Rebind("1", "object", "blue block"), Rebind("3", "object", "blue block"))


def test_what_is_of_the_kind_of_a_later_thing_is_taken_in_place_of_that(built, at_table, situation_of) -> None:
    mug, parcel = ({"object": "mug"}, {"object": "red parcel"})
    steps = (("pick_up", mug), ("drop_off", {}), ("pick_up", parcel), ("drop_off", {}))
    blue = Request(Intent.OTHER_THING, thing="the blue parcel")
    assert built(situation_of(ROOMS_SCENE, steps, 2, "mug"), blue) == (Rebind("3", "object", "blue parcel"),)
    placing = at_table(4, "mug")  # the answer to a question is about the errand that was asked about
    which = question(built(placing, Request(Intent.OTHER_THING, thing="block")))
    assert which == "Which one do you mean by “block”: the red block or the blue block?"
    assert built(placing, Request(Intent.OTHER_THING, thing="blue block")) == (Rebind("5", "object", "blue block"),)
    mug_instead = Request(Intent.OTHER_THING, thing="the mug")
    assert built(at_table(1), mug_instead) == (Rebind("1", "object", "mug"),)


def test_where_it_was_to_go_tells_which_thing_was_wrong(sources, situation_of) -> None:
    mug, parcel, office = {"object": "mug"}, {"object": "red parcel"}, {"destination": "office"}
    steps = (("pick_up", mug), ("drop_off", {}), ("pick_up", parcel), ("go_to", office), ("drop_off", {}))
    situation = situation_of(ROOMS_SCENE, steps, 1)
    other = (Request(Intent.OTHER_THING, thing="blue parcel"),)
    meant_for = build(other, "it was the blue parcel I meant for the office", situation, sources)
    assert meant_for.operations == (Rebind("3", "object", "blue parcel"),)
    assert build(other, "the blue parcel", situation, sources).operations == (Rebind("1", "object", "blue parcel"),)


def test_both_are_the_two_that_the_plan_takes(built, at_table, situation_of) -> None:
    steps = (("pick", {"object": "red block"}), ("place_at", {"place": "left side"}), *TABLE_STEPS[4:])
    both = Request(Intent.OTHER_TARGET, thing="both things", target="the right side", relation="at")
    there = [Rebind(step, "place", "right side") for step in "24"]
    assert list(built(situation_of(TABLE, steps, 1), both)) == there
    is_so = replace(both, target="left side")
    assert "That is how it is planned already" in question(built(situation_of(TABLE, steps, 1), is_so))


def test_after_the_grasp_it_is_put_back_and_the_other_one_taken(built, at_table) -> None:
    found = built(at_table(2, "red block"), Request(Intent.OTHER_THING, thing="the yellow one"))
    assert found == (PUT_BACK, Insert("pick", {"object": "yellow block"}, "2"))


def test_just_let_go_it_is_taken_out_again_and_put_back_first(built, at_table) -> None:
    found = built(at_table(2), Request(Intent.OTHER_THING, thing="the yellow one"))
    takes = [Insert("pick", {"object": name}, "2") for name in ("red block", "yellow block")]
    assert found == (takes[0], PUT_BACK, takes[1])


def test_a_mobile_robot_goes_back_drops_it_off_and_fetches_the_other_one(built, in_house) -> None:
    found = built(in_house(3, "mug"), Request(Intent.OTHER_THING, thing="the red parcel"))
    assert found == (
        Insert("go_to", {"destination": "kitchen"}, "3"),
        Insert("drop_off", {}, "3"),
        Insert("go_to", {"destination": "red parcel"}, "3"),
        Insert("pick_up", {"object": "red parcel"}, "3"),
    )


def test_at_its_goal_it_has_to_come_there_again(built, in_house) -> None:
    found = built(in_house(4, "mug"), Request(Intent.OTHER_THING, thing="the red parcel"))
    assert found[-1] == Insert("go_to", {"destination": "office"}, "4")


ON_A_BASE = (
    ("approach", {"object": "red block"}),
    ("pick", {"object": "red block"}),
    ("approach", {"object": "green bowl"}),
    ("place_in", {"object": "green bowl"}),
)  # fmt: skip


def test_an_arm_on_a_base_drives_to_the_other_thing_by_its_own_skill(built, situation_of) -> None:
    found = built(situation_of(TABLE, ON_A_BASE, 2), Request(Intent.OTHER_THING, thing="the yellow block"))
    assert found == (Insert("approach", {"object": "yellow block"}, "2"), Rebind("2", "object", "yellow block"))


def test_the_drive_to_a_target_goes_with_it(built, situation_of) -> None:
    other = Request(Intent.OTHER_TARGET, target="the blue bowl", relation="in")
    found = built(situation_of(TABLE, ON_A_BASE, 2), other)
    assert found == (Rebind("3", "object", "blue bowl"), Rebind("4", "object", "blue bowl"))
    assert built(situation_of(TABLE, ON_A_BASE, 4, "red block"), other) == found[1:]


def test_while_something_is_held_a_word_that_fits_thing_and_target_is_a_question(built, at_table) -> None:
    asked = built(at_table(2, "red block"), Request(Intent.OTHER_THING, thing="the blue one"))
    assert "the blue block or the blue bowl" in question(asked)


def test_the_same_skill_gets_another_target_and_another_skill_takes_its_place(built, at_table) -> None:
    carrying = at_table(2, "red block")
    bowl = Request(Intent.OTHER_TARGET, relation="in", target="the blue bowl")
    assert built(carrying, bowl) == (Rebind("2", "object", "blue bowl"),)
    plate = Request(Intent.OTHER_TARGET, relation="on", target="the plate")
    assert built(carrying, plate) == (Replace("2", "place_on", {"object": "plate"}),)
    side = Request(Intent.OTHER_TARGET, relation="at", target="the right side", thing="yellow block")
    assert built(carrying, side) == (Rebind("6", "place", "right side"),)


def test_a_way_leads_to_another_room(built, in_house) -> None:
    kitchen = Request(Intent.OTHER_TARGET, relation="to", target="the hall")
    assert built(in_house(3, "mug"), kitchen) == (Rebind("3", "destination", "hall"),)


def test_where_the_robot_only_goes_it_docks_at_a_dock(built, situation_of) -> None:
    scene = replace(ROOMS_SCENE, objects=(*ROOMS_SCENE.objects, thing("dock", 1.0, -2.0, (0.3, 0.3, 0.2))))
    (docks,) = built(
        situation_of(scene, ROOMS_STEPS[6:]), Request(Intent.OTHER_TARGET, target="charger", relation="to")
    )
    assert docks == Replace("1", "dock", {"station": "dock"})


def test_a_push_goes_the_speakers_way(built, pushing) -> None:
    mine = Request(Intent.OTHER_TARGET, relation="direction", direction="backward")
    assert built(pushing, mine) == (Rebind("1", "direction", "bottom"),)


# Order


def test_an_errand_is_moved_before_those_that_have_not_begun(built, at_table) -> None:
    assert built(at_table(2, "red block"), Request(Intent.FIRST, thing="the yellow block")) == (Move(("5", "6"), "3"),)
    assert built(at_table(), Request(Intent.FIRST, thing="the yellow block")) == (Move(("5", "6"), "1"),)
    assert built(at_table(1), Request(Intent.LAST, thing="the mug")) == (Move(("3", "4")),)
    before = Request(Intent.FIRST, thing="yellow block", relation="before", target="the mug")
    assert built(at_table(1), before) == (Move(("5", "6"), "3"),)
    after = Request(Intent.FIRST, thing="the mug", relation="after", target="the yellow block")
    assert built(at_table(1), after) == (Move(("3", "4")),)


def test_what_is_under_way_waits_for_another_while_nothing_is_held(built, at_table) -> None:
    before = Request(Intent.FIRST, thing="the yellow block", target="the mug", relation="before")
    assert built(at_table(3), before) == (Move(("5", "6"), "3"),)
    assert question(built(at_table(4, "mug"), before)).startswith("That is the order of things already.")


def test_an_errand_that_is_skipped_loses_its_steps_and_what_is_held_goes_back(built, at_table) -> None:
    assert built(at_table(1), Request(Intent.SKIP, thing="the cup")) == (Remove("3"), Remove("4"))
    assert built(at_table(1), Request(Intent.SKIP_THIS)) == (Remove("1"), Remove("2"))
    assert built(at_table(2, "red block"), Request(Intent.SKIP_THIS)) == (PUT_BACK, Remove("2"))
    assert built(at_table(2, "red block"), Request(Intent.PUT_BACK)) == (PUT_BACK, Remove("2"))


def test_the_rest_is_all_but_the_errand_under_way(built, at_table) -> None:
    rest = Request(Intent.SKIP, thing="the rest", text="skip the rest")
    assert built(at_table(2, "red block"), rest) == tuple(map(Remove, "3456"))
    assert question(built(at_table(6, "yellow block"), rest)) == (
        "Nothing else is left to do after this. What do you mean?"
    )


def test_all_but_one_are_left_out(built, at_table) -> None:
    only = Request(Intent.SKIP, thing="the mug", relation="except", text="only the mug")
    assert built(at_table(1), only) == tuple(map(Remove, "1256"))
    assert built(at_table(2, "red block"), only) == (PUT_BACK, *map(Remove, "256"))
    left = Request(Intent.SKIP, thing="the yellow block", relation="except", text="only the yellow block")
    assert question(built(at_table(6, "yellow block"), left)) == "Nothing else is left to do. What do you mean?"


def test_what_was_moved_last_is_put_back_with_an_empty_hand(built, at_table) -> None:
    found = built(at_table(3), Request(Intent.PUT_BACK))
    assert found == (
        Insert("pick", {"object": "red block"}, "3"),
        Insert("place_at", {"place": (0.36, -0.10, 0.0)}, "3"),
    )


def test_once_more_is_the_last_finished_errand_next(built, at_table) -> None:
    found = built(at_table(3), Request(Intent.AGAIN))
    assert found == (Insert("pick", {"object": "red block"}, "5"), Insert("place_in", {"object": "green bowl"}, "5"))


def test_what_comes_first_is_written_before_the_errands_that_have_not_begun(built, at_table) -> None:
    found = built(at_table(2, "red block"), Request(Intent.ADD, text="move the vase away", when=When.NEXT))
    assert [(insert.skill, insert.before) for insert in found] == [("pick", "3"), ("place_at", "3")]


# Rules, memory, several at once


def test_only_a_rule_of_the_plan_is_lifted(built, at_table) -> None:
    situation = at_table(1, rules=[("G !near(robot, vase)", "keep away from the vase")])
    found = built(situation, Request(Intent.LIFT, text="go near the vase again"))
    assert found == (LiftRule("G !near(robot, vase)"),)
    assert "The rules are: keep away from the vase" in question(
        built(situation, Request(Intent.LIFT, text="use the mug"))
    )


def test_of_several_rules_about_it_one_is_asked_for(built, at_table) -> None:
    rules = [("G !near(robot, vase)", "keep away from the vase"), ("G !moved(vase)", "do not touch the vase")]
    assert "Which of these rules" in question(
        built(at_table(1, rules=rules), Request(Intent.LIFT, text="the vase rule"))
    )


def test_a_scope_is_the_edits_and_is_about_the_kind_that_was_said(at_table, sources) -> None:
    slower = Request(Intent.SPEED, sense=Sense.LESS, scope=Scope.ALWAYS, about="blue blocks", lifetime=Lifetime.PLAN)
    edit = build([slower], "", at_table(1), sources)
    assert (edit.scope, edit.about) == (Scope.ALWAYS, "blue block")


def test_one_question_makes_the_whole_edit_a_question(built, at_table) -> None:
    slower, absent = Request(Intent.SPEED, sense=Sense.LESS), Request(Intent.SKIP, thing="the teapot")
    assert "nothing here that is “the teapot”" in question(built(at_table(1), slower, absent))


def test_the_robots_own_left_is_said_in_the_speakers_words(built, pushing) -> None:
    facing = replace(pushing, viewpoint=VIEWPOINTS["facing"])
    own = Request(Intent.OTHER_TARGET, relation="direction", direction="right", frame=Frame.ROBOT)
    assert built(facing, own) == (Rebind("1", "direction", "left"),)


def test_somebody_else_is_to_be_followed(built, situation_of) -> None:
    ben = thing("Ben", 8.0, 2.0, (0.44, 0.44, 1.7), kind="person")
    scene = replace(ROOMS_SCENE, objects=(*ROOMS_SCENE.objects, ben))
    following = (("go_to", {"destination": "Anna"}), ("follow", {"object": "Anna", "seconds": 60.0, "distance": 1.5}))
    request = Request(Intent.OTHER_TARGET, target="ben", instead_of="anna", relation="to")
    assert Rebind("2", "object", "Ben") in built(situation_of(scene, following, 2), request)


def test_what_goes_back_is_what_is_held_where_the_words_fit_it(built, at_table) -> None:
    assert built(at_table(2, "red block"), Request(Intent.PUT_BACK, thing="block")) == built(
        at_table(2, "red block"), Request(Intent.PUT_BACK)
    )


def test_more_room_to_a_thing_that_nothing_moves_is_for_all_motion(built, at_table) -> None:
    request = Request(Intent.CLEARANCE, thing="the vase")
    assert built(at_table(1), request) == (Adjust("clearance", Change.SHIFT, 0.02),)


def set_to(operations) -> tuple[str, str, float]:
    (adjust,) = operations
    assert adjust.change is Change.SET
    return adjust.quantity, adjust.step, adjust.value


def test_a_number_alone_is_in_the_unit_of_what_it_takes_the_place_of(built, at_table) -> None:
    gap = Request(Intent.DISTANCE, number=8.0, present=(4.0, "cm"), sense=Sense.EXACT)
    assert set_to(built(at_table(2, "red block"), gap)) == ("distance", "4", 0.08)
    alone = replace(gap, number=15.0, present=(4.0, ""))
    assert set_to(built(at_table(2, "red block"), alone)) == ("distance", "4", 0.15)


def test_a_limit_in_metres_a_second_is_a_rule(built, at_table) -> None:
    (rule,) = built(at_table(2, "red block"), Request(Intent.SPEED, number=5.0, unit="cm/s", sense=Sense.EXACT))
    assert rule.formula == "G speed(robot) < 0.05"


def test_room_to_a_thing_in_centimetres_is_a_rule(built, at_table) -> None:
    (rule,) = built(at_table(2, "red block"), Request(Intent.CLEARANCE, thing="vase", number=10.0, unit="cm"))
    assert rule.formula == "G distance(robot, vase) > 0.1"


def test_more_room_near_a_thing_is_a_rule_about_that_thing(sources, built, at_table) -> None:
    near = Request(Intent.CLEARANCE, near="the vase", scope=Scope.ALWAYS)
    edit = build((near,), "", at_table(1), sources)
    assert edit.operations == (AddRule("G !near(robot, vase)", "keep away from the vase"),)
    assert (edit.scope, edit.about) == (Scope.ALWAYS, "vase")
    (rule,) = built(at_table(1), replace(near, size=Size.MUCH, scope=Scope.ONCE))
    assert rule.formula == "G distance(robot, vase) > 0.15"


@pytest.mark.parametrize(
    "lasting",
    ["at all times", "from here on", "in all the next ones", "that goes for every trip", "until further notice"],
)
def test_a_rule_that_is_said_to_last_is_for_ever(sources, at_table, lasting: str) -> None:
    rule = Request(Intent.RULE, text="never touch the vase")
    words = "keep off the vase"
    assert build((rule,), words, at_table(1), sources).scope is Scope.ONCE
    assert build((rule,), f"{words}, {lasting}", at_table(1), sources).scope is Scope.ALWAYS


def test_room_to_what_a_later_step_takes_is_kept_while_this_is_held(built, at_table) -> None:
    (rule,) = built(at_table(2, "red block"), Request(Intent.CLEARANCE, near="the mug"))
    assert rule.formula == "G (holding(red block) -> !near(robot, mug))"
    gap = Request(Intent.CLEARANCE, near="the plate", number=2.0, unit="cm")
    assert built(at_table(4, "mug"), gap) == (Adjust("distance", Change.SHIFT, 0.02, "4"),)


def test_slower_with_it_is_with_what_is_held(sources, at_table) -> None:
    slower = Request(Intent.SPEED, sense=Sense.LESS, thing="this one")
    words = "slower, but only with this one, mind the vase"
    edit = build((slower,), words, at_table(2, "red block"), sources)
    assert edit.operations == (Adjust("speed", Change.SCALE, 0.5, "2"),)


def test_the_next_two_errands_change_places(built, at_table) -> None:
    (move,) = built(at_table(2, "red block"), Request(Intent.SWAP))
    assert (move.steps, move.before) == (("5", "6"), "3")


def test_the_way_that_is_next_said_while_the_robot_follows_ends_that(sources, in_house) -> None:
    situation = in_house(1)
    steps = situation.plan.steps
    way = next(step for step in steps if step.skill == "go_to")
    waiting = replace(steps[0], id="9", skill="wait", arguments={"seconds": 20.0}, status=StepStatus.RUNNING)
    plan = replace(situation.plan, steps=(waiting, replace(way, status=StepStatus.PENDING)))
    writes = replace(sources, write_steps=lambda text, scene: (way,))
    found = build((Request(Intent.ADD, text="go there"),), "go there", replace(situation, plan=plan), writes)
    assert found.operations == (Remove("9"),)


def test_two_errands_that_are_named_change_places_also_over_others(built, at_table) -> None:
    swapped = built(at_table(0), Request(Intent.SWAP, thing="the red block", target="the yellow block"))
    assert swapped == (Move(("5", "6"), "1"), Move(("1", "2"), ""))
    next_to_it = built(at_table(0), Request(Intent.SWAP, thing="the mug", target="the red block"))
    assert next_to_it == (Move(("3", "4"), "1"),)


def test_after_this_one_nothing_is_left(built, at_table) -> None:
    found = built(at_table(2, "red block"), Request(Intent.SKIP_REST))
    assert found == tuple(Remove(step) for step in ("3", "4", "5", "6"))


def test_so_many_times_is_in_all_or_besides(built, table_with) -> None:
    def pressed(**slots):
        situation = table_with([("press", {"object": "red block"}), ("pick", {"object": "mug"})], 1, "")
        return built(situation, Request(Intent.AGAIN, **slots))

    once = Insert("press", {"object": "red block"}, "2")
    assert pressed(number=2.0, unit="times", sense=Sense.EXACT) == (once,)
    assert pressed(number=2.0, sense=Sense.MORE) == (once, once)
    assert pressed(number=2.0, sense=Sense.EXACT, thing="the mug") == (Insert("pick", {"object": "mug"}, ""),)
    assert "How many times" in question(pressed(number=1.0, sense=Sense.EXACT))


def test_a_new_errand_comes_before_or_after_the_errand_that_is_named(built, at_table) -> None:
    def added(when, target, situation=None):
        request = Request(Intent.ADD, text="move the vase away", when=when, target=target)
        return [insert.before for insert in built(situation or at_table(2, "red block"), request)]

    assert added(When.NEXT, "the yellow block") == ["5", "5"]
    assert added(When.END, "the mug") == ["5", "5"]
    assert added(When.END, "the yellow block") == ["", ""]
    assert added(When.NEXT, "the red block", at_table(1)) == ["1", "1"]  # which waits while nothing is held
    assert added(When.NEXT, "the red block") == ["3", "3"]


def test_another_target_may_come_with_a_gap(built, at_table) -> None:
    request = Request(Intent.OTHER_TARGET, thing="the mug", relation="left", target="the plate", number=10.0, unit="cm")
    assert built(at_table(1), request) == (Rebind("4", "direction", "left"), Rebind("4", "distance", 0.1))
    into = Request(Intent.OTHER_TARGET, relation="in", target="the blue bowl", number=10.0, unit="cm")
    assert "Only beside a thing a gap can be left" in question(built(at_table(2, "red block"), into))


def test_any_that_fits_will_do_where_no_certain_one_is_spoken_of(sources, at_table) -> None:
    situation = at_table(2, "red block")

    def found(words, thing):
        return build((Request(Intent.ADD, text=f"put {thing} on the plate"),), words, situation, sources).operations

    other = (Request(Intent.OTHER_THING, thing="block"),)
    assert "Which one" in question(build(other, "take the block instead", situation, sources).operations)
    taken = build(other, "take a block instead, either will do", situation, sources).operations
    assert [one.arguments for one in taken if isinstance(one, Insert)][-1] == {"object": "blue block"}


def test_what_is_to_go_back_waits_until_the_hand_is_free(built, at_table) -> None:
    moved = replace(at_table(4, "mug"), origins={**at_table(0).origins, "red block": (0.36, -0.1, 0.02)})
    done = replace(moved.scene, objects=tuple(
        replace(item, position=(0.5, 0.1, 0.03)) if item.name == "red block" else item for item in moved.scene.objects
    ))  # fmt: skip
    found = built(replace(moved, scene=done), Request(Intent.PUT_BACK, thing="the red block"))
    assert [(one.skill, one.before) for one in found] == [("pick", "5"), ("place_at", "5")]


def test_once_more_before_anything_is_done_is_the_errand_under_way_twice(built, at_table) -> None:
    found = built(at_table(2, "red block"), Request(Intent.AGAIN))
    assert [(one.skill, one.before) for one in found] == [("pick", "3"), ("place_in", "3")]


def test_only_the_wait_is_left_out(built, table_with) -> None:
    situation = table_with([("pick", {"object": "mug"}), ("wait", {"seconds": 5.0}), ("go_home", {})], 1, "")
    assert built(situation, Request(Intent.SKIP_WAIT)) == (Remove("2"),)
    assert "has a time" in question(built(table_with([("go_home", {})], 1, ""), Request(Intent.SKIP_WAIT)))


def test_the_yellow_block_first_and_then_the_others_is_before_the_one_under_way(sources, at_table) -> None:
    first, words = Request(Intent.FIRST, thing="yellow block"), "the yellow block first, and then the others"
    assert build((first,), words, at_table(1), sources).operations == (Move(("5", "6"), "1"),)


def test_what_is_only_reached_for_may_come_after_another(built, at_table) -> None:
    request = Request(Intent.FIRST, thing="the red block", relation="after", target="the mug")
    assert built(at_table(1), request) == (Move(("1", "2"), "5"),)


def test_to_wait_a_while_is_for_now(sources, at_table) -> None:
    request = Request(Intent.ADD, text="wait 5 s", when=When.NEXT)
    steps = (PlanStep("1", "wait", {"seconds": 5.0}, 1),)
    writes = replace(sources, write_steps=lambda command, scene: steps)
    found = build((request,), "wait 5 s", at_table(2, "red block"), writes).operations
    assert found == (Insert("wait", {"seconds": 5.0}, "2"),)


def test_what_is_planned_already_only_changes_its_place(sources, at_table) -> None:
    steps = at_table(1).plan.steps[2:4]
    writes = replace(sources, write_steps=lambda command, scene: steps)
    request = Request(Intent.ADD, text="put the mug beside the plate", when=When.NEXT, target="the red block")
    found = build((request,), "before the red block put the mug beside the plate", at_table(0), writes).operations
    assert found == (Move(("3", "4"), "1"),)


def test_a_step_that_is_planned_once_and_added_twice_is_done_once_more(sources, table_with) -> None:
    press, push = ("press", {"object": "button"}), ("push", {"object": "mug", "direction": "left", "distance": 0.1})
    situation = table_with([push, press, push], 1, "")
    twice = replace(sources, write_steps=lambda command, scene: (situation.plan.steps[1],) * 2)
    found = build((Request(Intent.ADD, text="press the button twice"),), "and press the button twice", situation, twice)
    assert found.operations == (Insert(*press, "3"),)


@pytest.mark.parametrize(
    ("thing", "changed"),
    [("mug", Rebind("4", "direction", "left")), ("yellow block", Rebind("6", "place", "right side"))],
)
def test_the_other_side_is_that_of_what_it_is_put_to_or_of_the_table(built, at_table, thing, changed) -> None:
    assert built(at_table(1), Request(Intent.OTHER_TARGET, relation="opposite", thing=thing)) == (changed,)


def test_an_exact_amount_settles_what_was_said_before_it(built, at_table) -> None:
    closer = Request(Intent.DISTANCE, sense=Sense.LESS, size=Size.BIT)
    exact = Request(Intent.DISTANCE, sense=Sense.EXACT, number=2.0, unit="cm")
    assert built(at_table(4, "mug"), closer, exact) == (Adjust("distance", Change.SET, 0.02, "4"),)


def test_left_said_of_a_push_to_the_right_is_the_other_way(built, table_with) -> None:
    situation = table_with([("push", {"object": "red block", "direction": "right", "distance": 0.1})], 1, "")
    assert built(situation, Request(Intent.SHIFT, direction="left")) == (Rebind("1", "direction", "left"),)
    a_bit = built(situation, Request(Intent.SHIFT, direction="left", size=Size.BIT))
    assert isinstance(a_bit[0], Shift)


def test_another_of_a_kind_goes_where_those_of_its_kind_go(built, at_table) -> None:
    found = built(at_table(4, "mug"), Request(Intent.AGAIN, thing="the blue block"))
    assert [one.arguments for one in found] == [{"object": "blue block"}, {"place": "left side"}]


def test_what_is_put_back_is_said_once_or_twice(built, at_table) -> None:
    twice = built(at_table(2, "red block"), Request(Intent.PUT_BACK, thing="the red block"), Request(Intent.PUT_BACK))
    assert twice == built(at_table(2, "red block"), Request(Intent.PUT_BACK, thing="the red block"))


def test_what_is_put_back_for_another_is_put_back_once(built, at_table) -> None:
    other = Request(Intent.OTHER_THING, thing="the blue block")
    assert built(at_table(2, "red block"), Request(Intent.PUT_BACK), other) == built(at_table(2, "red block"), other)


def test_a_part_that_is_planned_so_already_leaves_the_others(built, at_table) -> None:
    slower, mug_as_planned = Request(Intent.SPEED, sense=Sense.LESS), Request(Intent.OTHER_THING, thing="mug")
    situation = at_table(4, "mug")
    assert built(situation, slower, mug_as_planned) == built(situation, slower)
    assert "already" in question(built(situation, mug_as_planned))


def test_an_errand_that_is_done_already_leaves_the_other_parts(sources, at_table) -> None:
    def nothing_to_do(command, scene):
        raise AlreadySatisfiedError(f"What you ask for is so already: “{command}”.")

    slower, add = Request(Intent.SPEED, sense=Sense.LESS), Request(Intent.ADD, text="put the mug there")
    writes, situation = replace(sources, write_steps=nothing_to_do), at_table(1)
    assert build((slower, add), "", situation, writes).operations == build((slower,), "", situation, writes).operations
    assert "is so already" in question(build((add,), "", situation, writes).operations)


def test_a_rule_against_what_is_planned_leaves_that_out(at_table) -> None:
    situation, rule = at_table(1), Sources(lambda said, scene: (Constraint(parse("G !moved(mug)"), said),), None)
    skip, leave = Request(Intent.SKIP, thing="mug"), Request(Intent.RULE, text="leave the mug there")
    without_mug = build([skip], "", situation, rule).operations
    assert build([leave], "", situation, rule).operations == without_mug
    lasting = build([replace(leave, scope=Scope.SESSION)], "", situation, rule).operations
    assert lasting == (*without_mug, AddRule("G !moved(mug)", "leave the mug there"))
    bowl = Sources(lambda said, scene: (Constraint(parse("G !moved(green bowl)"), said),), None)
    assert build([leave], "", situation, bowl).operations == (AddRule("G !moved(green bowl)", "leave the mug there"),)


def test_what_is_put_back_is_skipped_already(built, at_table) -> None:
    put_back = Request(Intent.PUT_BACK)
    situation = at_table(2, "red block")
    assert built(situation, put_back, Request(Intent.SKIP_THIS)) == built(situation, put_back)


def test_a_question_of_the_planner_that_lists_things_is_answered_by_one_of_them(sources, at_table) -> None:
    def asks(command, scene):
        raise QuestionError("Which blue object do you mean: the blue block or the blue bowl?")

    situation, command = at_table(1), "stick the blue one on the mug"
    edit = build((Request(Intent.ADD, text=command),), command, situation, replace(sources, write_steps=asks))
    (clarify,) = edit.operations
    assert clarify.options == ("the blue block", "the blue bowl")
    assert [requests[0].text for requests in clarify.pending.choices] == [
        "stick the blue block on the mug",
        "stick the blue bowl on the mug",
    ]

"""What an edit teaches, and of which cases."""

import pytest

from llm_planner.corrections.edits import (
    AddRule,
    Adjust,
    Change,
    Edit,
    Hold,
    Insert,
    LiftRule,
    Move,
    Rebind,
    Remove,
    Replace,
    Shift,
    Undo,
)
from llm_planner.corrections.preferences.memory import make_lessons
from llm_planner.corrections.preferences.preference import FIRST, THING, THIS, Occasion, Slots
from llm_planner.language.correction_requests import Frame, Scope
from llm_planner.scene.places import viewpoint

SLOWER = Adjust("speed", Change.SCALE, 0.5)
OCCASION = Occasion(1.0, "Anna", "today", "c1")


def lessons(words, situation, *operations, scope=Scope.ONCE, about=""):
    return make_lessons(Edit(operations, words, 0, scope, about), situation, OCCASION)


def lesson(*arguments, **options):
    (made,) = lessons(*arguments, **options)
    return made


def test_a_lesson_is_of_the_kind_of_thing_that_the_step_is_about(tidy):
    made = lesson("slower", tidy("red mug"), SLOWER)
    assert made.slots == Slots(skill="pick", kind="mug", user="Anna")
    assert made.case == Slots(skill="pick", kind="mug", color="red", user="Anna")
    assert (made.provenance.command, made.provenance.step, made.scope) == ("c1", "s1", Scope.ONCE)


def test_what_is_held_comes_before_what_the_step_names(tidy):
    assert lesson("slower", tidy("red mug", running=2), SLOWER).slots == Slots("place_on", "mug", user="Anna")


@pytest.mark.parametrize("words", ["slower with the red mug", "slower with red mugs", "the red one slower"])
def test_a_colour_decides_where_it_was_said_of_the_thing(words, tidy):
    assert lesson(words, tidy("red mug"), SLOWER).slots.color == "red"


@pytest.mark.parametrize("words", ["slower", "slower near the red block", "slower with the redoubtable mug"])
def test_a_colour_that_was_said_of_nothing_or_of_another_thing_does_not_decide(words, tidy):
    assert lesson(words, tidy("red mug"), SLOWER).slots.color == ""


def test_what_was_said_of_a_kind_holds_in_all_that_is_done_with_it(tidy):
    made = lesson("always slower with the mug", tidy("red block"), SLOWER, scope=Scope.ALWAYS, about="mug")
    assert made.slots == Slots(kind="mug", user="Anna")


@pytest.mark.parametrize(
    ("about", "kind", "color"), [("red mug", "mug", "red"), ("red mugs", "mug", "red"), ("mugs", "mug", "")]
)
def test_what_it_is_about_may_have_a_colour_and_be_many(about, kind, color, tidy):
    slots = lesson(f"slower with {about}", tidy("red block"), SLOWER, about=about).slots
    assert (slots.kind, slots.color) == (kind, color)


def test_what_was_said_of_a_room_holds_there(in_rooms):
    situation = in_rooms("go", ("go_to", "kitchen"), ("go_to", "lab"), running=1)
    made = lesson("always slower in the kitchen", situation, SLOWER, scope=Scope.ALWAYS, about="kitchen")
    assert made.slots == Slots(place="kitchen", user="Anna")


def test_always_said_of_nothing_holds_for_all_motion(tidy):
    assert lesson("always slower", tidy("red mug"), SLOWER, scope=Scope.ALWAYS).slots == Slots(user="Anna")


def test_a_person_is_meant_by_name_where_it_was_said(in_rooms):
    situation = in_rooms("go to Anna", ("go_to", "Anna"), running=1)
    assert lesson("slower", situation, SLOWER).slots == Slots("go_to", "person", user="Anna")
    assert lesson("slower to Anna", situation, SLOWER).slots.name == "Anna"


def test_a_shift_is_kept_in_the_frame_of_what_the_step_names(planned, turned):
    situation = planned("tidy up", ("pick", "long box"), running=1, scene=turned(1))
    made = lesson("a bit to the left", situation, Shift((0.0, 0.02, 0.0)))
    assert made.operations == (Shift((0.02, 0.0, 0.0), Frame.OBJECT),)


def test_the_left_is_that_of_the_speaker(planned):
    situation = planned("tidy", ("pick", "red block"), running=1, viewpoint=viewpoint("facing"))
    assert lesson("left", situation, Shift((0.0, 0.02, 0.0))).operations == (Shift((0.0, -0.02, 0.0), Frame.OBJECT),)


def test_a_shift_of_a_step_that_names_nothing_is_kept_in_the_robots_frame(planned):
    situation = planned("tidy", ("pick", "red block"), ("place_at", "left side"), running=2)
    assert lesson("left", situation, Shift((0.0, 0.02, 0.0))).operations == (Shift((0.0, 0.02, 0.0), Frame.ROBOT),)


def test_a_parameter_of_a_step_is_freed_from_its_id(planned):
    situation = planned("sort", ("pick", "red block"), ("place_beside", "red mug"), running=1)
    made = lesson("leave a wider gap", situation, Adjust("distance", Change.SCALE, 1.5, "s2"))
    assert made.operations == (Adjust("distance", Change.SCALE, 1.5, THIS),)
    assert made.slots == Slots("place_beside", "block", user="Anna")
    assert made.provenance.step == "s2"


def test_another_target_remembers_what_is_named_as_far_as_it_was_said(tidy):
    made = lesson("in the bowl instead", tidy("red mug"), Rebind("s2", "object", "blue bowl"))
    assert made.operations == (Rebind(THIS, "object", "blue bowl"),)
    assert made.things == {"blue bowl": Slots(kind="bowl")}
    assert lesson("in the blue bowl", tidy("red mug"), Rebind("s2", "object", "blue bowl")).things["blue bowl"].color


def test_another_thing_is_one_lesson_though_two_steps_name_it(planned):
    situation = planned("tidy", ("pick", "red block"), ("place_beside", "red mug"), ("push", "red block"), running=1)
    operations = [Rebind(step, "object", "green block") for step in ("s1", "s3")]
    assert lesson("no, the green one", situation, *operations).slots == Slots("pick", "block", user="Anna")


def test_the_same_target_for_two_things_is_two_lessons(planned):
    calls = [("pick", "red mug"), ("place_on", "white plate"), ("pick", "red block"), ("place_on", "white plate")]
    operations = [Rebind(step, "object", "blue bowl") for step in ("s2", "s4")]
    made = lessons("both in the blue bowl", planned("tidy", *calls), *operations)
    assert [item.slots.kind for item in made] == ["mug", "block"]


def test_what_is_taken_instead_is_also_that_beside_which_something_is_put(planned):
    situation = planned(
        "tidy", ("pick", "red block"), ("place_on", "vase"), ("pick", "red mug"), ("place_beside", "red block")
    )
    operations = [Rebind(step, "object", "green block") for step in ("s1", "s4")]
    assert lesson("no, the green one", situation, *operations).slots.kind == "block"


def test_new_steps_before_a_step_are_one_lesson_in_which_its_thing_has_no_name(tidy):
    inserts = [Insert("pick", {"object": "vase"}, "s1"), Insert("place_beside", {"object": "red mug"}, "s1")]
    made = lesson("first put the vase next to it", tidy("red mug"), *inserts)
    assert [item.arguments for item in made.operations] == [{"object": "vase"}, {"object": THING}]
    assert {item.before for item in made.operations} == {THIS}


def test_leaving_out_and_ordering_are_of_the_errand_and_of_each_thing(planned):
    calls = [("pick", "red mug"), ("place_on", "white plate"), ("pick", "red block"), ("place_on", "white plate")]
    situation = planned("tidy", *calls)
    left_out = lessons("neither", situation, *(Remove(f"s{n}") for n in (1, 2, 3, 4)))
    assert [made.slots for made in left_out] == [Slots(kind="mug", user="Anna"), Slots(kind="block", user="Anna")]
    assert left_out[0].operations == (Remove(THIS),)
    assert lesson("blocks first", situation, Move(("s3", "s4"), "s1")).operations == (Move((THIS,), FIRST),)
    assert lesson("blocks last", situation, Move(("s1", "s2"))).operations == (Move((THIS,)),)


def test_another_skill_is_freed_too(tidy):
    made = lesson("put it in the bowl", tidy("red mug"), Replace("s2", "place_in", {"object": "green bowl"}))
    assert made.operations == (Replace(THIS, "place_in", {"object": "green bowl"}),)


def test_a_rule_is_everybodys_and_knows_its_things(tidy):
    rule = AddRule("G(!near(robot, vase))", "keep away from the vase")
    made = lesson("always keep away from the vase", tidy("red mug"), rule, scope=Scope.ALWAYS, about="vase")
    assert (made.slots, made.things) == (Slots(), {"vase": Slots(kind="vase")})


@pytest.mark.parametrize(
    "operation",
    [
        Hold(),
        Undo(),
        LiftRule("G(!near(robot, vase))"),
        Insert("place_at", {"place": (0.4, 0.1, 0.0)}, "s1"),
        Rebind("s2", "place", (0.4, 0.1, 0.0)),
    ],
)
def test_what_means_nothing_in_another_plan_teaches_nothing(operation, tidy):
    assert lessons("…", tidy("red mug"), operation) == ()


def test_a_way_that_carries_nothing_and_leads_to_no_thing_is_not_left_out_for_ever(in_rooms):
    assert lessons("not there", in_rooms("go", ("go_to", "lab"), running=1), Remove("s1"), scope=Scope.ALWAYS) == ()


def test_several_things_said_in_one_breath_are_several_lessons(tidy):
    made = lessons("slower and higher", tidy("red mug"), SLOWER, Adjust("height", Change.SHIFT, 0.05))
    assert [item.operations[0].quantity for item in made] == ["speed", "height"]

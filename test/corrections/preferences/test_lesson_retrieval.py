"""What lessons are for a new plan."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from llm_planner.corrections.edits import AddRule, Adjust, Change, Insert, Move, Rebind, Remove, Replace, Shift
from llm_planner.corrections.preferences.learning import Changes
from llm_planner.corrections.preferences.preference import THIS, Occasion, Preference, Slots, State
from llm_planner.corrections.preferences.retrieval import recall as recalled
from llm_planner.corrections.situation import Situation
from llm_planner.language.correction_requests import Frame, Lifetime, Scope
from llm_planner.ltl.formula import Constraint
from llm_planner.ltl.parser import parse
from llm_planner.plans.plan import Plan, PlanStep
from llm_planner.scene.scene import IDENTITY, Scene, SceneObject

TABLE = Scene(
    0.0,
    tuple(
        SceneObject(
            name, name.rpartition(" ")[2], name.rpartition(" ")[0], (0.4, 0.0, 0.05), IDENTITY, (0.08, 0.08, 0.1)
        )
        for name in ("red mug", "blue mug", "vase", "white plate")
    ),
)
SLOWER, FASTER = Adjust("speed", Change.SCALE, 0.5), Adjust("speed", Change.SCALE, 2.0)
MUGS = Slots(kind="mug")
NOW = Occasion(1_793_701_800.0, "", "today", "c9")


@pytest.fixture
def knows(store):
    """A function that keeps a lesson and gives its id."""

    def keep(operation, slots, scope=Scope.ALWAYS, told=NOW, case=None, things=None, state=State.LEARNED, words="…"):
        lesson = Preference(words, (operation,), slots, case or slots, scope, told, things or {}, state)
        (kept,) = store.change(lambda lessons: Changes((lesson,))).keep
        return kept.id

    return keep


@pytest.fixture
def recall(person):
    return lambda situation, occasion=NOW: person.memory.recall(situation, occasion)


def during(recollection, situation):
    """The operations by the step during which they are in force."""
    found = {step.id: tuple(in_motion(recollection, step.id)) for step in situation.ahead}
    return {step: operations for step, operations in found.items() if operations}


def in_motion(recollection, step):
    return [one for use in recollection.uses if use.in_motion and use.step == step for one in use.operations]


def put(planned, name, target="white plate", command="tidy up", **others):
    return planned(command, ("pick", name), ("place_on", target), **others)


def of(*steps):
    """Slower in these steps."""
    return {step: (replace(SLOWER, step=step),) for step in steps}


def test_a_change_of_motion_holds_during_the_steps_that_it_fits(knows, recall, planned):
    number = knows(SLOWER, MUGS)
    calls = [("pick", "red block"), ("place_on", "white plate"), ("pick", "blue mug"), ("place_on", "white plate")]
    situation = planned("tidy up", *calls)
    found = recall(situation)
    assert during(found, situation) == of("s3", "s4")
    assert found.edit().operations == ()
    assert [found.used(f"s{n}") for n in (1, 2, 3, 4)] == [(), (), (number,), (number,)]


@pytest.mark.parametrize("name", ["red block", "green bowl", "vase"])
def test_a_lesson_never_reaches_another_kind(name, knows, recall, tidy):
    knows(SLOWER, MUGS, words=f"slower with the {name}")
    assert recall(tidy(name)).uses == ()


def test_a_colour_that_was_said_decides(knows, recall, tidy):
    knows(SLOWER, replace(MUGS, color="red"))
    assert recall(tidy("red mug")).uses
    assert not recall(tidy("blue mug")).uses


def test_a_persons_preferences_are_that_persons(knows, recall, tidy):
    knows(SLOWER, replace(MUGS, user="Anna"))
    assert recall(tidy("red mug"), replace(NOW, user="Anna")).uses
    assert not recall(tidy("red mug"), replace(NOW, user="Ben")).uses


@pytest.mark.parametrize(
    ("scope", "told", "holds"),
    [
        (Scope.ALWAYS, replace(NOW, session="before", command="c1"), True),
        (Scope.SESSION, replace(NOW, command="c1"), True),
        (Scope.SESSION, replace(NOW, session="before"), False),
        (Scope.TASK, NOW, True),
        (Scope.TASK, replace(NOW, command="c1"), False),
        (Scope.ONCE, NOW, False),
    ],
)
def test_a_lesson_holds_as_long_as_was_said(scope, told, holds, knows, recall, tidy):
    knows(SLOWER, MUGS, scope, told)
    assert bool(recall(tidy("red mug")).uses) is holds


@pytest.mark.parametrize("state", [State.PROPOSED, State.RETIRED])
def test_only_what_is_learned_is_used(state, knows, recall, tidy):
    knows(SLOWER, MUGS, state=state)
    assert recall(tidy("red mug")).uses == ()


def test_what_was_told_of_nothing_in_particular_holds_for_the_plan(knows, recall, tidy):
    knows(SLOWER, Slots())
    assert recall(tidy("red mug")).edit(3).operations == (SLOWER,)
    assert recall(tidy("red mug")).edit(3).version == 3


def test_what_is_told_more_closely_wins_though_it_is_older(knows, recall, planned):
    knows(FASTER, replace(MUGS, color="red"), told=replace(NOW, time=1.0))
    knows(SLOWER, MUGS)
    knows(Adjust("speed", Change.SCALE, 0.75), Slots())
    calls = [("pick", "red mug"), ("place_on", "white plate"), ("pick", "blue mug"), ("place_on", "white plate")]
    situation = planned("tidy up", *calls, ("push", "red block", "left", 0.1))
    found = during(recall(situation), situation)
    assert [found[f"s{n}"][0].value for n in (1, 3, 5)] == [2.0, 0.5, 0.75]


def test_of_two_that_agree_in_sense_the_newest_is_used(knows, recall, tidy):
    knows(SLOWER, MUGS, told=replace(NOW, time=2.0))
    knows(Adjust("speed", Change.SCALE, 0.75), Slots(skill="pick"), told=replace(NOW, time=1.0))
    assert during(recall(tidy("red mug")), tidy("red mug"))["s1"] == (replace(SLOWER, step="s1"),)


def test_contraries_of_which_none_is_told_more_closely_are_asked_about_once(knows, recall, planned, person):
    slow, fast = knows(SLOWER, MUGS), knows(FASTER, Slots(color="red"), case=Slots(kind="block", color="red"))
    situation = put(planned, "red mug")
    found = recall(situation)
    (doubt,) = found.doubts
    assert found.uses == ()
    assert doubt.question.options == ("faster with red things", "slower with mugs")
    assert doubt.lessons == (fast, slow)
    person.memory.prefer(doubt, slow)
    assert during(recall(situation), situation) == of("s1", "s2")
    assert [lesson.slots for lesson in person.learned] == [MUGS, Slots(kind="block", color="red")]


def test_a_shift_comes_back_in_the_robots_frame_as_the_thing_lies_now(knows, recall, planned, turned):
    knows(Shift((0.02, 0.0, 0.0), Frame.OBJECT, Lifetime.STEP), Slots(skill="pick", kind="box"))
    situation = planned("tidy up", ("pick", "long box"), ("place_on", "white plate"), scene=turned(1))
    assert during(recall(situation), situation) == {"s1": (Shift((0.0, 0.02, 0.0), Frame.ROBOT),)}


def test_a_parameter_of_a_step_is_set_before_the_plan_starts_unless_the_command_says_how_much(knows, recall, planned):
    knows(Adjust("distance", Change.SCALE, 1.5, THIS), Slots("place_beside", "block"))
    calls = [("pick", "red block"), ("place_beside", "red mug", "left", 0.04)]
    assert recall(planned("tidy up", *calls)).edit().operations == (Adjust("distance", Change.SCALE, 1.5, "s2"),)
    assert recall(planned("put it 4 cm left of the mug", *calls)).edit().operations == ()


BOWL = {"things": {"blue bowl": Slots(kind="bowl", color="blue")}}


def test_another_target_is_bound_to_what_fits_its_words(knows, recall, planned):
    knows(Rebind(THIS, "object", "blue bowl"), Slots("place_on", "mug"), **BOWL)
    situation = put(planned, "red mug")
    assert recall(situation).edit().operations == (Rebind("s2", "object", "blue bowl"),)
    renamed = [replace(item, name=item.name.replace("blue bowl", "blue bowl 2")) for item in situation.scene.objects]
    elsewhere = replace(situation, scene=replace(situation.scene, objects=tuple(renamed)))
    assert recall(elsewhere).edit().operations == (Rebind("s2", "object", "blue bowl 2"),)


def test_a_target_that_is_not_here_or_could_be_several_is_not_used(knows, recall, planned):
    knows(Rebind(THIS, "object", "big bowl"), Slots("place_on", "mug"), things={"big bowl": Slots(kind="bowl")})
    knows(Rebind(THIS, "object", "tray"), Slots("place_on", "block"), things={"tray": Slots(kind="tray")})
    assert recall(put(planned, "red mug")).uses == ()
    assert recall(put(planned, "red block")).uses == ()


def test_what_the_command_names_is_never_overruled(knows, recall, planned):
    knows(Rebind(THIS, "object", "blue bowl"), Slots("place_on", "mug"), **BOWL)
    knows(Remove(THIS), Slots(kind="block"))
    knows(Replace(THIS, "place_in", {"object": "blue bowl"}), Slots("place_on", "vase"), **BOWL)
    for name in ("red mug", "red block", "vase"):
        assert recall(put(planned, name, command="clear the table")).edit().operations
        command = f"Put the {name} on the white plate!"
        assert not recall(put(planned, name, command=command)).edit().operations


def test_another_thing_is_followed_through_the_plan(knows, recall, planned):
    knows(Rebind(THIS, "object", "green block"), Slots("pick", "block"))
    calls = [("pick", "red block"), ("place_on", "white plate"), ("push", "red block", "left", 0.1)]
    rebound = tuple(Rebind(step, "object", "green block") for step in ("s1", "s3"))
    assert recall(planned("tidy up", *calls)).edit().operations == rebound


def test_an_errand_is_left_out_as_a_whole_and_nothing_else_is_done_to_it(knows, recall, planned):
    knows(Remove(THIS), MUGS)
    knows(SLOWER, MUGS)
    calls = [("pick", "red mug"), ("place_on", "white plate"), ("pick", "red block"), ("place_on", "white plate")]
    situation = planned("tidy up", *calls)
    assert recall(situation).edit().operations == (Remove("s1"), Remove("s2"))
    assert during(recall(situation), situation) == {}


def test_an_errand_comes_first_unless_it_does_or_the_command_says_the_order(knows, recall, planned):
    knows(Move((THIS,), "first"), MUGS)
    calls = [("pick", "red block"), ("place_on", "white plate"), ("pick", "red mug"), ("place_on", "white plate")]
    assert recall(planned("tidy up", *calls)).edit().operations == (Move(("s3", "s4"), "s1"),)
    assert recall(planned("tidy up", *calls[2:], *calls[:2])).edit().operations == ()
    assert recall(planned("first the block, then the mug", *calls)).edit().operations == ()


def test_new_steps_come_with_their_step_once_and_only_if_they_are_not_there(knows, recall, planned):
    knows(Insert("reach", {"object": "vase"}, THIS), Slots("pick", "mug"))
    reach = Insert("reach", {"object": "vase"}, "s1")
    assert recall(put(planned, "red mug")).edit().operations == (reach,)
    assert recall(planned("tidy up", ("reach", "vase"), ("pick", "red mug"))).edit().operations == ()


def test_a_skill_that_is_not_here_is_not_called(knows, recall, planned):
    knows(Insert("juggle", {}, THIS), Slots("pick", "mug"))
    assert recall(put(planned, "red mug")).uses == ()


def test_a_rule_holds_for_everything_here_that_fits_its_words_and_for_everybody(knows, recall, tidy):
    rule = AddRule("G(!near(robot, mug))", "keep away from mugs")
    knows(rule, Slots(), things={"mug": Slots(kind="mug")})
    found = recall(tidy("red block"), replace(NOW, user="Ben")).edit().operations
    assert [item.formula for item in found] == ["G !near(robot, red mug)", "G !near(robot, blue mug)"]


def test_a_rule_about_what_is_not_here_or_that_the_plan_keeps_already_is_not_added(knows, recall, tidy):
    knows(AddRule("G(!near(robot, lamp))", "keep away from the lamp"), Slots(), things={"lamp": Slots(kind="lamp")})
    knows(AddRule("G(!in(robot, kitchen))", "stay out of the kitchen"), Slots())
    knows(AddRule("G(!near(robot, vase))", "keep away from the vase"), Slots(), things={"vase": Slots(kind="vase")})
    situation = tidy("red block")
    plan = replace(situation.plan, constraints=(Constraint(parse("G(!near(robot, vase))"), "…"),))
    assert recall(replace(situation, plan=plan)).uses == ()


def test_a_room_that_was_said_decides(knows, recall, in_rooms):
    knows(SLOWER, Slots(place="kitchen"))
    situation = in_rooms("go", ("go_to", "lab"), ("go_to", "kitchen"), ("wait", 2.0), ("go_to", "red parcel"))
    assert during(recall(situation), situation) == of("s2", "s3")


def test_what_is_used_is_announced_with_its_day(knows, recall, tidy):
    knows(SLOWER, MUGS, told=replace(NOW, time=NOW.time))
    knows(Adjust("height", Change.SHIFT, 0.05), MUGS, told=replace(NOW, time=NOW.time - 5 * 86400))
    later = replace(NOW, time=NOW.time + 19 * 86400)
    assert recall(tidy("red mug"), later).announcement == (
        "using what you told me on 3 November: slower with mugs; on 29 October: higher with mugs"
    )
    assert recall(tidy("red block"), later).announcement == ""


slots = st.builds(
    Slots,
    skill=st.sampled_from(["", "pick", "push"]),
    kind=st.sampled_from(["mug", "block", "vase"]),
    color=st.sampled_from(["", "red", "blue"]),
    user=st.sampled_from(["", "Anna", "Ben"]),
)


@given(st.lists(st.tuples(slots, st.sampled_from([SLOWER, FASTER]))), st.sampled_from(["red mug", "blue mug", "vase"]))
def test_whatever_is_known_only_what_fits_is_used_and_never_two_that_decide_the_same(library, known, name):
    steps = (PlanStep("s1", "pick", {"object": name}, 1), PlanStep("s2", "place_on", {"object": "white plate"}, 2))
    situation = Situation(Plan("tidy", "", steps), TABLE, {skill.name: skill for skill in library.signatures})
    lessons = [
        Preference("…", (operation,), of, of, Scope.ALWAYS, NOW, {}, State.LEARNED, id=number)
        for number, (of, operation) in enumerate(known, 1)
    ]
    uses = recalled(lessons, situation, replace(NOW, user="Anna")).uses
    assert all(use.lesson.slots.kind == situation.scene.find(name).kind for use in uses)
    assert all(use.lesson.slots.user in ("", "Anna") for use in uses)
    assert all(use.lesson.slots.color in ("", situation.scene.find(name).color) for use in uses)
    assert len({use.step for use in uses}) == len(uses)


def test_among_very_many_lessons_those_that_fit_are_found(store, recall, tidy):
    others = [
        Preference("slower", (SLOWER,), Slots(kind=f"thing{n}"), Slots(), Scope.ALWAYS, NOW, {}, State.LEARNED)
        for n in range(500)
    ]
    fitting = Preference("slower", (SLOWER,), MUGS, MUGS, Scope.ALWAYS, NOW, {}, State.LEARNED)
    store.change(lambda lessons: Changes((*others, fitting)))
    assert [use.lesson.slots for use in recall(tidy("red mug")).uses] == [MUGS, MUGS]

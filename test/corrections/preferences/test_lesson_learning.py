"""From what was told once to what is remembered, and back."""

from dataclasses import replace

import pytest

from llm_planner.corrections.edits import AddRule, Adjust, Change, Insert, LiftRule, Rebind, Remove, Shift
from llm_planner.corrections.preferences.preference import Slots, State
from llm_planner.language.correction_requests import Frame, Scope

SLOWER, FASTER = Adjust("speed", Change.SCALE, 0.5), Adjust("speed", Change.SCALE, 2.0)
LEFT = Shift((0.0, 0.04, 0.0))
RULE = AddRule("G(!near(robot, vase))", "keep away from the vase")


def teach(person, situation, *operations, words="always slower with mugs", about="mug", scope=Scope.ALWAYS):
    """Something is told of the first step of a plan, which then ends well."""
    person.commands(situation)
    person.says(words, situation, *operations, scope=scope, about=about)
    person.sees("s1")
    person.sees_the_end()


def test_a_lesson_is_learned_once_its_step_has_ended_well(person, tidy):
    person.says("always slower with mugs", tidy("red mug"), SLOWER, scope=Scope.ALWAYS, about="mug")
    assert person.learned == []
    person.sees("s2")
    assert person.learned == []
    person.sees("s1")
    assert [lesson.slots for lesson in person.learned] == [Slots(kind="mug")]


def test_a_lesson_from_a_failed_step_is_not_kept(person, tidy, store):
    person.says("always slower with mugs", tidy("red mug"), SLOWER, scope=Scope.ALWAYS, about="mug")
    person.sees("s1", succeeded=False)
    assert store.lessons() == ()


def test_what_the_person_confirms_is_kept_though_its_step_fails(person, tidy):
    person.says("slower", tidy("red mug"), SLOWER)
    assert person.memory.remember(Scope.ALWAYS, person.now).told == ("I will remember: slower with mugs during “pick”",)
    person.sees("s1", succeeded=False)
    assert [lesson.scope for lesson in person.learned] == [Scope.ALWAYS]


def test_what_was_said_once_is_no_lesson(person, tidy):
    person.says("slower", tidy("red mug"), SLOWER)
    person.sees("s1")
    person.sees_the_end()
    assert person.learned == []


def test_the_same_said_of_another_step_is_asked_about(person, tidy):
    person.says("slower", tidy("red mug"), SLOWER)
    person.sees("s1")
    person.commands(tidy("blue mug"))
    changes = person.says("not so fast", tidy("blue mug"), Adjust("speed", Change.SCALE, 0.6))
    assert changes.question.question == (
        "You told me the same before. Shall I always do so: slower with mugs during “pick”?"
    )
    assert person.memory.answer(changes.keep[-1].id, True).told[0].startswith("I will always do so: slower with mugs")
    assert [lesson.slots for lesson in person.learned] == [Slots("pick", "mug")]


@pytest.mark.parametrize(
    ("name", "operation"),
    [("red block", SLOWER), ("blue mug", FASTER), ("blue mug", Adjust("speed", Change.SCALE, 0.75))],
)
def test_another_kind_of_thing_or_another_amount_is_not_the_same(name, operation, person, tidy):
    person.says("slower", tidy("red mug"), SLOWER)
    person.sees("s1")
    person.commands(tidy(name))
    assert person.says("like that", tidy(name), operation).question is None


def test_a_no_is_remembered_so_that_it_is_not_asked_again(person, tidy):
    for name in ("red mug", "blue mug"):
        person.commands(tidy(name))
        changes = person.says("slower", tidy(name), SLOWER)
    assert person.memory.answer(changes.keep[-1].id, False).told == ("all right, only when you say so",)
    person.commands(tidy("red mug"))
    assert person.says("slower", tidy("red mug"), SLOWER).question is None
    assert person.learned == []


def test_an_answer_about_a_lesson_that_is_gone_is_told_so(person):
    assert person.memory.answer(7, True).told == ("I have forgotten what the question was about",)


def test_of_several_corrections_of_one_step_the_sum_is_kept(person, tidy, store):
    person.says("left", tidy("red mug"), LEFT, scope=Scope.ALWAYS)
    person.says("too far, back a bit", tidy("red mug"), Shift((0.0, -0.02, 0.0)))
    person.sees("s1")
    (lesson,) = store.lessons()
    assert lesson.operations == (Shift((0.0, 0.02, 0.0), Frame.OBJECT),)
    assert (lesson.scope, lesson.state) == (Scope.ALWAYS, State.LEARNED)


def test_saying_it_again_of_the_same_step_is_no_second_time(person, tidy):
    person.says("slower", tidy("red mug"), SLOWER)
    changes = person.says("still a bit slower", tidy("red mug"), Adjust("speed", Change.SCALE, 0.75))
    assert changes.question is None
    assert [lesson.operations for lesson in changes.keep] == [(Adjust("speed", Change.SCALE, 0.375),)]


def test_corrections_that_cancel_out_teach_nothing(person, tidy, store):
    person.says("slower", tidy("red mug"), SLOWER)
    person.says("as before", tidy("red mug"), FASTER)
    assert store.lessons() == ()


def test_what_is_undone_is_not_learned(person, tidy, store):
    person.says("always slower", tidy("red mug"), SLOWER, scope=Scope.ALWAYS)
    person.says("left", tidy("red mug"), LEFT)
    person.memory.undone("left", person.now.command)
    assert [lesson.operations for lesson in store.lessons()] == [(SLOWER,)]
    person.says("keep away from the vase", tidy("red mug"), RULE, scope=Scope.ALWAYS)
    person.memory.undone("keep away from the vase", person.now.command)
    assert [lesson.operations for lesson in store.lessons()] == [(SLOWER,)]


def test_a_rule_is_learned_at_once(person, tidy):
    person.says("always keep away from the vase", tidy("red mug"), RULE, scope=Scope.ALWAYS, about="vase")
    assert [lesson.operations for lesson in person.learned] == [(RULE,)]


def test_a_rule_that_is_lifted_is_no_longer_learned(person, tidy, store):
    person.says("always keep away from the vase", tidy("red mug"), RULE, scope=Scope.ALWAYS, about="vase")
    (rule,) = person.commands(tidy("red mug")).edit().operations
    changes = person.says("you may go near it again", tidy("red mug"), LiftRule(rule.formula))
    assert changes.told == ("I will no longer do so: keep away from the vase",)
    assert [lesson.state for lesson in store.lessons()] == [State.RETIRED]


def test_a_lesson_for_one_command_ends_with_it(person, tidy, store):
    teach(person, tidy("red mug"), SLOWER, words="slower for now", scope=Scope.TASK)
    assert store.lessons() == ()


def test_what_no_step_bears_out_is_learned_when_the_command_succeeds(person, tidy, store):
    for succeeded in (False, True):
        person.commands(tidy("red mug"))
        person.says("never move the mug", tidy("red mug"), Remove("s1"), Remove("s2"), scope=Scope.ALWAYS, about="mug")
        person.sees_the_end(succeeded)
        assert len(store.lessons()) == len(person.learned) == succeeded


def test_the_newest_for_the_same_slots_takes_the_place_of_the_old(person, tidy):
    teach(person, tidy("red mug"), SLOWER)
    teach(person, tidy("red mug"), FASTER, words="always faster with mugs")
    (lesson,) = person.learned
    assert (lesson.operations, lesson.supersedes) == ((FASTER,), 1)


def test_what_is_told_for_a_session_leaves_what_always_holds(person, tidy):
    teach(person, tidy("red mug"), SLOWER)
    teach(person, tidy("red mug"), FASTER, words="today faster with mugs", scope=Scope.SESSION)
    assert [lesson.operations for lesson in person.learned] == [(SLOWER,), (FASTER,)]


def test_more_on_top_of_a_lesson_that_was_used_is_learned_as_the_sum(person, tidy):
    teach(person, tidy("red mug"), SLOWER)
    used = person.commands(tidy("blue mug")).used("s1")
    person.says("always even slower with mugs", tidy("blue mug"), SLOWER, scope=Scope.ALWAYS, about="mug", used=used)
    person.sees("s1", used=used)
    assert [lesson.operations for lesson in person.learned] == [(Adjust("speed", Change.SCALE, 0.25),)]


def test_a_correction_against_a_lesson_that_was_used_narrows_it_to_what_tells_the_cases_apart(person, tidy):
    teach(person, tidy("red mug"), SLOWER)
    used = person.commands(tidy("blue mug")).used("s1")
    changes = person.says("faster", tidy("blue mug"), FASTER, used=used)
    assert changes.told == ("from now on only with red mugs: slower with mugs",)
    assert [lesson.slots for lesson in person.learned] == [Slots(kind="mug", color="red")]


def test_a_lesson_is_narrowed_to_the_place_where_the_colour_does_not_tell(person, in_rooms):
    to_kitchen = in_rooms("bring it", ("pick_up", "red parcel"), ("go_to", "kitchen"), running=2)
    teach(person, to_kitchen, SLOWER, words="always slower with parcels", about="parcel")
    person.sees("s2")
    person.sees_the_end()
    to_lab = in_rooms("bring it", ("pick_up", "red parcel"), ("go_to", "lab"), running=2)
    used = person.commands(to_lab).used("s2")
    person.says("faster", to_lab, FASTER, used=used)
    assert [lesson.slots for lesson in person.learned] == [Slots(kind="parcel", place="kitchen")]


def test_a_correction_against_a_lesson_in_its_own_case_retires_it(person, tidy, store):
    teach(person, tidy("red mug"), SLOWER)
    used = person.commands(tidy("red mug")).used("s1")
    changes = person.says("full speed", tidy("red mug"), Adjust("speed", Change.SET, 1.0), used=used)
    assert changes.told == ("I will no longer do so: slower with mugs",)
    assert [lesson.state for lesson in store.lessons()] == [State.RETIRED]


def test_a_little_back_from_a_lesson_is_not_against_it(person, tidy):
    teach(person, tidy("red mug"), LEFT, words="always more to the left with mugs")
    used = person.commands(tidy("red mug")).used("s1")
    changes = person.says("a bit back", tidy("red mug"), Shift((0.0, -0.02, 0.0)), used=used)
    assert changes.told == ()
    assert len(person.learned) == 1


def test_another_target_is_against_the_one_that_was_learned(person, tidy):
    person.commands(tidy("red mug"))
    person.says("always in the bowl", tidy("red mug"), Rebind("s2", "object", "blue bowl"), scope=Scope.ALWAYS)
    person.sees("s2")
    used = person.commands(tidy("blue mug")).used("s2")
    person.says("no, on the plate", tidy("blue mug"), Rebind("s2", "object", "white plate"), used=used)
    assert [lesson.slots.color for lesson in person.learned] == ["red"]


def test_uses_and_failures_are_counted(person, tidy):
    teach(person, tidy("red mug"), SLOWER)
    for succeeded in (True, False):
        used = person.commands(tidy("red mug")).used("s1")
        person.sees("s1", succeeded, used)
    (lesson,) = person.learned
    assert (lesson.uses, lesson.failures, lesson.used) == (2, 1, person.now.time)


def test_remember_that_is_about_what_the_same_person_said_last(anna_and_ben, tidy):
    anna, ben = anna_and_ben
    assert anna.memory.remember(Scope.ALWAYS, anna.now).told == ("you have told me nothing yet that I could remember",)
    anna.says("slower", tidy("red mug"), SLOWER)
    ben.says("left", tidy("red mug"), LEFT)
    anna.memory.remember(Scope.SESSION, anna.now)
    assert [(lesson.operations, lesson.scope) for lesson in anna.learned] == [((SLOWER,), Scope.SESSION)]


def test_remember_that_is_about_what_was_said_since_the_system_started(person, tidy):
    teach(person, tidy("red mug"), SLOWER)
    tomorrow = replace(person.now, session="tomorrow")
    assert person.memory.remember(Scope.TASK, tomorrow).told[0].startswith("you have told me nothing yet")


def test_just_this_once_drops_what_was_to_be_kept(person, tidy, store):
    person.says("always slower", tidy("red mug"), SLOWER, scope=Scope.ALWAYS)
    assert person.memory.remember(Scope.ONCE, person.now).told == ("only this once: slower",)
    assert store.lessons() == ()


@pytest.fixture
def three(person, tidy):
    teach(person, tidy("red mug"), SLOWER)
    teach(person, tidy("red block"), FASTER, words="always faster with red blocks", about="red block")
    teach(person, tidy("red mug"), RULE, words="always keep away from the vase", about="vase")
    return person


@pytest.mark.parametrize(
    ("about", "left"),
    [
        ("mug", [2, 3]),
        ("the mugs", [2, 3]),
        ("slower", [2, 3]),
        ("the red blocks", [1, 3]),
        ("the rule about the vase", [1, 2]),
        ("", [1, 2]),
        ("everything", []),
        ("bowls", [1, 2, 3]),
        ("the", [1, 2, 3]),
    ],
)
def test_what_is_named_is_forgotten(about, left, three):
    told = three.memory.forget(about).told
    assert [lesson.id for lesson in three.learned] == left
    assert (told == ("I remember nothing of that",)) is (left == [1, 2, 3])


def test_forget_that_is_about_what_was_used_last(three, tidy):
    used = three.commands(tidy("red mug")).used("s1")
    assert used == (3, 1)  # the vase is here
    three.sees("s1", used=(1,))
    three.memory.forget("")
    assert [lesson.id for lesson in three.learned] == [2, 3]


def test_forget_that_drops_no_older_lesson_where_the_last_is_gone_already(three, tidy):
    three.says("always half speed", tidy("red mug"), Adjust("speed", Change.SET, 0.5), scope=Scope.ALWAYS)
    ended = three.memory.command_ended(three.now.command, False)
    assert ended.told[0].startswith("not remembered, because it did not end well: speed 0.5")
    assert three.memory.forget("").told[0].startswith("that is gone already: speed 0.5")
    assert [lesson.id for lesson in three.learned] == [1, 2, 3]


def test_forget_that_is_not_about_what_was_said_for_once(person, tidy):
    person.says("slower", tidy("red mug"), SLOWER)
    person.sees("s1")
    assert person.memory.forget("").told == ("I remember nothing of that",)


def test_inserted_steps_are_learned_with_the_step_before_which_they_came(person, planned):
    situation = planned("tidy", ("push", "red block", "left", 0.1), running=1)
    person.says("always tip it first", situation, Insert("tip", {"object": "red block"}, "s1"), scope=Scope.ALWAYS)
    person.sees("s1")
    assert [lesson.slots for lesson in person.learned] == [Slots("push", "block")]

"""What memory makes of plans that somebody else carries out, and of what is said meanwhile."""

from dataclasses import replace

import pytest

from llm_planner.corrections.edits import AddRule, Adjust, Change, Clarify, Confirm, Edit, Forget, Remember, Shift
from llm_planner.corrections.learner import PlanFollower, Seen, of_memory
from llm_planner.corrections.preferences.memory import Memory, PreferenceStore
from llm_planner.corrections.preferences.preference import Occasion, State
from llm_planner.language.correction_requests import Scope
from llm_planner.plans.plan import StepStatus

SLOWER = Adjust("speed", Change.SCALE, 0.5)
LEFT = Shift((0.0, 0.02, 0.0))
RULE = AddRule("G !holding(vase)", "never touch the vase")
GENTLY = Edit((SLOWER,), "always slower with blocks", scope=Scope.ALWAYS, about="block")


@pytest.fixture
def store(tmp_path):
    store = PreferenceStore(tmp_path / "memory.sqlite")
    yield store
    store.close()


@pytest.fixture
def follower(store):
    clock = iter(range(1_793_700_000, 1_793_800_000))
    return PlanFollower(Memory(store), lambda command: Occasion(float(next(clock)), "Anna", "today", command))


@pytest.fixture
def learned(store):
    return lambda: [lesson.words for lesson in store.lessons() if lesson.state is State.LEARNED]


def teach(follower, at_table, edit, command="c1"):
    """It is said during the first step, which then ends well."""
    follower.looked(Seen(command, at_table(running=1), moving=True))
    follower.taught(edit, at_table(running=1))
    follower.looked(Seen(command, at_table(running=2), moving=True))
    return follower.looked(Seen(command, at_table(running=2), done=True))


def failed(situation, step):
    steps = [replace(one, status=StepStatus.FAILED) if one.id == step else one for one in situation.plan.steps]
    return replace(situation, plan=replace(situation.plan, steps=tuple(steps)))


def test_a_lesson_of_motion_is_wished_for_without_words_when_its_step_begins_and_for_no_other(follower, at_table):
    teach(follower, at_table, GENTLY)
    begun = follower.looked(Seen("c2", at_table(running=1), moving=True))
    assert begun.told == ("using what you told me today: slower with blocks",)
    assert (begun.wish.edit.operations, begun.wish.edit.words) == ((replace(SLOWER, step="1"),), "")
    follower.made(begun.wish)
    assert follower.looked(Seen("c2", at_table(running=1), moving=True)).wish is None
    assert follower.looked(Seen("c2", at_table(running=2), moving=True)).wish.edit.operations == (
        replace(SLOWER, step="2"),
    )
    assert follower.looked(Seen("c2", at_table(running=3), moving=True)).wish is None


def test_nothing_is_wished_for_while_the_plan_is_held(follower, at_table):
    teach(follower, at_table, GENTLY)
    assert follower.looked(Seen("c2", at_table(running=1))).wish is None
    assert follower.looked(Seen("c2", at_table(running=1), moving=True)).wish is not None


def test_what_holds_from_now_on_comes_first_and_in_words_that_can_be_undone(follower, at_table):
    teach(follower, at_table, Edit((RULE,), RULE.words, scope=Scope.ALWAYS))
    teach(follower, at_table, GENTLY, "c2")
    first = follower.looked(Seen("c3", at_table(running=1), moving=True))
    assert first.wish.edit.operations == (RULE,)
    assert first.wish.edit.words.startswith("using what you told me today")
    follower.made(first.wish)
    assert follower.looked(Seen("c3", at_table(running=1), moving=True)).wish.edit.operations == (
        replace(SLOWER, step="1"),
    )


def test_what_the_plan_was_edited_by_already_is_not_wished_for_again(follower, at_table):
    always = Edit((SLOWER,), "always slower", scope=Scope.ALWAYS)
    teach(follower, at_table, always)
    begun = follower.looked(Seen("c2", at_table(running=1, edits=(always,)), moving=True))
    assert (begun.wish, begun.told) == (None, ())
    assert follower.looked(Seen("c3", at_table(running=1), moving=True)).wish is not None


def test_of_several_lessons_that_are_refused_together_each_is_tried_and_the_one_at_fault_told_of(follower, at_table):
    other = AddRule("G !holding(plate)", "never touch the plate")
    teach(follower, at_table, Edit((RULE,), RULE.words, scope=Scope.ALWAYS))
    teach(follower, at_table, Edit((other,), other.words, scope=Scope.ALWAYS), "c2")
    seen = Seen("c3", at_table(running=1), moving=True)
    both = follower.looked(seen).wish
    assert both.edit.operations == (RULE, other)
    assert follower.refused(both, "no way").told == ()
    one = follower.looked(seen).wish
    assert one.edit.operations == (RULE,)
    assert follower.refused(one, "no way").told == ("I leave out what you told me, never touch the vase: no way",)
    assert follower.looked(seen).wish.edit.operations == (other,)


def test_a_quantity_that_is_at_its_limit_already_is_no_refusal(follower, at_table):
    teach(follower, at_table, GENTLY)
    wish = follower.looked(Seen("c2", at_table(running=1), moving=True)).wish
    assert follower.refused(wish, "it is so already").told == ()


def test_another_plan_for_the_same_command_has_its_steps_counted_anew(follower, at_table, learned):
    follower.looked(Seen("c1", failed(at_table(running=1), "1")))
    follower.looked(Seen("c1", at_table(running=1), moving=True))
    follower.taught(GENTLY, at_table(running=1))
    follower.looked(Seen("c1", at_table(running=2), moving=True))
    assert learned() == [GENTLY.words]


def test_what_holds_for_one_command_is_gone_when_another_begins(follower, at_table, store):
    follower.looked(Seen("c1", at_table(running=1), moving=True))
    follower.taught(replace(GENTLY, scope=Scope.TASK), at_table(running=1))
    assert store.lessons() != ()
    follower.looked(Seen("c2", at_table(running=1), moving=True))
    assert store.lessons() == ()


def test_words_are_no_answer_while_nothing_is_asked(follower, at_table):
    assert follower.chosen("the first").told == ()
    assert follower.answered(Edit((Confirm(True),), "yes")).told == ()


def test_everything_is_forgotten_only_once_it_is_confirmed(follower, at_table, learned):
    assert follower.asked_for((Forget("everything"),)).told == ("I remember nothing of that",)
    teach(follower, at_table, Edit((LEFT,), "to the left"))
    follower.asked_for((Remember(Scope.ALWAYS),))
    notes = follower.asked_for((Forget("everything"),))
    assert notes.told == ()
    assert notes.question == Clarify("Shall I forget the one thing that you taught me?", ("yes", "no"))
    assert follower.answered(Edit((Confirm(False),), "no")).told == ("all right, I keep it all",)
    assert learned() == ["to the left"]
    follower.asked_for((Forget("everything"),))
    assert follower.answered(Edit((Confirm(True),), "yes")).told[0].startswith("forgotten: 2 cm more left")
    assert learned() == []


def test_an_edit_is_parted_into_what_memory_and_what_the_plan_is_asked_for():
    asked, rest = of_memory(Edit((SLOWER, Remember()), "slower, and remember that", 3))
    assert asked == (Remember(),)
    assert rest == Edit((SLOWER,), "slower, and remember that", 3)

"""A plan that is edited while it runs: on a copy, checked, and only then in its place."""

from dataclasses import replace

import pytest

from llm_planner.corrections.draft import EditError, StaleEditError
from llm_planner.corrections.editing import edited
from llm_planner.corrections.edits import (
    AddRule,
    Adjust,
    Cancel,
    Change,
    Confirm,
    Edit,
    Hold,
    Insert,
    LiftRule,
    Move,
    Rebind,
    Remove,
    Replace,
    Resume,
    Shift,
    Undo,
)
from llm_planner.execution.execution_state import (
    CancelSkill,
    PauseRequested,
    Phase,
    ResumeRequested,
    SceneObserved,
    SkillFinished,
    StartSkill,
)
from llm_planner.language.correction_requests import Frame, Lifetime  # fmt: skip
from llm_planner.planning.planned import PlanningSettings
from llm_planner.plans.plan import Outcome
from llm_planner.scene.places import viewpoint
from llm_planner.scene.scene import Scene
from llm_planner.skills.library import load_skills

PLAN = 'pick("red block")\nplace_in("green bowl")\npick("blue block")\nplace_at("left side")\n'
HANDS_OFF = AddRule("G !holding(green block)", "do not touch the green block")


@pytest.fixture(scope="session")
def skills():
    """Those of an arm: where a rule asks for other ways, only they are options."""
    return {skill.name: skill for skill in load_skills().for_scene(Scene(0.0, ())).signatures}


@pytest.fixture
def started(play):
    """The plan with its first step under way."""

    def make(text=PLAN, **options):
        told = play(text, **options)
        told.observe()
        return told

    return make


def edit(told, *operations, version=None, confirmed=False):
    """Applies the edit to what runs; gives what it changed."""
    wanted = Edit(operations, version=told.state.version if version is None else version)
    result = edited(told.state, wanted, confirmed)
    told.state = result.state
    told.commands += result.commands
    return result


def steps(told):
    return [f"{step.id} {step}" for step in told.state.plan.steps]


def finished(told):
    """Goes on to the end, from wherever an edit has left it."""
    told.observe()
    while told.state.phase is not Phase.ENDED:
        told.step()
    return told.state.end


def test_another_thing_is_taken_when_it_was_not_taken_yet(started):
    told = started()
    result = edit(told, Rebind("1", "object", "green block"))
    assert result.difference == ('~ 1 pick("red block") -> pick("green block")',)
    assert isinstance(result.commands[0], CancelSkill)
    assert finished(told).reason.outcome is Outcome.DONE
    assert ("place_in", "green bowl") in told.robot.started
    assert ("pick", "red block") not in told.robot.started


def test_steps_that_are_over_cannot_change(started):
    told = started()
    told.step()
    with pytest.raises(EditError, match=r'step 1, pick\("red block"\), is over \(done\) and cannot be changed'):
        edit(told, Rebind("1", "object", "green block"))


def test_a_step_that_has_taken_its_thing_already_takes_no_other(started):
    told = started()
    told.robot.scene = replace(told.robot.scene, held="red block")
    told.observe()
    with pytest.raises(StaleEditError, match="cannot be changed any more: the robot holds the red block"):
        edit(told, Rebind("1", "object", "green block"))


def test_what_was_let_go_already_goes_nowhere_else(started):
    told = started()
    told.step()
    told.robot.scene = replace(told.robot.scene, held="")
    told.observe()
    with pytest.raises(StaleEditError, match="cannot be changed any more: the robot has let it go"):
        edit(told, Rebind("2", "object", "blue bowl"))


def test_the_wrong_thing_is_put_back_and_the_right_one_taken(started):
    told = started()
    told.step()
    back, other = Insert("place_at", {"place": (0.55, 0.25, 0.0)}, "2"), Insert("pick", {"object": "green block"}, "2")
    edit(told, back, other)
    assert steps(told)[1:4] == ["5 place_at(point(0.55, 0.25))", '6 pick("green block")', '2 place_in("green bowl")']
    assert finished(told).reason.outcome is Outcome.DONE
    assert told.robot.started[1:4] == [
        ("place_at", (0.55, 0.25, 0.0)), ("pick", "green block"), ("place_in", "green bowl"),
    ]  # fmt: skip


def test_steps_are_done_in_another_order_and_keep_their_ids(started):
    told = started()
    result = edit(told, Move(("3", "4"), "1"))
    assert result.difference == ("~ order: 3, 4, 1, 2",)
    assert finished(told).reason.outcome is Outcome.DONE
    assert [skill for skill, *_ in told.robot.started] == ["pick", "place_at", "pick", "place_in"]


def test_an_order_that_cannot_be_done_is_refused_and_the_plan_goes_on_as_it_was(started):
    told = started()
    told.step()
    before = told.state
    with pytest.raises(
        EditError, match=r"could not be done then: pick\(.blue block.\): something is in the grip.*put it down"
    ):
        edit(told, Move(("3", "4"), "2"))
    assert told.state is before
    assert finished(told).reason.outcome is Outcome.DONE


def test_a_step_cannot_be_moved_before_itself(started):
    with pytest.raises(EditError, match="step 2 cannot be done before itself"):
        edit(started(), Move(("1", "2"), "2"))


def test_steps_are_left_out(started):
    told = started()
    assert edit(told, Remove("3"), Remove("4")).difference == ('- 3 pick("blue block")', '- 4 place_at("left side")')
    assert finished(told).message == "The red block is in the green bowl."


def test_nothing_may_be_left_to_do(started):
    told = started()
    told.step()
    told.step()
    edit(told, Remove("3"), Remove("4"))
    assert finished(told).message == "The red block is in the green bowl."


def test_a_step_is_replaced_by_one_with_an_id_of_its_own(started):
    told = started()
    edit(told, Replace("4", "place_in", {"object": "blue bowl"}))
    assert steps(told)[-1] == '5 place_in("blue bowl")'
    assert "the blue block is in the blue bowl" in finished(told).message


def test_a_number_of_a_step_is_changed_within_its_bounds(started):
    told = started('push("red block", "left", 0.1)')
    edit(told, Adjust("distance", Change.SCALE, 9.0, "1"))
    assert told.state.plan.steps[0].arguments["distance"] == 0.3


@pytest.mark.parametrize(
    ("operation", "message"),
    [
        (Remove("9"), r"there is no step '9'; those still to come: 1 pick"),
        (Rebind("1", "colour", "red"), r'step 1, pick\("red block"\), has no parameter \'colour\'; it has: object'),
        (Insert("pik", {"object": "red block"}), r"there is no skill 'pik' \(did you mean \"pick\"\?\); there are: "),
        (Insert("pick", {"thing": "red block"}), r"step 5, .*, is not told 'object'; write pick\(object\)"),
        (
            Insert("pick", {"object": "mug"}, "1"),
            'the rest of the plan could not be done then: .*there is no "mug" here',
        ),
        (
            Adjust("object", Change.SCALE, 2.0, "1"),
            "object of step 1, .*, is 'red block', which is not a number",
        ),
        (Adjust("volume", Change.SET, 2.0), "there is no 'volume' to change; there are: speed, clearance, height"),
        (AddRule("G !!near(", "nonsense"), "the rule 'G !!near\\(' cannot be read: "),
        (AddRule("G !near(robot, mug)", "keep away from the mug"), "mug"),
        (LiftRule("G !near(robot, red block)"), "no rule of this plan says: .*; its rules: none"),
        (Confirm(True), "Confirm does not change a plan"),
        (Undo(), "there is nothing to take back: this plan has not been edited"),
        (Shift((0.0, 0.4, 0.0)), "that would be 40 cm beside where step 1, .*, is to be done; at most 15 cm"),
        (Adjust("speed", Change.SCALE, 2.0), "that changes nothing: it is so already, or at its limit"),
    ],
)
def test_what_cannot_be_done_is_refused_with_what_could(started, operation, message):
    told = started()
    before = told.state
    with pytest.raises(EditError, match=message):
        edit(told, operation)
    assert told.state is before


def test_an_edit_for_another_version_of_the_plan_is_stale(started):
    told = started()
    edit(told, Adjust("speed", Change.SCALE, 0.5))
    with pytest.raises(StaleEditError, match="the plan is at version 1 now; the edit was made for 0"):
        edit(told, Remove("4"), version=0)


def test_nothing_is_edited_once_the_plan_has_ended(started):
    told = started()
    finished(told)
    with pytest.raises(EditError, match="no plan is running that could be changed; say it as a command"):
        edit(told, Remove("4"))


def test_a_plan_that_only_its_program_knows_is_edited_in_motion_but_not_step_by_step(started):
    told = started()
    told.state = replace(told.state, plan=replace(told.state.plan, complete=False))
    edit(told, Adjust("speed", Change.SCALE, 0.5))
    with pytest.raises(EditError, match="decides its next steps by what it sees then"):
        edit(told, Remove("4"))


def test_slower_acts_in_motion_and_faster_is_clamped(started):
    told = started()
    result = edit(told, Adjust("speed", Change.SCALE, 0.5))
    assert (result.commands, result.difference) == ((), ("~ speed 1 -> 0.5 of the full speed",))
    assert told.state.phase is Phase.RUNNING
    edit(told, Adjust("speed", Change.SCALE, 8.0))
    assert told.state.manner.speed == 1.0


def test_a_step_may_be_slower_than_the_rest_and_what_is_said_of_all_is_said_of_it_too(started):
    told = started()
    result = edit(told, Adjust("speed", Change.SCALE, 0.5, "1"), Adjust("height", Change.SHIFT, 0.05, "3"))
    assert (result.commands, told.state.phase) == ((), Phase.RUNNING)
    assert result.difference == (
        "~ speed 1 -> 0.5 of the full speed, in step 1", "~ height 0 -> 0.05 m, in step 3",
    )  # fmt: skip
    result = edit(told, Adjust("speed", Change.SCALE, 0.5), Adjust("height", Change.SHIFT, 0.02))
    assert result.difference == (
        "~ speed 1 -> 0.5 of the full speed", "~ speed 0.5 -> 0.25 of the full speed, in step 1",
        "~ height 0 -> 0.02 m",
    )  # fmt: skip
    manner = told.state.manner
    assert [manner.quantity("speed", step) for step in ("", "1", "2")] == [0.5, 0.25, 0.5]
    assert [manner.quantity("height", step) for step in ("", "1", "3")] == [0.02, 0.02, 0.05]
    assert manner.tuning_of("3").higher == 0.05
    told.step()
    with pytest.raises(StaleEditError, match=r'step 1, pick\("red block"\), is over \(done\) and cannot be changed'):
        edit(told, Adjust("speed", Change.SCALE, 0.5, "1"))
    with pytest.raises(EditError, match="there is no step '9'; those still to come: 2 place_in"):
        edit(told, Adjust("speed", Change.SCALE, 0.5, "9"))


def test_left_is_the_speakers_left_unless_it_is_the_robots(started):
    told = started(viewpoint=viewpoint("facing"))
    edit(told, Shift((0.0, 0.02, 0.0)))
    assert told.state.manner.offset_of("1") == pytest.approx((0.0, -0.02, 0.0))
    edit(told, Shift((0.0, 0.02, 0.0), Frame.ROBOT))
    assert told.state.manner.offset_of("1") == pytest.approx((0.0, 0.0, 0.0))


def test_an_offset_is_of_the_step_under_way_or_of_the_whole_plan(started):
    told = started()
    edit(told, Shift((0.01, 0.0, 0.0)))
    edit(told, Shift((0.0, 0.0, 0.02), lifetime=Lifetime.PLAN))
    assert told.state.manner.offset_of("1") == pytest.approx((0.01, 0.0, 0.02))
    assert told.state.manner.offset_of("2") == pytest.approx((0.0, 0.0, 0.02))


def test_an_offset_that_is_said_once_the_thing_is_taken_is_for_where_it_is_put(started):
    told = started('pick("red block")\nplace_at(point(0.5, -0.2))\n')
    told.robot.scene = replace(told.robot.scene, held="red block")
    told.observe()
    edit(told, Shift((0.0, 0.02, 0.0)))
    assert told.state.manner.offset_of("1") == (0.0, 0.0, 0.0)
    assert told.state.manner.offset_of("2") == pytest.approx((0.0, 0.02, 0.0))


@pytest.fixture
def settling(started):
    """A plan whose first skill has just ended: things come to rest, and nobody has judged it yet."""
    told = started()
    result = told.robot.obey(told.commands[-1])
    told.tell(SceneObserved(replace(told.robot.scene, time=0.0)))
    told.tell(SkillFinished("1", result))
    assert told.state.phase is Phase.SETTLING
    told.tell(PauseRequested())
    return told


def test_a_step_that_has_just_ended_is_judged_and_not_done_again(settling):
    back = Insert("place_at", {"place": (0.55, 0.25, 0.0)}, "2")
    edit(settling, back, Insert("pick", {"object": "green block"}, "2"))
    settling.tell(ResumeRequested())
    assert finished(settling).reason.outcome is Outcome.DONE
    assert [skill for skill, _ in settling.robot.started][:4] == ["pick", "place_at", "pick", "place_in"]


def test_a_step_that_has_just_ended_becomes_no_other(settling):
    with pytest.raises(
        StaleEditError, match=r'step 1, pick\("red block"\), cannot be changed any more: it has just been'
    ):
        edit(settling, Remove("1"), Remove("2"))


def test_what_is_put_into_something_is_not_shifted_out_of_it(started):
    told = started()
    told.step()
    with pytest.raises(
        EditError, match="so far to the side the red block would not be in the green bowl any more; say less"
    ):
        edit(told, Shift((0.0, 0.1, 0.0)))
    with pytest.raises(EditError, match="so far up the red block would not be in the green bowl"):
        edit(told, Shift((0.0, 0.0, 0.1)))


def test_an_offset_counts_when_the_step_is_judged(started):
    told = started('pick("red block")\nplace_at(point(0.45, 0.2))\n')
    told.step()
    edit(told, Shift((0.0, 0.05, 0.0)))
    (goal,) = told.state.run.goals
    assert goal.offset == (0.0, 0.05, 0.0)
    told.step()
    assert told.statuses["2"] != "done"  # the pretended robot put it where the skill alone would have


def test_a_rule_is_kept_from_now_on(started):
    told = started()
    edit(told, HANDS_OFF)
    assert [str(one.formula) for one in told.state.plan.constraints] == ["G !holding(green block)"]
    assert len(told.state.watch.watched) == 1


def test_a_rule_that_the_rest_cannot_keep_is_refused_by_its_words(started):
    told = started()
    with pytest.raises(EditError, match=r"that cannot be kept with what is left to do: .*hands off the bowl"):
        edit(told, AddRule("G !in(red block, green bowl)", "hands off the bowl"))


def test_a_rule_that_contradicts_another_is_refused_with_both(started):
    told = started()
    edit(told, AddRule("F in(red block, green bowl)", "see that it gets into the bowl"))
    with pytest.raises(
        EditError, match=r"nothing can keep .*see that it gets into the bowl.* and .*never there.* togeth"
    ):
        edit(told, AddRule("G !in(red block, green bowl)", "never there"))


def test_a_rule_is_said_only_once(started):
    told = started()
    edit(told, HANDS_OFF)
    with pytest.raises(EditError, match="that is a rule already: the robot never holds the green block"):
        edit(told, HANDS_OFF)


def test_a_rule_that_is_not_kept_now_is_kept_from_when_it_is(started):
    told = started()
    told.step()  # the red block is in the gripper
    edit(told, AddRule("G !holding(red block)", "do not carry the red block"))
    (rule,) = told.state.plan.constraints
    assert str(rule.formula) == "holding(red block) U G !holding(red block)"
    assert finished(told).reason.outcome is Outcome.DONE


def test_what_has_happened_for_good_cannot_be_forbidden(started):
    told = started()
    told.step()
    with pytest.raises(EditError, match="“never that” is broken already and nothing can mend that"):
        edit(told, AddRule("!holding(red block)", "never that"))


def test_a_rule_is_lifted_only_after_a_yes(started):
    told = started()
    edit(told, HANDS_OFF)
    lift = LiftRule("G !holding(green block)")
    with pytest.raises(EditError, match="a rule is lifted only when you confirm it: say yes to that"):
        edit(told, lift)
    assert edit(told, lift, confirmed=True).difference[0].startswith("- rule: do not touch the green block")
    assert told.state.plan.constraints == ()


def test_hold_resume_and_cancel_act_at_once_whatever_the_version(started):
    told = started()
    edit(told, Hold(), version=7)
    assert told.state.phase is Phase.PAUSED
    edit(told, Remove("3"), Remove("4"))
    assert told.state.phase is Phase.PAUSED  # who holds it says when it goes on
    edit(told, Resume(), version=7)
    assert isinstance(told.observe()[-1], StartSkill)
    edit(told, Cancel(), version=7)
    assert told.state.end.message == "Stopped: you said stop."


def test_to_wait_or_to_go_on_may_be_said_with_something_else(started):
    told = started()
    assert edit(told, Adjust("speed", Change.SCALE, 0.5), Hold()).difference == ("~ speed 1 -> 0.5 of the full speed",)
    assert told.state.phase is Phase.PAUSED
    edit(told, Resume(), Adjust("speed", Change.SCALE, 0.5))
    assert told.state.phase is Phase.READY
    assert told.state.manner.speed == pytest.approx(0.25)
    assert finished(told).reason.outcome is Outcome.DONE


def test_an_edit_is_taken_back_exactly_before_anything_came_of_it(started):
    told = started()
    held = edited(told.state, Edit((Hold(),))).state
    edit(told, Remove("3"), Remove("4"))
    edit(told, Undo())
    assert told.state.plan == held.plan
    assert finished(told).message == "The red block is in the green bowl; the blue block is at the left side."


def test_what_came_of_an_edit_is_put_back_when_it_is_taken_back(started):
    told = started()
    edit(told, Rebind("1", "object", "green block"))
    told.observe()
    told.step()
    told.step()  # the green block is in the green bowl
    edit(told, Undo())
    assert [step.split(" ", 1)[1] for step in steps(told)[2:]] == [
        'pick("green block")', "place_at(point(0.45, 0.00))", 'pick("red block")', 'place_in("green bowl")',
        'pick("blue block")', 'place_at("left side")',
    ]  # fmt: skip
    assert len({step.id for step in told.state.plan.steps}) == len(told.state.plan.steps)
    assert finished(told).reason.outcome is Outcome.DONE


def test_undoing_is_a_thing_of_its_own(started):
    told = started()
    edit(told, Adjust("speed", Change.SCALE, 0.5))
    with pytest.raises(EditError, match="to undo is one thing, what else is to be done another"):
        edit(told, Undo(), Remove("4"))
    edit(told, Undo())
    assert told.state.manner.speed == 1.0


def test_a_step_that_the_source_may_not_have_done_is_not_put_in(started, careful):
    settings = PlanningSettings(policy=careful(), source="cli")
    told = started('pick("red block")\nplace_in("green bowl")', settings=settings)
    with pytest.raises(EditError, match=r'step 3, pick\("blue block"\), may not be done: '):
        edit(told, Insert("pick", {"object": "blue block"}))

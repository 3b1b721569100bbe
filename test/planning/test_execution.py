"""Carrying a plan out: each step is judged by the scene, and so is the whole."""

from dataclasses import replace

import pytest

from llm_planner.execution.execution_state import (
    CancelSkill,
    EndReason,
    Finish,
    PauseRequested,
    Phase,
    ResumeRequested,
    SceneLost,
    SceneObserved,
    SkillFinished,
    SkillServerLost,
    StartSkill,
    StopRequested,
)
from llm_planner.plans.plan import Outcome
from llm_planner.scene.places import viewpoint
from llm_planner.skills.contract import SkillErrorCode, SkillResult

OK = SkillResult(SkillErrorCode.SUCCEEDED)
INTO_THE_BOWL = 'pick("red block")\nplace_in("red bowl")'
STACK = 'for below, block in pairs(objects("block")):\n    pick(block)\n    place_on(below)'


def put(scene, name, x, y, bottom=0.0):
    """The scene with that object somewhere else, out of the gripper."""
    item = scene.find(name)
    moved = replace(item, position=(x, y, bottom + item.size[2] / 2))
    held = "" if scene.held == name else scene.held
    return replace(scene, objects=tuple(moved if o.name == name else o for o in scene.objects), held=held)


def fails(code, message):
    """A mishap: nothing moves and the skill says why."""
    return lambda before, promised: (before, SkillResult(code, message))


def nothing_happens(before, promised):
    """A mishap: the skill believes it has done it."""
    return before, OK


def drops_red_block(before, promised):
    """A mishap: the block slips out on the way, unnoticed."""
    return put(before, "red block", 0.5, 0.1), OK


def test_a_plan_is_done_when_the_scene_shows_it(play):
    run = play(INTO_THE_BOWL).to_the_end()
    assert run.commands == [
        StartSkill("1", "pick", {"object": "red block"}),
        StartSkill("2", "place_in", {"object": "red bowl"}),
        Finish(EndReason.DONE, "The red block is in the red bowl."),
    ]
    assert run.statuses == {"1": "done", "2": "done"}
    assert EndReason.DONE.outcome is Outcome.DONE


def test_nothing_starts_before_a_scene_has_been_seen(play):
    run = play(INTO_THE_BOWL)
    assert run.commands == []
    assert run.tell(SkillFinished("1", OK)) == ()


def test_the_running_step_is_shown(play):
    run = play(INTO_THE_BOWL)
    run.observe()
    assert run.statuses == {"1": "running", "2": "pending"}


def test_a_step_is_judged_only_when_things_have_come_to_rest(play):
    run = play(INTO_THE_BOWL)
    run.observe()
    run.tell(SkillFinished("1", OK))
    held = replace(run.robot.scene, held="red block", time=0.2)
    assert run.tell(SceneObserved(held)) == ()
    (command,) = run.tell(SceneObserved(replace(held, time=0.31)))
    assert command.skill == "place_in"


def test_the_result_of_another_step_is_ignored(play):
    run = play(INTO_THE_BOWL)
    run.observe()
    run.tell(SkillFinished("7", OK))
    assert run.state.phase is Phase.RUNNING


def test_a_step_whose_effect_is_missing_is_tried_once_more(play):
    run = play(INTO_THE_BOWL, {1: nothing_happens}).to_the_end()
    assert run.robot.started == [("pick", "red block"), ("pick", "red block"), ("place_in", "red bowl")]
    assert run.state.end.reason is EndReason.DONE


def test_a_step_that_fails_twice_ends_the_plan_with_the_reason(play):
    slips = fails(SkillErrorCode.NO_GRASP, "the fingers closed on nothing")
    run = play(INTO_THE_BOWL, {1: slips, 2: slips}).to_the_end()
    assert len(run.robot.started) == 2
    assert run.state.end == Finish(
        EndReason.FAILED, 'Step 1, pick("red block"), failed: the fingers closed on nothing.', step_id="1"
    )
    assert run.statuses == {"1": "failed", "2": "skipped"}
    assert EndReason.FAILED.outcome is Outcome.FAILED


def test_an_effect_that_never_comes_true_fails_however_well_the_skill_speaks_of_it(play):
    run = play(INTO_THE_BOWL, {1: nothing_happens, 2: nothing_happens}).to_the_end()
    assert "afterwards the scene does not show that the red block is in the gripper" in run.state.end.message


def test_what_cannot_be_helped_is_not_tried_again(play):
    full = fails(SkillErrorCode.NO_FREE_SPACE, "the red bowl is full")
    run = play(INTO_THE_BOWL, {2: full}).to_the_end()
    assert len(run.robot.started) == 2
    assert run.state.end.message == (
        'Step 2, place_in("red bowl"), failed: the red bowl is full. The robot still holds the red block.'
    )


def test_a_skill_that_reports_failure_but_shows_its_effect_has_done_its_work(play):
    run = play(INTO_THE_BOWL, {2: lambda before, promised: (promised, SkillResult(SkillErrorCode.TIMEOUT, "too slow"))})
    assert run.to_the_end().state.end.reason is EndReason.DONE


@pytest.fixture
def squeezes(skills):
    """The skills with one more, whose effect holds before it begins."""
    return {**skills, "squeeze": replace(skills["pick"], name="squeeze", preconditions=())}


def test_an_effect_that_held_before_the_step_is_no_evidence_that_it_was_done(play, squeezes):
    stuck = fails(SkillErrorCode.TIMEOUT, "the fingers do not close")
    run = play('pick("red block")\nsqueeze("red block")', {2: stuck, 3: stuck}, skills=squeezes).to_the_end()
    assert [skill for skill, _ in run.robot.started] == ["pick", "squeeze", "squeeze"]
    assert 'squeeze("red block"), failed: the fingers do not close.' in run.state.end.message


def test_a_pause_does_not_complete_a_step_whose_effect_held_before(play, squeezes):
    run = play('pick("red block")\nsqueeze("red block")', skills=squeezes)
    run.observe()
    run.step()
    run.tell(PauseRequested())
    run.tell(ResumeRequested())
    run.observe()
    assert run.statuses == {"1": "done", "2": "running"}


def test_a_plan_without_steps_is_done_at_once(play):
    run = play('if is_held("red block"):\n    place_at("middle")').to_the_end()
    assert run.commands == [Finish(EndReason.DONE, "Nothing had to be done.")]


def test_a_skill_without_effects_is_believed(play):
    assert play("go_home()").to_the_end().state.end.reason is EndReason.DONE
    stuck = fails(SkillErrorCode.CONTROLLER_FAULT, "the arm does not follow")
    run = play("go_home()", {1: stuck, 2: stuck}).to_the_end()
    assert run.state.end.message == "Step 1, go_home(), failed: the arm does not follow."


def test_an_object_that_slips_on_the_way_is_picked_up_again(play):
    run = play(INTO_THE_BOWL, {2: drops_red_block}).to_the_end()
    assert run.robot.started == [
        ("pick", "red block"),
        ("place_in", "red bowl"),
        ("pick", "red block"),
        ("place_in", "red bowl"),
    ]
    assert run.statuses == {"1": "done", "2.2": "done", "2": "done"}
    assert run.state.end.reason is EndReason.DONE


def test_an_object_found_gone_before_the_next_step_is_picked_up_again(play):
    run = play(INTO_THE_BOWL)
    run.observe()
    run.robot.obey(run.commands[-1])
    run.tell(SkillFinished("1", OK))
    run.tell(SceneObserved(run.robot.scene))
    assert run.commands[-1].skill == "place_in"
    run.tell(PauseRequested())
    run.robot.scene = put(run.robot.scene, "red block", 0.5, 0.1)  # somebody takes it away meanwhile
    run.tell(ResumeRequested())
    (command,) = run.observe()
    assert (command.skill, command.arguments) == ("pick", {"object": "red block"})
    while run.state.phase is not Phase.ENDED:
        run.step()
    assert run.state.end.reason is EndReason.DONE


def test_an_object_that_keeps_slipping_ends_the_plan(play):
    run = play(INTO_THE_BOWL, {2: drops_red_block, 4: drops_red_block}).to_the_end()
    assert run.state.end.reason is EndReason.FAILED
    assert "does not show that the red block is in the red bowl" in run.state.end.message


def test_a_goal_that_comes_undone_later_is_restored_at_the_end(play):
    def knocks(before, promised):
        return put(promised, "red block", 0.6, 0.3), OK

    text = INTO_THE_BOWL + '\npick("green block")\nplace_in("green bowl")'
    run = play(text, {4: knocks}).to_the_end()
    assert run.robot.started[4:] == [("pick", "red block"), ("place_in", "red bowl")]
    assert run.statuses["2r1"] == "done"
    assert run.state.end.message == "The red block is in the red bowl; the green block is in the green bowl."


def test_a_tower_that_falls_is_built_again_from_below(play):
    def topples(before, promised):
        return put(put(promised, "green block", 0.5, 0.0), "blue block", 0.4, 0.05), OK

    run = play(STACK, {4: topples}).to_the_end()
    assert run.robot.started[4:] == [
        ("pick", "green block"),
        ("place_on", "red block"),
        ("pick", "blue block"),
        ("place_on", "green block"),
    ]
    assert run.state.end.reason is EndReason.DONE


def test_a_goal_that_will_not_stay_true_is_admitted_at_last(play):
    def knocks(before, promised):
        return put(promised, "red block", 0.6, 0.3), OK

    text = INTO_THE_BOWL + '\npick("green block")\nplace_in("green bowl")\ngo_home()'
    run = play(text, {5: knocks, 7: drops_red_block, 9: drops_red_block}).to_the_end()
    assert run.state.end.reason is EndReason.FAILED
    assert "does not show that the red block is in the red bowl" in run.state.end.message


def test_a_goal_that_a_later_step_takes_back_is_not_asked_for(play):
    run = play('pick("red block")\nplace_in("red bowl")\npick("red block")\nplace_at("middle")').to_the_end()
    assert run.state.end.message == "The red block is at the middle."


def test_stop_in_the_middle_cancels_the_skill_and_drops_the_plan(play):
    run = play(INTO_THE_BOWL)
    run.observe()
    assert run.tell(StopRequested("you said stop")) == (
        CancelSkill("1"),
        Finish(EndReason.STOPPED, "Stopped: you said stop."),
    )
    assert run.statuses == {"1": "failed", "2": "skipped"}
    assert run.observe() == ()
    assert EndReason.STOPPED.outcome is Outcome.FAILED


def test_stop_before_anything_runs_cancels_nothing(play):
    assert [type(command) for command in play(INTO_THE_BOWL).tell(StopRequested())] == [Finish]


@pytest.mark.parametrize(
    ("event", "reason"), [(SkillServerLost(), EndReason.SKILLS_LOST), (SceneLost(), EndReason.SCENE_LOST)]
)
def test_losing_a_part_of_the_robot_ends_the_plan(play, event, reason):
    run = play(INTO_THE_BOWL)
    run.observe()
    run.tell(event)
    assert run.state.end.reason is reason
    assert run.state.phase is Phase.ENDED


def test_a_pause_stops_the_arm_and_resuming_starts_the_step_again(play):
    run = play(INTO_THE_BOWL)
    run.observe()
    assert run.tell(PauseRequested()) == (CancelSkill("1"),)
    assert run.statuses == {"1": "pending", "2": "pending"}
    assert run.tell(PauseRequested()) == ()
    assert run.observe() == ()
    assert run.tell(ResumeRequested()) == ()
    (command,) = run.observe()
    assert command == StartSkill("1", "pick", {"object": "red block"})


def test_a_step_that_came_true_while_pausing_is_not_done_again(play):
    run = play(INTO_THE_BOWL)
    run.observe()
    run.tell(PauseRequested())
    run.robot.scene = replace(run.robot.scene, held="red block", time=5.0)
    run.tell(ResumeRequested())
    (command,) = run.observe()
    assert command.skill == "place_in"


def test_a_pause_while_things_settle_judges_the_step_afterwards(play):
    run = play(INTO_THE_BOWL)
    run.observe()
    result = run.robot.obey(run.commands[-1])
    run.tell(SkillFinished("1", result))
    assert run.tell(PauseRequested()) == ()
    assert run.observe() == ()
    run.tell(ResumeRequested())
    assert run.observe()[0].skill == "place_in"


def test_resuming_what_is_not_paused_changes_nothing(play):
    run = play(INTO_THE_BOWL)
    run.observe()
    before = run.state
    run.tell(ResumeRequested())
    assert run.state is before


def test_the_program_sees_the_real_scene_and_the_plan_is_foretold_anew(play):
    text = (
        'pick("red block")\nplace_at("left side")\n'
        'pick(closest(objects("block"), to="red block"))\nplace_in("red bowl")'
    )

    def lands_elsewhere(before, promised):
        return put(put(promised, "red block", 0.35, 0.35), "blue block", 0.36, 0.28), OK

    run = play(text, {2: lands_elsewhere})
    foreseen = [str(step) for step in run.state.plan.steps]
    assert foreseen[2] == 'pick("green block")'
    run.to_the_end()
    assert run.robot.started[2] == ("pick", "blue block")
    assert list(run.statuses) == ["1", "2", "3", "4"]


def test_a_program_that_finds_nothing_half_way_asks(play):
    def takes_the_other_block_along(before, promised):
        return put(promised, "blue block", 0.35, 0.0), OK

    text = 'pick("red block")\nplace_in("blue bowl")\npick(on_side(objects("block"), "right", of="green block")[0])'
    run = play(text, {2: takes_the_other_block_along}).to_the_end()
    assert run.state.end == Finish(
        EndReason.QUESTION, "I cannot go on: there is no block to the right of the green block."
    )
    assert EndReason.QUESTION.outcome is Outcome.QUESTION


def test_directions_reach_the_skill_in_base_words_and_the_person_in_their_own(play):
    run = play('pick("red block")\nplace_at("left side")', viewpoint=viewpoint("facing")).to_the_end()
    assert run.robot.started[1] == ("place_at", "right side")
    assert str(run.state.plan.steps[1]) == 'place_at("left side")'
    assert run.state.end.reason is EndReason.DONE


def test_a_state_is_a_value_and_events_do_not_change_it(play):
    run = play(STACK)
    run.observe()
    early = run.state
    run.step()
    run.step()
    run.state = early
    run.tell(SkillFinished("1", OK))
    scene = replace(run.robot.scene, held="green block")
    run.robot.scene = replace(scene, time=99.0)
    (command,) = run.observe()
    assert command == StartSkill("2", "place_on", {"object": "red block"})


def test_a_goal_that_nothing_simple_restores_is_left_to_a_new_plan(play):
    def knocks(before, promised):
        return put(promised, "red block", 0.4, 0.3), OK

    run = play('push("red block", "right", 0.1)\ngo_home()', {2: knocks}).to_the_end()
    assert run.state.end == Finish(
        EndReason.REPLAN,
        "Every step is done, but the scene does not show that the red block is 0.1 m to the right of where it was.",
    )


def test_a_step_that_cannot_start_ends_the_plan_with_the_manifests_words(play):
    def falls_on_green(before, promised):
        return put(promised, "red block", 0.45, 0.0, bottom=0.04), OK

    run = play('go_home()\npick("green block")\nplace_in("red bowl")', {1: falls_on_green}).to_the_end()
    assert run.state.end.message == (
        "Step 2 failed: pick cannot start: something stands on or in the green block; move that away first."
    )

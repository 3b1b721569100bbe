"""What people say to an arm at work, and what it then does: real nodes, real DDS, physics, the readers that ship."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from llm_planner_interfaces.msg import PlanStatus, PlanStep
from rcl_interfaces.msg import ParameterType, ParameterValue

from llm_planner.corrections.dialogue_session import RULE_LEFT_OUT
from llm_planner.corrections.edits import Outcome
from llm_planner.ros.speech_topics import send_sound
from llm_planner.scene.predicates import at, in_, on_table
from llm_planner.scene.propositions import NEAR_ARM, distance_to
from llm_planner.speech.audio import RATE, AudioFormat, AudioReader, read_wave

THINGS = ("red block", "blue block", "green block", "green bowl", "mug")
PROGRAMS = """
put the red block in the green bowl: |
  pick("red block")
  place_in("green bowl")
lay the red block down: |
  pick("red block")
  place_at(point(0.5, -0.2))
tidy up: |
  pick("mug")
  place_at("right side")
  pick("red block")
  place_at("left side")
  pick("blue block")
  place_in("green bowl")
move the vase, then put the block in the bowl: |
  pick("vase")
  place_at(point(0.4, -0.25))
  pick("red block")
  place_in("green bowl")
"""
CLIP = Path(__file__).parents[1] / "speech" / "clips" / "a_bit_to_the_left.wav"
COMMAND = "put the red block in the green bowl"


@pytest.fixture(scope="module")
def started(tmp_path_factory, start_system) -> Iterator:
    """A system of its own; nobody can transcribe speech for it."""
    folder = tmp_path_factory.mktemp("scenarios")
    script = folder / "programs.yaml"
    script.write_text(PROGRAMS, encoding="utf-8")
    nobody = {"LLM_PLANNER_TRANSCRIPTION_URL": "http://127.0.0.1:9/v1", "LLM_PLANNER_TRANSCRIPTION_MODEL": "none"}
    model = {"model": "scripted", "model_script": str(script)}
    with start_system(folder, model, nobody, listener={"recogniser": "server"}) as running:
        yield running


@pytest.fixture
def arm(started) -> Iterator:
    """At rest again after each test."""
    yield started
    started.client.stop("the test is over")
    started.wait(lambda: started.speed < 0.01)


def laid_out(arm, *things: str, seed: int = 1) -> None:
    """A fresh table with these things."""
    arm.reset(seed, things or THINGS)


def steps(arm) -> list[str]:
    return [f"{step.skill} {' '.join(argument.word for argument in step.arguments)}".strip() for step in arm.plan.steps]


def holds(arm, name: str):
    return lambda: arm.scene.held == name


def said(arm, words: str, outcome: Outcome = Outcome.APPLIED) -> str:
    answer = arm.client.correct(words)
    assert answer.outcome is outcome, answer.message
    return answer.message


def finished(arm, running) -> None:
    result = arm.finish(running)
    assert result.succeeded, result.message


def test_left_too_far_back_a_bit(arm):
    laid_out(arm)
    running = arm.start("lay the red block down")
    arm.wait(holds(arm, "red block"))
    said(arm, "to the left")
    said(arm, "too far, back a bit")
    finished(arm, running)
    x, y, _ = arm.scene.find("red block").position
    assert (x, y) == pytest.approx((0.5, -0.2 + 0.02), abs=0.015)


def test_what_has_been_put_away_can_be_put_back_where_it_lay(arm):
    laid_out(arm, "red block", "green bowl", "vase")
    x, y, _ = arm.scene.find("vase").position
    running = arm.start("move the vase, then put the block in the bowl")
    arm.wait(lambda: arm.plan.steps[1].status == PlanStep.RUNNING)
    arm.wait(lambda: arm.plan.steps[2].status == PlanStep.RUNNING)
    said(arm, "put the vase back where it was")
    finished(arm, running)
    assert arm.scene.find("vase").position[:2] == pytest.approx((x, y), abs=0.02)
    assert in_(arm.scene, "red block", "green bowl")


def test_no_the_blue_one_after_the_grasp_puts_the_red_one_back(arm):
    laid_out(arm)
    x, y, _ = arm.scene.find("red block").position
    running = arm.start(COMMAND)
    arm.wait(holds(arm, "red block"))
    said(arm, "no, the blue one")
    finished(arm, running)
    assert in_(arm.scene, "blue block", "green bowl")
    assert arm.scene.find("red block").position[:2] == pytest.approx((x, y), abs=0.02)
    assert on_table(arm.scene, "red block")


def test_after_the_end_the_last_errand_is_corrected_and_the_rules_stay(arm):
    laid_out(arm)
    x, y, _ = arm.scene.find("red block").position
    finished(arm, arm.client.submit(COMMAND, rules=("ltl:G !moved(mug)",)))
    ended = arm.plan.plan_id
    assert said(arm, "no, the blue one").endswith('+ pick("blue block"); + place_in("green bowl")')
    arm.wait(lambda: arm.plan.state == PlanStatus.SUCCEEDED and arm.plan.plan_id != ended)
    assert in_(arm.scene, "blue block", "green bowl")
    assert arm.scene.find("red block").position[:2] == pytest.approx((x, y), abs=0.02)
    assert [rule.formula for rule in arm.plan.constraints if not rule.goal] == ["G !moved(mug)"]
    assert "mug" in said(arm, "no, the mug", Outcome.REFUSED)
    assert "no correction" in said(arm, "well done", Outcome.NOTHING)


def test_do_the_bowl_first_while_it_carries_the_mug(arm):
    laid_out(arm)
    running = arm.start("tidy up")
    arm.wait(holds(arm, "mug"))
    arm.wait(lambda: arm.plan.steps[1].status == PlanStep.RUNNING)
    said(arm, "do the bowl first")
    order = []

    def look() -> bool:
        if arm.scene.held and arm.scene.held not in order[-1:]:
            order.append(arm.scene.held)
        return running.is_done

    arm.wait(look)
    finished(arm, running)
    assert order == ["mug", "blue block", "red block"]
    assert in_(arm.scene, "blue block", "green bowl")
    assert at(arm.scene, "mug", "right side")
    assert at(arm.scene, "red block", "left side")


def test_away_from_what_it_is_near_already_holds_from_when_it_has_left(arm):
    laid_out(arm, "red block", "green bowl", "vase", seed=34)
    running = arm.start("move the vase, then put the block in the bowl")
    arm.wait(lambda: len(arm.plan.steps) > 2 and arm.plan.steps[2].status == PlanStep.RUNNING)
    assert distance_to(arm.scene, "vase") < NEAR_ARM
    assert "vase" in said(arm, "keep away from the vase")
    arm.wait(lambda: distance_to(arm.scene, "vase") > NEAR_ARM)
    nearest = []
    arm.wait(lambda: nearest.append(distance_to(arm.scene, "vase")) or running.is_done)
    finished(arm, running)
    assert in_(arm.scene, "red block", "green bowl")
    assert min(nearest) > NEAR_ARM


def test_a_way_that_goes_by_the_vase_is_refused_and_what_stands_in_the_way_is_said(arm):
    laid_out(arm, "red block", "green bowl", "vase")
    arm.start(COMMAND)
    assert "vase" in said(arm, "keep away from the vase", Outcome.REFUSED)
    assert (arm.plan.state, arm.plan.version) == (PlanStatus.RUNNING, 0)


def test_a_rule_that_was_told_before_and_cannot_be_kept_is_waited_over(arm):
    laid_out(arm, "red block", "green bowl", "vase", seed=34)
    running = arm.start("move the vase, then put the block in the bowl")
    arm.wait(lambda: len(arm.plan.steps) > 2 and arm.plan.steps[2].status == PlanStep.RUNNING)
    said(arm, "always keep away from the vase")
    finished(arm, running)
    laid_out(arm, "red block", "green bowl", "vase")
    told: list[str] = []
    arm.client.watch_remarks(lambda remark: told.append(remark.message))
    running = arm.client.submit(COMMAND)
    arm.wait(lambda: RULE_LEFT_OUT in told or running.is_done)
    arm.wait(lambda: arm.speed < 0.01)
    assert arm.plan.state == PlanStatus.PAUSED
    said(arm, "go on")
    arm.wait(lambda: (arm.plan.state == PlanStatus.RUNNING and arm.speed > 0.1) or running.is_done)
    assert not running.is_done, running.result.message
    arm.forget_everything()


def test_a_rule_that_makes_the_plan_impossible_is_refused_and_the_plan_goes_on(arm):
    laid_out(arm)
    running = arm.start(COMMAND)
    message = said(arm, "never put the red block in the green bowl", Outcome.REFUSED)
    assert "red block" in message
    finished(arm, running)
    assert in_(arm.scene, "red block", "green bowl")
    assert arm.plan.version == 0


def test_chatter_with_a_stop_in_it_stops_nothing(arm):
    laid_out(arm)
    arm.start(COMMAND)
    said(arm, "don't stop", Outcome.NOTHING)
    said(arm, "the bus stop is just round the corner", Outcome.NOTHING)
    assert (arm.plan.state, arm.plan.version) == (PlanStatus.RUNNING, 0)


def test_a_thing_that_is_not_there_is_asked_about(arm):
    laid_out(arm)
    arm.start(COMMAND)
    answer = arm.client.correct("no, the purple one")
    assert answer.outcome is not Outcome.APPLIED
    assert "purple" in answer.message
    assert "blue block" in answer.message
    assert arm.plan.version == 0


def test_two_corrections_in_one_breath_are_one_edit(arm):
    laid_out(arm)
    arm.start(COMMAND)
    message = said(arm, "slower, and take the blue one instead")
    assert "speed 1 -> 0.5" in message
    assert "blue block" in message
    arm.wait(lambda: arm.plan.version == 1)
    said(arm, "undo that")
    arm.wait(lambda: arm.plan.version == 2)
    assert "red block" in " ".join(steps(arm))


def test_the_colour_said_last_counts(arm):
    laid_out(arm)
    running = arm.start(COMMAND)
    said(arm, "no, not the blue one, the green one")
    arm.wait(lambda: bool(arm.scene.held) or running.is_done)
    assert arm.scene.held == "green block"


def test_what_was_told_of_a_step_that_did_not_end_well_is_not_kept(arm):
    laid_out(arm)
    running = arm.start("lay the red block down")
    arm.wait(holds(arm, "red block"))
    said(arm, "always a bit to the left")
    arm.client.stop("that was enough")
    arm.finish(running)
    assert said(arm, "forget that").startswith("that is gone already: ")


def test_what_is_spoken_is_understood_though_the_transcription_server_is_down(arm):
    laid_out(arm)
    _, chunks = read_wave(CLIP)
    reader, silence, lines = AudioReader(AudioFormat()), np.zeros(RATE // 2, np.float32), []
    sound = [silence, *map(reader.read, chunks)]
    send_sound(arm.client, sound, lines.append, in_step=True)
    arm.wait(lambda: len(lines) == 2)  # the ears take a while to open
    assert lines == ["heard: a bit to the left", "  no plan is running: say it as a command"]
    running = arm.start("tidy up")
    send_sound(arm.client, sound, lambda line: None, in_step=True)
    arm.wait(lambda: arm.plan.version == 1 or running.is_done)
    assert arm.plan.version == 1


def speaks(arm, user: str) -> None:
    """From now on it is this person who is heard."""
    value = ParameterValue(type=ParameterType.PARAMETER_STRING, string_value=user)
    arm.set_parameter("correction_listener", "user", value)


def test_two_people_have_preferences_of_their_own(arm):
    speeds = {}
    for turn, user in enumerate(("anna", "ben", "anna")):
        speaks(arm, user)
        laid_out(arm)
        running = arm.start(COMMAND)
        if turn == 0:
            said(arm, "always a bit slower with blocks")
            finished(arm, running)
        else:
            speeds[user] = said(arm, "half speed")
            arm.client.stop("seen enough")
            arm.finish(running)
    speaks(arm, "")
    assert speeds == {
        "ben": "~ speed 1 -> 0.5 of the full speed",
        "anna": "~ speed 1 -> 0.5 of the full speed; ~ speed 0.75 -> 0.5 of the full speed, in step 1",
    }

"""Picking by sight: what is done with a picture, without one, and with one that misleads."""

from dataclasses import replace

import numpy as np
import pytest

from llm_planner.errors import SimulationError
from llm_planner.skills.arm import NO_PICTURE, PATIENCE, Arm, ArmSettings, blind
from llm_planner.skills.contract import SkillErrorCode, SkillResult
from llm_planner.skills.hand_geometry import HandPose
from llm_planner.skills.scripted import ScriptedRun
from llm_planner.skills.sight_network import LOOKOUT
from llm_planner.skills.sight_picking import ATTEMPTS, LIFT, picking_by_sight

PICTURE = np.zeros((48, 64, 3), np.uint8)
DONE = SkillResult(SkillErrorCode.SUCCEEDED)
THERE = (0.45, 0.1, 0.02, 0.04, 0.07)


@pytest.fixture
def pick():
    """Starts the skill: `pick(hand, network, camera=..., thing="red block")` gives its run and its arm."""

    def start(hand, network, camera=lambda seen: PICTURE, thing="red block"):
        arm = Arm(hand.observation(), ArmSettings())
        script = picking_by_sight("pick_by_sight", network, camera)
        return ScriptedRun("pick_by_sight", arm, script(arm, {"object": thing}), 60.0), arm

    return start


def test_it_looks_takes_and_lifts(thing, scene_of, ghost, told, pick):
    hand, network = ghost(scene_of(thing("red block", 0.45, 0.1), thing("blue bowl", 0.5, -0.2))), told([THERE])
    run, arm = pick(hand, network)
    assert hand.run(run) == DONE
    assert hand.phases == ["look out", "approach", "close", "lift"]
    assert (hand.scene.held, round(hand.pose.position[2], 3)) == ("red block", LIFT)
    assert network.asked == [("block", "red")]
    assert set(arm.aim.numbers) == {"opening", "width", "cruise", "lift"}


def test_where_things_are_in_the_scene_changes_nothing(thing, scene_of, ghost, told, pick):
    aims, ways = [], []
    for x, y in ((0.45, 0.1), (0.6, -0.3)):
        scene = scene_of(thing("red block", x, y), thing("blue bowl", y + 0.5, x - 0.3))
        hand = ghost(scene, grasps=False)
        run, arm = pick(hand, told([THERE]))
        hand.run(run)
        aims.append(arm.aim)
        ways.append([reference.poses for reference in hand.references])
    assert aims[0] == aims[1]
    assert ways[0] == ways[1]


def test_what_was_missed_is_looked_at_again(thing, scene_of, ghost, told, pick):
    hand = ghost(scene_of(thing("red block", 0.45, 0.1)))
    network = told([(0.45, -0.1, 0.02, 0.04, 0.07), THERE])
    assert hand.run(pick(hand, network)[0]) == DONE
    assert len(network.asked) == 2
    assert hand.phases.count("look out") == 2


def test_it_gives_up_what_it_never_takes(thing, scene_of, ghost, told, pick):
    hand, network = ghost(scene_of(thing("red block", 0.45, 0.1)), grasps=False), told([THERE])
    result = hand.run(pick(hand, network)[0])
    assert result == SkillResult(SkillErrorCode.NO_GRASP, "the fingers closed 3 times without the red block")
    assert len(network.asked) == ATTEMPTS


def test_what_is_not_in_the_picture_is_not_taken(thing, scene_of, ghost, told, pick):
    hand = ghost(scene_of(thing("red block", 0.45, 0.1)))
    result = hand.run(pick(hand, told([THERE], nowhere=0.9))[0])
    assert result == SkillResult(SkillErrorCode.OBJECT_LOST, "the red block is not in the camera's picture")
    assert hand.scene.held == ""


def test_what_is_held_already_is_lifted_unseen(thing, scene_of, ghost, told, pick):
    hand = ghost(scene_of(thing("red block", 0.45, 0.1), held="red block"))
    hand.pose = HandPose(0.45, 0.1, 0.02, 0.0).pose()
    assert hand.run(pick(hand, told([THERE]), blind)[0]) == DONE
    assert hand.pose.position[2] == pytest.approx(LIFT)


def no_gl(observation):
    raise SimulationError("no off-screen OpenGL works here")


@pytest.mark.parametrize(
    ("camera", "reason"),
    [
        (blind, "there is no camera"),
        (no_gl, "no off-screen OpenGL works here"),
        (lambda observation: NO_PICTURE, f"no picture came in {PATIENCE:g} s"),
    ],
)
def test_without_a_picture_nothing_moves(camera, reason, thing, scene_of, ghost, told, pick):
    hand = ghost(scene_of(thing("red block", 0.45, 0.1)))
    result = hand.run(pick(hand, told([THERE]), camera)[0])
    message = f"pick_by_sight needs the camera's picture: {reason}"
    assert result == SkillResult(SkillErrorCode.PRECONDITION_FAILED, message)
    assert all(len(reference.poses) == 1 for reference in hand.references)
    assert hand.pose == ghost(hand.scene).pose


def test_a_picture_that_is_late_is_waited_for(thing, scene_of, ghost, told, pick):
    hand = ghost(scene_of(thing("red block", 0.45, 0.1)))
    run, _ = pick(hand, told([THERE]), lambda seen: PICTURE if seen.time > 1.0 else NO_PICTURE)
    assert hand.run(run) == DONE


def test_things_that_look_alike_are_not_guessed_between(thing, scene_of, ghost, told, pick):
    first = thing("red block", 0.45, 0.1)
    hand = ghost(scene_of(first, replace(first, name="red block 2", position=(0.5, -0.1, 0.02))))
    result = hand.run(pick(hand, told([THERE]))[0])
    words = "in a picture the red block and the red block 2 cannot be told apart; use pick"
    assert result == SkillResult(SkillErrorCode.PRECONDITION_FAILED, words)
    assert hand.references == []


def test_words_that_were_not_learned_are_told_before_anything_moves(thing, scene_of, ghost, told, pick):
    hand = ghost(scene_of(thing("red vase", 0.45, 0.1)))
    result = hand.run(pick(hand, told([THERE]), thing="red vase")[0])
    assert result.code is SkillErrorCode.PRECONDITION_FAILED
    assert result.message == "sight has not learned the kind 'vase'; it knows: block, bowl"


def test_it_looks_from_where_the_arm_hides_nothing(thing, scene_of, ghost, told, pick):
    hand, seen = ghost(scene_of(thing("red block", 0.45, 0.1))), []

    def camera(observation):
        seen.append(observation.T_base_gripper.position)
        return PICTURE

    hand.run(pick(hand, told([THERE]), camera)[0])
    assert seen[-1] == pytest.approx((LOOKOUT.x, LOOKOUT.y, LOOKOUT.z))

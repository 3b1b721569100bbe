"""Reach, stack, sweep and tip: what they leave behind, in physics where things slide and fall, and what they refuse."""

from dataclasses import replace
from typing import Any

import pytest

from llm_planner.plan.plan import goals_of
from llm_planner.plan.prediction import predict
from llm_planner.plan.trace import pass_through
from llm_planner.simulation.layout import Placement, standing
from llm_planner.simulation.objects import ObjectSpec
from llm_planner.simulation.world import World
from llm_planner.skills.contract import SkillErrorCode, SkillResult
from llm_planner.skills.episode import Episode
from llm_planner.skills.library import SkillLibrary
from llm_planner.world import predicates
from llm_planner.world.scene import Pose, Scene

OK = SkillResult(SkillErrorCode.SUCCEEDED)


def begun(library: SkillLibrary, hand: Any, name: str, **arguments: Any) -> SkillResult:
    result: SkillResult = hand.run(library.find(name).implementation.start(arguments, hand.observation()))
    return result


def standing_there(kind: str, x: float, y: float) -> Any:
    return standing(ObjectSpec(kind, kind, ""), Placement(x, y, 0.3))


def in_physics(library: SkillLibrary, name: str, arguments: Any, *items: Any) -> tuple[SkillResult, Scene]:
    world = World(0, ())
    world.lay_out(Scene(0.0, items))
    result = Episode(world).run(library.find(name), arguments)
    return result, world.scene()


def test_the_fingers_end_above_what_is_reached_for(
    library: SkillLibrary, thing: Any, scene_of: Any, ghost: Any
) -> None:
    hand = ghost(scene_of(thing("red block", 0.5, 0.1), thing("vase", 0.4, -0.2)))
    assert begun(library, hand, "reach", object="red block") == OK
    assert predicates.above(replace(hand.scene, robot=hand.pose), "red block")
    assert not predicates.above(replace(hand.scene, robot=hand.pose), "vase")
    assert not predicates.above(replace(hand.scene, robot=Pose((0.5, 0.1, 0.3))), "red block")  # too high
    assert not predicates.above(hand.scene, "red block")  # nobody knows where the hand is


def test_what_is_taken_is_put_on_the_other_and_nothing_is_done_twice(
    library: SkillLibrary, thing: Any, scene_of: Any, ghost: Any
) -> None:
    hand = ghost(scene_of(thing("red block", 0.5, 0.1), thing("blue block", 0.45, -0.2)))
    assert begun(library, hand, "stack", object="red block", onto="blue block") == OK
    assert predicates.on(hand.scene, "red block", "blue block")
    assert hand.phases == ["approach", "close", "lift", "carry", "release", "retreat"]

    again = ghost(hand.scene, pose=hand.pose, width=hand.width)
    assert begun(library, again, "stack", object="red block", onto="blue block") == OK
    assert again.references == []


def test_what_is_held_already_is_only_put_down(library: SkillLibrary, thing: Any, scene_of: Any, ghost: Any) -> None:
    hand = ghost(scene_of(thing("red block", 0.307, 0.0, z=0.487), thing("blue block", 0.45, -0.2), held="red block"))
    assert begun(library, hand, "stack", object="red block", onto="blue block") == OK
    assert hand.phases == ["carry", "release", "retreat"]


@pytest.mark.parametrize("place", ["left side", (0.55, 0.2, 0.0)])
def test_a_block_is_swept_to_its_place(library: SkillLibrary, place: Any) -> None:
    result, after = in_physics(
        library, "sweep", {"object": "block", "place": place}, standing_there("block", 0.45, -0.1)
    )
    assert result == OK
    assert predicates.at(after, "block", place)


def test_what_does_not_slide_is_given_up(library: SkillLibrary, thing: Any, scene_of: Any, ghost: Any) -> None:
    told = begun(
        library, ghost(scene_of(thing("red block", 0.5, 0.1))), "sweep", object="red block", place=(0.5, -0.1, 0.0)
    )
    assert told == SkillResult(SkillErrorCode.EFFECT_MISSING, "the red block was swept no farther than (0.50, 0.10)")


def test_what_is_walled_in_is_not_swept(library: SkillLibrary, thing: Any, scene_of: Any, ghost: Any) -> None:
    around = [thing(f"{color} box", x, y) for color, x, y in (
        ("red", 0.5, 0.13), ("blue", 0.5, -0.13), ("green", 0.63, 0.0), ("yellow", 0.37, 0.0),
    )]  # fmt: skip
    hand = ghost(scene_of(thing("red block", 0.5, 0.0), *around))
    told = begun(library, hand, "sweep", object="red block", place=(0.5, 0.35, 0.0))
    assert told == SkillResult(SkillErrorCode.NO_FREE_SPACE, "there is no free way to sweep the red block there")
    assert hand.references == []


@pytest.mark.parametrize("kind", ["mug", "vase"])
def test_what_stands_is_knocked_over_and_left(library: SkillLibrary, kind: str) -> None:
    result, after = in_physics(library, "tip", {"object": kind}, standing_there(kind, 0.5, 0.0))
    assert result == OK
    assert predicates.toppled(after, kind)
    assert after.robot is not None
    assert after.robot.position[2] > 0.1


def test_what_does_not_fall_is_told(library: SkillLibrary, thing: Any, scene_of: Any, ghost: Any) -> None:
    told = begun(library, ghost(scene_of(thing("vase", 0.5, 0.0))), "tip", object="vase")
    assert told == SkillResult(SkillErrorCode.EFFECT_MISSING, "the vase still stands")


def test_nothing_is_tipped_onto_others(library: SkillLibrary, thing: Any, scene_of: Any, ghost: Any) -> None:
    around = [thing(f"{color} box", x, y) for color, x, y in (
        ("red", 0.5, 0.13), ("blue", 0.5, -0.13), ("green", 0.67, 0.0), ("yellow", 0.33, 0.0),
    )]  # fmt: skip
    hand = ghost(scene_of(thing("vase", 0.5, 0.0), *around))
    told = begun(library, hand, "tip", object="vase")
    assert told.code is SkillErrorCode.NO_FREE_SPACE
    assert "the vase would fall on the" in told.message
    assert hand.references == []


def test_a_stack_is_foreseen_with_the_thing_in_the_gripper_on_the_way(
    library: SkillLibrary, thing: Any, scene_of: Any
) -> None:
    before = replace(
        scene_of(thing("red block", 0.5, 0.1), thing("blue block", 0.45, -0.2)), robot=Pose((0.4, 0.0, 0.4))
    )
    skill, values = library.find("stack").manifest.signature, {"object": "red block", "onto": "blue block"}
    scenes = pass_through(skill, values, before, {}).scenes

    held = [scene.held for scene in scenes]
    assert held[0] == held[-1] == ""
    assert "red block" in held
    assert predicates.on(scenes[-1], "red block", "blue block")
    assert predict(before, goals_of(skill, "", values, before, {})).objects == scenes[-1].objects


@pytest.mark.parametrize("name", ["reach", "tip"])
def test_the_hand_is_foreseen_above_what_it_reaches_for_or_tips(
    library: SkillLibrary, thing: Any, scene_of: Any, name: str
) -> None:
    before = replace(scene_of(thing("vase", 0.5, 0.1)), robot=Pose((0.4, 0.0, 0.4)))
    scenes = pass_through(library.find(name).manifest.signature, {"object": "vase"}, before, {}).scenes
    assert scenes[-1].robot is not None
    assert predicates.above(replace(before, robot=scenes[-1].robot), "vase")
    assert predicates.toppled(scenes[-1], "vase") is (name == "tip")

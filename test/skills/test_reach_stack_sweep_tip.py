"""Reach, stack, sweep and tip: what they leave behind, in physics where things slide and fall, and what they refuse."""

import math
from dataclasses import replace
from typing import Any

import pytest

from llm_planner.plans.plan import goals_of
from llm_planner.plans.prediction import predict
from llm_planner.plans.trace import foresee_motion
from llm_planner.robots.gripper import DEFAULT_HAND
from llm_planner.scene import predicates
from llm_planner.scene.geometry import top
from llm_planner.scene.scene import Pose, Scene
from llm_planner.simulation.objects import ObjectSpec
from llm_planner.simulation.tabletop import Placement, standing
from llm_planner.simulation.world import World
from llm_planner.skills.contract import SkillErrorCode, SkillResult
from llm_planner.skills.episode import Episode
from llm_planner.skills.library import SkillLibrary

OK = SkillResult(SkillErrorCode.SUCCEEDED)


def begun(library: SkillLibrary, hand: Any, name: str, **arguments: Any) -> SkillResult:
    result: SkillResult = hand.run(library.find(name).implementation.start(arguments, hand.observation()))
    return result


def standing_there(kind: str, x: float, y: float, yaw: float = 0.3) -> Any:
    return standing(ObjectSpec(kind, kind, ""), Placement(x, y, yaw))


def tilted(item: Any, degrees: float, up: float) -> Any:
    """The thing leaning to the left, `up` [m] higher."""
    half, (x, y, z) = math.radians(degrees) / 2, item.position
    return replace(item, position=(x, y, z + up), orientation=(-math.sin(half), 0.0, 0.0, math.cos(half)))


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


def test_what_lay_there_and_was_shoved_away_is_swept_back(
    library: SkillLibrary, thing: Any, scene_of: Any, ghost: Any
) -> None:
    hand = ghost(scene_of(thing("red block", 0.5, 0.1)))
    run = library.find("sweep").implementation.start(
        {"object": "red block", "place": (0.5, 0.1, 0.0)}, hand.observation()
    )
    hand.scene = scene_of(thing("red block", 0.5, -0.1))
    hand.run(run)  # until it is given up: a ghost pushes nothing
    assert hand.phases[:2] == ["close", "approach"]


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


@pytest.mark.parametrize("yaw", [-2.4, 0.0])
def test_a_mug_between_others_is_knocked_over_along_its_handle(library: SkillLibrary, yaw: float) -> None:
    beside = [
        standing(
            ObjectSpec(f"{color} block", "block", color),
            Placement(0.5 - way * math.sin(yaw), 0.1 + way * math.cos(yaw), 0.0),
        )
        for color, way in (("red", 0.12), ("blue", -0.12))
    ]
    result, after = in_physics(library, "tip", {"object": "mug"}, standing_there("mug", 0.5, 0.1, yaw), *beside)
    assert result == OK
    assert predicates.toppled(after, "mug")


def test_what_leans_is_pushed_through_its_upper_half_across_its_lean(
    library: SkillLibrary, thing: Any, scene_of: Any, ghost: Any
) -> None:
    vase = tilted(thing("vase", 0.5, 0.0), 25.0, 0.0)
    hand = ghost(scene_of(vase))
    told = begun(library, hand, "tip", object="vase")
    assert told.code is SkillErrorCode.EFFECT_MISSING
    quarter = vase.size[2] / 4  # of its height, from its middle up along its own axis
    upper = quarter * math.sin(math.radians(25.0))
    first = [poses[0].position for poses in (reference.poses for reference in hand.references)]
    assert any(math.dist(place[:2], (0.5, upper)) < 0.02 and place[2] - DEFAULT_HAND.tip < top(vase) for place in first)


def test_what_is_still_falling_is_stacked_from_where_it_comes_to_lie(library: SkillLibrary) -> None:
    world = World(0, ())
    places = {"red": Placement(0.45, 0.1, 0.0), "blue": Placement(0.5, -0.15, 0.0)}
    specs = {color: ObjectSpec(f"{color} block", "block", color) for color in places}
    world.lay_out(Scene(0.0, tuple(standing(specs[color], place) for color, place in places.items())))
    world.shift("red block", (0.45, 0.1), height=0.2)
    result = Episode(world).run(library.find("stack"), {"object": "red block", "onto": "blue block"})
    assert result == OK
    assert predicates.on(world.scene(), "red block", "blue block")


def test_what_cannot_be_taken_hold_of_is_not_stacked(
    library: SkillLibrary, thing: Any, scene_of: Any, ghost: Any
) -> None:
    hand = ghost(scene_of(thing("red block", 0.5, 0.1), thing("blue block", 0.45, -0.2)), grasps=False)
    told = begun(library, hand, "stack", object="red block", onto="blue block")
    assert told.code is SkillErrorCode.NO_GRASP


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
    scenes = foresee_motion(skill, values, before, {}).scenes

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
    scenes = foresee_motion(library.find(name).manifest.signature, {"object": "vase"}, before, {}).scenes
    assert scenes[-1].robot is not None
    assert predicates.above(replace(before, robot=scenes[-1].robot), "vase")
    assert predicates.toppled(scenes[-1], "vase") is (name == "tip")

"""Scripted skills that are begun anew in the middle: each goes on from wherever hand and things have been left."""

import math
from dataclasses import replace
from typing import Any

import pytest

from llm_planner.robots.gripper import DEFAULT_HAND
from llm_planner.robots.motion import MotionReference, Observation
from llm_planner.scene.scene import Pose
from llm_planner.scene.zones import Shape, Zone
from llm_planner.skills.arm import Arm, ArmSettings
from llm_planner.skills.arm_paths import _DESCENT_SLOPE, ASIDE, TURN_SLOPE, TURNED, in_funnel, is_clear
from llm_planner.skills.contract import SkillErrorCode, SkillResult
from llm_planner.skills.hand_geometry import HandPose, hand_slices
from llm_planner.skills.library import SkillLibrary

GOAL = HandPose(0.5, 0.1, 0.02, 0.0)


def begun(library: SkillLibrary, hand: Any, name: str, **arguments: Any) -> SkillResult:
    """The script itself: a fresh start of the skill would ask for its preconditions."""
    result: SkillResult = hand.run(library.find(name).implementation.start(arguments, hand.observation()))
    return result


def heights(hand: Any) -> list[float]:
    return [pose.position[2] for reference in hand.references for pose in reference.poses[:2]]


@pytest.fixture
def reaching(thing: Any, scene_of: Any, ghost: Any) -> Any:
    """A hand at a grip, above or beside a red block at (0.5, 0.1), its fingers open to `width` [m]."""
    return lambda grip, width=0.07, *others: ghost(
        scene_of(thing("red block", 0.5, 0.1), *others), pose=grip.pose(), width=width
    )


def test_a_hand_above_a_thing_goes_straight_down(library: SkillLibrary, reaching: Any) -> None:
    hand = reaching(HandPose(0.51, 0.1, 0.11, 0.0))
    result = begun(library, hand, "pick", object="red block")

    assert result == SkillResult(SkillErrorCode.SUCCEEDED)
    first_close = next(k for k, reference in enumerate(hand.references) if reference.gripper_width < 0.04)
    falling = [reference.poses[0].position[2] for reference in hand.references[:first_close]]
    assert max(falling) == pytest.approx(0.11, abs=0.001)
    assert falling == sorted(falling, reverse=True)


@pytest.mark.parametrize(
    ("grip", "width"),
    [
        (HandPose(0.56, 0.1, 0.05, 0.0), 0.07),  # low, beside it
        (HandPose(0.5, 0.1, 0.065, 0.0), 0.03),  # above it with fingers too narrow to get around it in time
        (HandPose(0.5, 0.1, 0.065, 0.8), 0.07),  # turned, so that a finger would come down on it
    ],
)
def test_a_hand_that_would_run_into_the_thing_rises_first(
    library: SkillLibrary, reaching: Any, grip: HandPose, width: float
) -> None:
    hand = reaching(grip, width)
    result = begun(library, hand, "pick", object="red block")

    assert result == SkillResult(SkillErrorCode.SUCCEEDED)
    assert hand.phases == ["approach", "close", "lift"]
    approach = [reference.poses[0].position[2] for reference in hand.references if reference.gripper_width > 0.05]
    assert max(approach) > 0.12


def test_a_hand_beside_which_something_tall_stands_rises_first(
    library: SkillLibrary, reaching: Any, thing: Any
) -> None:
    aside = HandPose(0.5, 0.12, 0.10, 0.0)
    straight, round_ = reaching(aside), reaching(aside, 0.07, thing("vase", 0.5, 0.2))
    for hand in (straight, round_):
        assert begun(library, hand, "pick", object="red block") == SkillResult(SkillErrorCode.SUCCEEDED)
    before_closing = [
        max(reference.poses[0].position[2] for reference in hand.references if reference.gripper_width > 0.05)
        for hand in (straight, round_)
    ]
    assert before_closing[0] < 0.11
    assert before_closing[1] > 0.15


def test_a_thing_in_the_fingers_is_only_lifted(library: SkillLibrary, thing: Any, scene_of: Any, ghost: Any) -> None:
    scene = scene_of(thing("red block", 0.5, 0.1, z=0.05), held="red block")
    hand = ghost(scene, pose=HandPose(0.5, 0.1, 0.05, 0.0).pose(), width=0.04)
    result = begun(library, hand, "pick", object="red block")

    assert result == SkillResult(SkillErrorCode.SUCCEEDED)
    assert hand.phases == ["lift"]
    assert hand.scene.find("red block").position[2] - 0.02 >= 0.115
    again = ghost(hand.scene, pose=hand.pose, width=hand.width)
    assert begun(library, again, "pick", object="red block") == SkillResult(SkillErrorCode.SUCCEEDED)
    assert not again.references  # it is up already


def test_fingers_that_were_closing_go_on_closing(library: SkillLibrary, reaching: Any) -> None:
    hand = reaching(HandPose(0.5, 0.1, 0.022, 0.0), 0.05)
    result = begun(library, hand, "pick", object="red block")

    assert result == SkillResult(SkillErrorCode.SUCCEEDED)
    assert hand.references[0].gripper_width == pytest.approx(0.05)  # they do not open again


def test_what_is_held_above_its_place_goes_straight_down(
    library: SkillLibrary, thing: Any, scene_of: Any, ghost: Any
) -> None:
    scene = scene_of(thing("red block", 0.49, -0.2, z=0.10), thing("blue block", 0.5, -0.2), held="red block")
    hand = ghost(scene, pose=HandPose(0.49, -0.2, 0.10, -math.atan(0.4)).pose(), width=0.04)
    result = begun(library, hand, "place_on", object="blue block")

    assert result == SkillResult(SkillErrorCode.SUCCEEDED)
    carried = [reference.poses[0].position[2] for reference in hand.references if reference.gripper_width < 0.04]
    assert max(carried) == pytest.approx(0.10, abs=0.001)


PLACES = [
    ("place_on", {"object": "blue block"}, (0.5, 0.2, 0.06)),
    ("place_in", {"object": "green bowl"}, (0.5, 0.2, 0.03)),
    ("place_at", {"place": "left side"}, (0.5, 0.2, 0.02)),
    ("place_at", {"place": (0.5, 0.2, 0.0)}, (0.5, 0.2, 0.02)),
    ("place_beside", {"object": "blue block", "direction": "bottom", "distance": 0.04}, (0.42, 0.2, 0.02)),
    ("place_offset", {"direction": "left", "distance": 0.1}, (0.5, 0.2, 0.02)),
]


@pytest.mark.parametrize(("name", "arguments", "where"), PLACES)
@pytest.mark.parametrize("width", [0.041, 0.08])
def test_what_was_let_go_where_it_should_is_only_left(
    library: SkillLibrary, thing: Any, scene_of: Any, ghost: Any, name: str, arguments: dict[str, Any],
    where: tuple[float, float, float], width: float,
) -> None:  # fmt: skip
    others = {"blue block": thing("blue block", 0.5, 0.2), "green bowl": thing("green bowl", 0.5, 0.2)}
    standing = [others[word] for word in (arguments.get("object"),) if word in others]
    scene = scene_of(thing("red block", *where[:2], z=where[2]), *standing)
    x, y, z = where
    origins = {"red block": (x, y - 0.1, 0.02)}
    hand = ghost(scene, pose=HandPose(x, y, z, 0.3).pose(), width=width, origins=origins)
    result = begun(library, hand, name, **arguments)

    assert result == SkillResult(SkillErrorCode.SUCCEEDED)
    assert hand.phases == (["release", "retreat"] if width < 0.05 else ["retreat"])
    assert hand.scene == scene
    assert hand.pose.position == pytest.approx((x, y, z + 0.08), abs=0.005)


def test_a_hand_far_from_what_lies_where_it_should_has_nothing_to_put_down(
    library: SkillLibrary, thing: Any, scene_of: Any, ghost: Any
) -> None:
    hand = ghost(scene_of(thing("red block", 0.5, 0.2)), pose=HandPose(0.5, -0.2, 0.05, 0.0).pose())
    result = begun(library, hand, "place_at", place="left side")

    assert result == SkillResult(
        SkillErrorCode.PRECONDITION_FAILED, "the gripper holds nothing; pick something up first"
    )


def test_the_funnel_is_a_shaft_that_widens_above_its_apex() -> None:
    assert in_funnel(replace(GOAL, x=0.5 + ASIDE - 1e-6), GOAL, 0.05)
    assert not in_funnel(replace(GOAL, x=0.5 + ASIDE + 1e-6, z=0.05), GOAL, 0.05)
    assert in_funnel(replace(GOAL, x=0.5 + ASIDE + 0.1 * _DESCENT_SLOPE - 1e-6, z=0.15), GOAL, 0.05)
    assert not in_funnel(replace(GOAL, yaw=TURNED + 0.1), GOAL, 0.05)
    assert in_funnel(replace(GOAL, yaw=TURNED + 0.1 * TURN_SLOPE - 1e-6, z=0.15), GOAL, 0.05)
    assert not in_funnel(replace(GOAL, z=0.01), GOAL, 0.05)


def test_a_way_down_keeps_clear_of_things_and_zones(thing: Any, scene_of: Any) -> None:
    high = HandPose(0.42, 0.1, 0.1, 0.0)

    def clear(*zones: Zone, others: Any = ()) -> bool:
        return is_clear([high, GOAL], lambda grip: hand_slices(grip, 0.05, DEFAULT_HAND), scene_of(*others), (), zones)

    assert clear()
    assert not clear(Zone("the vase", Shape.SPHERE, (0.02,), Pose((0.46, 0.1, 0.2)), 0.05))
    assert not clear(others=[thing("vase", 0.44, 0.1)])
    assert clear(others=[thing("vase", 0.5, 0.3)])


def test_a_descent_lies_within_the_way_that_is_forecast(thing: Any, scene_of: Any, observation: Any) -> None:
    """Never above it, and between its rise and its descent as seen from above."""
    start = HandPose(0.53, 0.08, 0.12, 0.2)
    arm = Arm(observation(start), ArmSettings())
    down, over = arm.descent(GOAL, 0.05), arm.travel(GOAL, 0.15)

    assert len(down) < len(over)
    assert max(leg.to.z for leg in down) <= max(leg.to.z for leg in over)
    assert {(leg.to.x, leg.to.y) for leg in down} == {(GOAL.x, GOAL.y)}


@pytest.fixture
def observation(scene_of: Any) -> Any:
    """An empty table with the hand at a grip."""
    return lambda grip: Observation(0.0, scene_of(), (0.0,) * 7, grip.pose(), 0.08)


def test_a_pick_begun_anew_at_any_moment_goes_the_same_way(
    library: SkillLibrary, thing: Any, scene_of: Any, ghost: Any
) -> None:
    """From each moment of one pick, the next second of a fresh one leads to much the same places."""
    seen: list[Observation] = []

    class Watched(ghost):  # type: ignore[misc]
        def _obey(self, reference: MotionReference) -> None:
            seen.append(self.observation())
            super()._obey(reference)

    hand = Watched(scene_of(thing("red block", 0.5, 0.1), thing("vase", 0.4, -0.2)))
    begun(library, hand, "pick", object="red block")
    for before in seen:
        script = library.find("pick").implementation.start({"object": "red block"}, before)
        anew = script.step(before)
        if isinstance(anew, MotionReference):
            there = anew.poses[-1].position
            later = [other.T_base_gripper.position for other in seen if 0 <= other.time - before.time < 1.6]
            assert min(math.dist(there, place) for place in later) < 0.03, before.T_base_gripper.position

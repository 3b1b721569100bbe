"""The scripted skills under zones: the hand takes the way that is forecast, or says why there is none."""

import math
from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np
import pytest

from llm_planner.plans.plan import goals_of
from llm_planner.plans.prediction import predict
from llm_planner.robots.arm_model import arm_model
from llm_planner.scene.scene import Pose, Scene
from llm_planner.scene.zones import Shape, Subject, Zone
from llm_planner.skills.arm_paths import distances
from llm_planner.skills.contract import SkillErrorCode, SkillResult
from llm_planner.skills.hand_geometry import rest_pose
from llm_planner.skills.library import SkillLibrary
from llm_planner.skills.paths import SkillCall, densify

PANDA = arm_model("panda")

OK = SkillResult(SkillErrorCode.SUCCEEDED)


def around(item: Any, clearance: float = 0.1) -> Zone:
    half = tuple(side / 2 for side in item.size)
    return Zone("the vase", Shape.BOX, half, Pose(item.position), clearance, Subject.GRIPPER)


def column(item: Any) -> Zone:
    return replace(around(item, 0.0), size=(item.size[0] / 2, item.size[1] / 2, 5.0))


@pytest.fixture
def table(thing: Any, scene_of: Any) -> Scene:
    return scene_of(thing("red block", 0.42, 0.3), thing("bowl", 0.45, -0.28), thing("vase", 0.5, 0.0))


def run(library: SkillLibrary, hand: Any, zones: tuple[Zone, ...], name: str, **arguments: Any) -> SkillResult:
    """The skill's end; the hand sees the zones at every step."""
    see = hand.observation
    hand.observation = lambda: replace(see(), zones=zones)
    return hand.run(library.find(name).start(arguments, hand.observation()))


def passed(hand: Any) -> np.ndarray:
    """Every point of every path that the hand was given, with its start."""
    return np.array(
        [rest_pose(PANDA.shape).pose().position, *(pose.position for ref in hand.references for pose in ref.poses)]
    )


@pytest.mark.parametrize("zone_of", [around, column, lambda item: around(item, 0.2)], ids=["near", "over", "20 cm"])
def test_a_thing_is_carried_round_or_over_what_is_forbidden(
    library: SkillLibrary, table: Scene, ghost: Any, zone_of: Any
) -> None:
    zone, hand = zone_of(table.find("vase")), ghost(table)
    assert run(library, hand, (zone,), "pick", object="red block") == OK
    assert run(library, hand, (zone,), "place_in", object="bowl") == OK
    assert run(library, hand, (zone,), "go_home") == OK
    assert float(distances(zone, passed(hand)).min()) > zone.clearance + 0.01


@pytest.mark.parametrize("zone_of", [around, column])
def test_the_hand_takes_the_way_that_is_forecast(library: SkillLibrary, table: Scene, ghost: Any, zone_of: Any) -> None:
    zones, hand = (zone_of(table.find("vase")),), ghost(table)
    run(library, hand, zones, "pick", object="red block")
    before, hand.references = replace(hand.scene, robot=hand.pose), []
    run(library, hand, zones, "place_in", object="bowl")
    skill, values = library.find("place_in").manifest.signature, {"object": "bowl"}
    promised = predict(before, goals_of(skill, "", values, before, {}))
    foreseen = densify(skill.forecast(SkillCall(values, before, promised, zones)), 0.005)
    corners = np.array([point.position for point in foreseen.points])
    taken = np.array([pose.position for ref in hand.references for pose in ref.poses])
    apart = np.linalg.norm(taken[:, None] - corners[None], axis=-1)
    assert apart.min(axis=1).max() < 0.025  # corners are rounded, and a block is put 2.2 cm beside the middle of a bowl
    assert apart.min(axis=0).max() < 0.03


def test_the_same_poses_are_asked_for_where_nothing_is_in_the_way(
    library: SkillLibrary, table: Scene, thing: Any, ghost: Any
) -> None:
    free, bound = ghost(table), ghost(table)
    run(library, free, (), "pick", object="red block")
    run(library, bound, (around(thing("vase", 0.6, -0.35)),), "pick", object="red block")
    assert free.references == bound.references


def test_what_lies_too_near_is_not_fetched(library: SkillLibrary, table: Scene, ghost: Any) -> None:
    zone, hand = around(table.find("vase"), 0.3), ghost(table)
    result = run(library, hand, (zone,), "pick", object="red block")
    assert result.code is SkillErrorCode.NO_FREE_SPACE
    assert result.message.startswith("the hand has to keep 30 cm from the vase")
    assert hand.references == []


def test_a_push_that_would_pass_too_near_is_refused(library: SkillLibrary, table: Scene, ghost: Any) -> None:
    hand = ghost(table)
    zone = around(table.find("vase"), 0.25)
    result = run(library, hand, (zone,), "push", object="red block", direction="right", distance=0.1)
    assert result.code is SkillErrorCode.NO_FREE_SPACE
    assert "the hand has to keep 25 cm from the vase" in result.message
    free = ghost(table)
    assert run(library, free, (), "push", object="red block", direction="right", distance=0.1).code is not result.code


def test_a_detour_is_one_motion_without_a_stop(library: SkillLibrary, table: Scene, ghost: Any) -> None:
    hand, zones = ghost(table), (column(table.find("vase")),)
    run(library, hand, zones, "pick", object="red block")
    hand.references = []
    run(library, hand, zones, "place_in", object="bowl")
    over = [ref.poses[0].position for ref in hand.references if abs(ref.poses[0].position[1]) < 0.25]
    assert len(over) > 5
    assert min(math.dist(a, b) / 0.1 for a, b in pairwise(over)) > 0.1

import math
from typing import Any

import pytest

from llm_planner.scene.scene import Scene
from llm_planner.skills.contract import SkillError, SkillErrorCode
from llm_planner.skills.footprints import footprint, separation
from llm_planner.skills.hand_geometry import HandPose
from llm_planner.skills.placement import Held, Release, held_in
from llm_planner.skills.spots import spot_at, spot_beside, spot_in, spot_offset

HAND = HandPose(0.4, 0.0, 0.25, 0.0)
GOAL = (0.45, 0.1)


def holding(scene_of: Any, thing: Any, *others: Any) -> tuple[Scene, Held]:
    scene = scene_of(thing("red block", 0.4, 0.0, z=0.25), *others, held="red block")
    return scene, held_in(scene, HAND, 0.04)


def test_where_the_table_is_free_an_offset_is_exact(scene_of: Any, thing: Any) -> None:
    scene, held = holding(scene_of, thing, thing("blue block", 0.45, -0.1))
    assert spot_offset(scene, held, GOAL).center == GOAL


@pytest.mark.parametrize("angle", [0.1, 0.8, 1.6, 2.5, 4.0])
def test_close_to_a_neighbour_a_thing_is_turned_rather_than_put_elsewhere(
    scene_of: Any, thing: Any, angle: float
) -> None:
    near = thing("blue block", GOAL[0] + 0.048 * math.cos(angle), GOAL[1] + 0.048 * math.sin(angle), yaw=angle)
    scene, held = holding(scene_of, thing, near)

    release = spot_offset(scene, held, GOAL)

    assert math.dist(release.center, GOAL) < 0.005
    assert separation(held.shape_at(release.center, release.grip.yaw), footprint(near)) >= 0.002


def test_an_offset_onto_something_is_refused_and_not_shortened(scene_of: Any, thing: Any) -> None:
    scene, held = holding(scene_of, thing, thing("blue block", GOAL[0] + 0.02, GOAL[1]))
    with pytest.raises(
        SkillError, match="there is no room for the red block exactly that far away; the blue block is in the way"
    ) as e:
        spot_offset(scene, held, GOAL)
    assert e.value.code is SkillErrorCode.NO_FREE_SPACE


def test_an_offset_off_the_table_is_out_of_reach(scene_of: Any, thing: Any) -> None:
    scene, held = holding(scene_of, thing)
    with pytest.raises(
        SkillError, match="the arm cannot reach the place exactly that far away with the hand down"
    ) as e:
        spot_offset(scene, held, (0.9, 0.0))
    assert e.value.code is SkillErrorCode.UNREACHABLE


MIDDLE = (0.45, 0.0)


def test_beside_takes_the_side_that_is_nearest_to_where_the_thing_was(scene_of: Any, thing: Any) -> None:
    scene, held = holding(scene_of, thing, thing("blue block", *MIDDLE))
    for near, center in (((0.45, 0.3), (0.45, 0.08)), ((0.45, -0.3), (0.45, -0.08)), ((0.6, 0.0), (0.53, 0.0))):
        release = spot_beside(scene, held, scene.find("blue block"), "any", 0.04, near)
        assert release.center == pytest.approx(center)


def test_beside_takes_another_side_where_that_one_is_taken(scene_of: Any, thing: Any) -> None:
    bowls = [thing("red bowl", 0.45, 0.14), thing("blue bowl", 0.45, -0.14), thing("pink bowl", 0.59, 0.0)]
    scene, held = holding(scene_of, thing, thing("blue block", *MIDDLE), *bowls)
    release = spot_beside(scene, held, scene.find("blue block"), "any", 0.04, (0.45, 0.3))
    assert release.center == pytest.approx((0.37, 0.0))


def test_beside_stays_within_the_workspace_where_it_can(scene_of: Any, thing: Any) -> None:
    scene, held = holding(scene_of, thing, thing("blue block", 0.45, 0.38))
    release = spot_beside(scene, held, scene.find("blue block"), "any", 0.04, (0.45, 0.6))
    assert release.center[1] < 0.4


def test_a_thing_that_is_surrounded_has_no_side_left(scene_of: Any, thing: Any) -> None:
    around = [thing(f"{c} bowl", 0.45 + x, y) for c, x, y in
              (("red", 0.0, 0.13), ("blue", 0.0, -0.13), ("pink", 0.13, 0.0), ("cyan", -0.13, 0.0))]  # fmt: skip
    scene, held = holding(scene_of, thing, thing("blue block", *MIDDLE), *around)
    with pytest.raises(SkillError, match=r"no room for the red block 0.04 m beside the blue block on any side") as e:
        spot_beside(scene, held, scene.find("blue block"), "any", 0.04, (0.45, 0.3))
    assert e.value.code is SkillErrorCode.NO_FREE_SPACE
    with pytest.raises(
        SkillError, match=r"no room for .* beside the blue block on that side; the red bowl is in the way"
    ):
        spot_beside(scene, held, scene.find("blue block"), "left", 0.04, (0.45, 0.3))


def test_a_spot_without_a_way_is_passed_over_and_where_none_has_one_the_first_reason_is_told(
    scene_of: Any, thing: Any
) -> None:
    scene, held = holding(scene_of, thing, thing("bowl", 0.5, 0.0))
    bowl = scene.find("bowl")

    def not_there(release: Release) -> None:
        if release.center[1] > -0.05:
            told = f"the hand finds no way to {release.center[0]:.2f}"
            raise SkillError(SkillErrorCode.NO_FREE_SPACE, told)

    free = spot_beside(scene, held, bowl, "any", 0.02, (0.4, 0.1))
    assert free.center[1] > -0.05
    assert spot_beside(scene, held, bowl, "any", 0.02, (0.4, 0.1), not_there).center[1] < -0.05
    with pytest.raises(SkillError, match=r"the hand finds no way to 0\.50"):
        spot_beside(scene, held, bowl, "left", 0.02, (0.4, 0.1), not_there)
    with pytest.raises(SkillError, match=r"the hand finds no way to 0\.45"):
        spot_at(scene, held, (0.45, 0.2), not_there)
    with pytest.raises(SkillError, match="the hand finds no way to"):
        spot_in(scene, held, "left side", not_there)

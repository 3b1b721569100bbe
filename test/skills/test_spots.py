import math
from typing import Any

import pytest

from llm_planner.skills.contract import SkillErrorCode
from llm_planner.skills.errors import SkillError
from llm_planner.skills.footprints import footprint, separation
from llm_planner.skills.gripper_shape import Grip
from llm_planner.skills.placement import Held, held_in
from llm_planner.skills.spots import spot_offset
from llm_planner.world.scene import Scene

HAND = Grip(0.4, 0.0, 0.25, 0.0)
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

import numpy as np
import pytest

from llm_planner.errors import InputError
from llm_planner.robots.arm_model import ArmShape, arm_model
from llm_planner.scene.places import WORKSPACE
from llm_planner.simulation.objects import KINDS, named, parse_objects
from llm_planner.simulation.tabletop import CLEARANCES, default_objects, draw_layout, fitted, size_for

PANDA = arm_model("panda")


def _gaps(objects, places) -> np.ndarray:
    """Free table between the footprints of each pair [m]."""
    points = np.array([(place.x, place.y) for place in places])
    radii = np.array([KINDS[item.kind].radius for item in objects])
    gaps = np.linalg.norm(points[:, None] - points, axis=-1) - radii - radii[:, None]
    return gaps[np.triu_indices(len(objects), 1)]


@pytest.mark.parametrize("seed", range(60))
def test_fingers_fit_between_the_objects_of_a_default_scene_and_all_lie_in_the_workspace(seed: int):
    rng = np.random.default_rng(seed)
    objects = default_objects(rng)
    places = draw_layout(objects, rng, PANDA.shape)
    assert _gaps(objects, places).min() >= CLEARANCES[0]
    for item, place in zip(objects, places, strict=True):
        assert WORKSPACE.contains(place.x, place.y, margin=-KINDS[item.kind].radius)


def test_a_default_scene_has_four_blocks_and_three_bowls_of_different_colours():
    for seed in range(30):
        objects = default_objects(np.random.default_rng(seed))
        for kind, count in (("block", 4), ("bowl", 3)):
            colors = [item.color for item in objects if item.kind == kind]
            assert len(colors) == len(set(colors)) == count


def test_the_same_seed_gives_the_same_layout_and_another_seed_another():
    objects = parse_objects("red block, green bowl, mug")
    layouts = [draw_layout(objects, np.random.default_rng(seed), PANDA.shape) for seed in (7, 7, 8)]
    assert layouts[0] == layouts[1] != layouts[2]


def test_a_crowded_table_gets_narrower_gaps_but_no_overlap():
    objects = named([("", "bowl")] * 6 + [("", "block")] * 8)
    gaps = _gaps(objects, draw_layout(objects, np.random.default_rng(0), PANDA.shape))
    assert CLEARANCES[-1] <= gaps.min() < CLEARANCES[0]


def test_too_many_objects_are_refused():
    with pytest.raises(InputError, match="20 objects do not fit on the table; ask for fewer"):
        draw_layout(named([("", "plate")] * 20), np.random.default_rng(0), PANDA.shape)


def test_a_short_arm_gets_smaller_things_within_its_reach():
    arm = arm_model("so_arm").shape
    for seed in range(20):
        rng = np.random.default_rng(seed)
        objects = fitted(default_objects(rng), arm)
        assert {item.scale for item in objects} == {size_for(arm)}
        assert all(min(grasp.width for grasp in item.shape.grasps) < arm.gripper.widest_object for item in objects)
        assert all(arm.reaches(place.x, place.y) for place in draw_layout(objects, rng, arm))


def test_a_large_arm_gets_things_of_their_usual_size():
    objects = default_objects(np.random.default_rng(0))
    for name in ("panda", "ur5e", "xarm7"):
        assert fitted(objects, arm_model(name).shape) == objects


def test_everything_lies_where_the_arm_reaches():
    arm = ArmShape("short", ((0.0, 0.4, 0.5), (0.5, 0.4, 0.5)), (0.45, 0.0, 0.3))
    for seed in range(20):
        places = draw_layout(parse_objects("red block, blue block, mug"), np.random.default_rng(seed), arm)
        assert all(arm.reaches(place.x, place.y) for place in places)

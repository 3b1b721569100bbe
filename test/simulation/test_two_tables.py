"""The room with two tables: what its layout promises, and that its arm and base move as they are told."""

from __future__ import annotations

import numpy as np
import pytest

from llm_planner.errors import InputError
from llm_planner.robots.arm_model import arm_model
from llm_planner.robots.motion import JointTrajectory
from llm_planner.scene.driven_base import in_map
from llm_planner.scene.predicates import on
from llm_planner.simulation.objects import parse_objects
from llm_planner.simulation.two_tables import TwoTables
from llm_planner.simulation.worlds import copy_of, open_world

ROBOT = arm_model("mobile_ur5e")


def driving(world: TwoTables, velocity: tuple[float, float, float], seconds: float) -> JointTrajectory:
    """Return a trajectory of the base with one velocity in the map."""
    here = np.tile(world.base_state().qpos, (2, 1))
    return JointTrajectory(world.time, seconds, here, np.tile(velocity, (2, 1)), np.zeros((1, 3)), 0.08)


@pytest.mark.parametrize("seed", range(5))
def test_every_thing_stands_on_a_table(seed):
    scene = open_world("two_tables", seed).scene()
    tables = [item.name for item in scene.objects if item.kind == "table"]
    assert tables == ["left table", "right table"]
    things = [name for name in scene.names if name not in tables]
    assert all(any(on(scene, name, table) for table in tables) for name in things)


def test_the_arm_starts_tucked_and_its_scene_is_in_the_frame_of_its_base():
    world = TwoTables(0, arm=ROBOT)
    scene = world.scene()
    assert scene.robot_kind == "arm"
    assert scene.robot.position == pytest.approx(ROBOT.shape.rest, abs=0.002)
    assert world.gripper_pose().position == pytest.approx(scene.robot.position, abs=1e-3)


def test_a_drive_moves_the_base_and_leaves_the_things_where_they_are():
    world = TwoTables(0, parse_objects("red block, mug"), arm=ROBOT)
    before, start = in_map(world.scene()), world.base_state().qpos
    world.base.follow(driving(world, (0.3, 0.0, 0.5), 1.0), 1.0)
    moved = world.base_state().qpos - start
    assert moved == pytest.approx((0.3, 0.0, 0.5), abs=0.06)
    after = in_map(world.scene())
    for name in before.names:
        assert after.find(name).position == pytest.approx(before.find(name).position, abs=1e-3)


def test_a_base_that_stands_holds_its_place():
    world = TwoTables(0, parse_objects("red block"), arm=ROBOT)
    world.base.follow(driving(world, (0.3, 0.0, 0.0), 0.5), 0.5)
    world.base.follow(driving(world, (0.0, 0.0, 0.0), 1.0), 1.0)
    here = world.base_state().qpos
    world.base.follow(driving(world, (0.0, 0.0, 0.0), 1.0), 1.0)
    assert np.abs(world.base_state().qpos - here).max() < 1e-4


def test_a_copy_has_base_tables_and_things_where_the_scene_has_them():
    scene = TwoTables(3, arm=ROBOT).scene()
    copied = copy_of(scene).scene()
    for item in scene.objects:
        assert copied.find(item.name).position == pytest.approx(item.position, abs=2e-3)


def test_a_layout_depends_on_its_seed_only():
    first, again = (TwoTables(5, arm=ROBOT).scene() for _ in range(2))
    assert first.objects == again.objects


def test_an_arm_that_stands_fixed_cannot_drive_between_tables():
    with pytest.raises(InputError, match="'panda' cannot drive between two tables; choose mobile_ur5e"):
        TwoTables(0, arm=arm_model("panda"))


def test_an_arm_that_drives_is_not_for_the_one_table():
    with pytest.raises(InputError, match=r"'mobile_ur5e' is an arm on a mobile base, .* --world two_tables"):
        open_world("tabletop", robot="mobile_ur5e")

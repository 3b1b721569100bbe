"""Several arms at one simulated table: one clock, scenes in each arm's own frame, contacts between arms counted."""

from __future__ import annotations

import numpy as np
import pytest

from llm_planner.control.formulation import hold
from llm_planner.errors import InputError
from llm_planner.scene.geometry import compose
from llm_planner.scene.scene import Pose
from llm_planner.scene.shared_table import SharedTable, Station
from llm_planner.simulation.objects import parse_objects
from llm_planner.simulation.table_world import TableWorld, can_work_at
from llm_planner.simulation.worlds import TWO_ARMS, open_shared_world, open_world

FACING = SharedTable((Station("left", "panda", 0.0, 0.0), Station("right", "ur5e", 1.5, 0.0, np.pi)))


@pytest.mark.parametrize("table", [TWO_ARMS, FACING])
def test_every_arm_sees_the_same_things_in_its_own_base_frame(table):
    world = TableWorld(table, seed=1, objects=parse_objects("red block, green bowl, blue block"))
    for name in ("red block", "green bowl", "blue block"):
        places = []
        for station in table.stations:
            item = world.robots[station.name].scene().find(name)
            places.append(compose(station.base, Pose(item.position, item.orientation)).position)
        assert places[0] == pytest.approx(places[1], abs=1e-9)


def test_an_arm_follows_its_motion_while_the_other_stands_still_on_the_same_clock():
    world = TableWorld(TWO_ARMS, seed=1)
    left, right = world.robots["left"], world.robots["right"]
    before = right.joint_state().qpos
    goal = np.add(left.arm.home, [0.0, 0.0, 0.0, 0.0, 0.0, 0.05, 0.0])
    left.follow(hold(goal, 0.0, 0.1, 0.02), 1.0)
    world.advance(1.0)
    assert left.joint_state().qpos == pytest.approx(goal, abs=0.01)
    assert left.gripper_width() == pytest.approx(0.02, abs=0.002)
    assert right.joint_state().qpos == pytest.approx(before, abs=1e-4)
    assert left.time == right.time == pytest.approx(1.0)
    assert world.touches == 0


def test_contacts_between_arms_are_counted():
    table = SharedTable((Station("left", "panda", 0.0, 0.36), Station("right", "panda", 0.0, -0.36)), strip=0.36)
    world = TableWorld(table, seed=1)
    for name, turn in (("left", -1.4), ("right", 1.4)):  # towards each other
        arm = world.robots[name]
        arm.follow(hold(np.add(arm.arm.home, [turn, 0.5, 0, 0, 0, 0, 0]), 0.0, 0.1, 0.08), 2.0)
    world.advance(2.0)
    assert world.touches > 0


def test_things_are_drawn_on_each_side_and_in_the_strip():
    world = TableWorld(TWO_ARMS, seed=3, objects=parse_objects("red block, blue block, mug"))
    places = [world.data.joint(name).qpos[:2].tolist() for name in ("red block", "blue block", "mug")]
    alone = [[name for name in TWO_ARMS.names if can_work_at(TWO_ARMS, name, *place, False)] for place in places]
    assert alone == [["left"], ["right"], []]


def test_an_arm_whose_home_is_not_on_its_own_side_is_refused():
    table = SharedTable((Station("left", "panda", 0.0, 0.36), Station("right", "ur5e", 0.0, -0.36)))
    with pytest.raises(InputError, match=r"'right' \(ur5e\) at home is -\d+ cm from the strip towards 'left' .*apart"):
        TableWorld(table)


def test_a_world_with_several_robots_is_opened_as_such_only():
    assert open_shared_world("tabletop") is None
    assert set(open_shared_world("two_arms", objects=parse_objects("mug")).robots) == {"left", "right"}
    with pytest.raises(InputError, match="has several robots: start them with llm-planner up --world two_arms"):
        open_world("two_arms")

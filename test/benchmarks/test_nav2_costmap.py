"""The costmap of the stand-in for nav2: walls, doors, things, and the mask of a keep-out filter."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from nav2_rooms.costmap import Costmap, Mask

from llm_planner.simulation.worlds import open_world
from llm_planner.skills.floor_paths import floor_of
from llm_planner.skills.keepout_mask import gaps_of, keepout_mask


@pytest.fixture(scope="module")
def scene():
    return open_world("rooms", 4).scene()


def rooms_on(scene, start, corners) -> set[str]:
    points = [
        np.array(a) + share * (np.array(b) - a)
        for a, b in pairwise((start, *corners))
        for share in np.linspace(0, 1, 50)
    ]
    return {scene.building.room_at(*point.tolist()) for point in points}


def test_every_room_can_be_reached_through_the_doors(scene):
    costs, start = Costmap(scene), scene.robot.position[:2]
    for room in scene.building.names:
        path = costs.path(start, floor_of(scene.building, scene).middle(room))
        assert path
        assert all(costs.sees(a, b) for a, b in pairwise((start, *path)))


def test_a_mask_closes_a_room_and_another_way_is_found_or_none(scene):
    start, free = scene.robot.position[:2], Costmap(scene)
    for room in scene.building.names:
        goal = floor_of(scene.building, scene).middle(room)
        for closed in rooms_on(scene, start, free.path(start, goal)) - {room, scene.robot_room}:
            area = scene.building.find(closed).area
            mask = np.zeros((400, 400), dtype=np.bool_)
            mask[:] = True
            size = (round((area.y_max - area.y_min) / 0.05), round((area.x_max - area.x_min) / 0.05))
            costs = Costmap(scene, Mask((area.x_min, area.y_min), 0.05, mask[: size[0], : size[1]]))
            assert closed not in rooms_on(scene, start, costs.path(start, goal))


def test_the_mask_of_the_product_is_read_as_it_is_meant(scene):
    open_mask = keepout_mask(scene.building, gaps_of((), scene.robot.position[:2]))
    costs = Costmap(scene, Mask(open_mask.origin, open_mask.resolution, open_mask.closed))
    assert costs.is_free(scene.robot.position[:2])

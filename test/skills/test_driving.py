"""Timed ways of a mobile base, and ways around what stands in it."""

import math
from itertools import pairwise

import numpy as np
import pytest

from llm_planner.scene.geometry import yaw_of
from llm_planner.scene.places import Rectangle
from llm_planner.skills.base import DriveLimits, timed_drive
from llm_planner.skills.floor_paths import Obstacle, way_around
from llm_planner.skills.motion import PATH_DT

LIMITS = DriveLimits()
ROOM = Rectangle(0.0, 4.0, 0.0, 4.0)


def positions(points):
    poses = timed_drive(points, 0.0, LIMITS)
    return np.array([points[0], *(pose.position[:2] for pose in poses)])


def test_a_drive_ends_where_it_is_told_and_keeps_speed_and_acceleration():
    way = positions([(0.0, 0.0), (5.0, 0.0)])
    speed = np.diff(way[:, 0]) / PATH_DT
    assert way[-1] == pytest.approx([5.0, 0.0])
    assert speed.max() == pytest.approx(LIMITS.speed, rel=0.02)
    assert np.abs(np.diff(speed)).max() <= 1.1 * LIMITS.acceleration * PATH_DT
    assert max(speed[0], speed[-1]) < 0.1


def test_a_sharp_corner_is_taken_slowly_and_a_blunt_one_is_not():
    sharp, blunt = (positions([(0.0, 0.0), (3.0, 0.0), end]) for end in ((3.0, 3.0), (6.0, 0.3)))
    speeds = [np.linalg.norm(np.diff(way, axis=0), axis=1) / PATH_DT for way in (sharp, blunt)]
    at_corner = [
        speed[np.argmin(np.abs(way[1:] - (3.0, 0.0)).sum(axis=1))]
        for way, speed in zip((sharp, blunt), speeds, strict=True)
    ]
    assert at_corner[0] < 0.5
    assert at_corner[1] > 1.1


def test_the_base_faces_where_it_goes():
    poses = timed_drive([(0.0, 0.0), (0.0, 2.0), (-2.0, 2.0)], 0.0, LIMITS)
    assert yaw_of(poses[2]) == pytest.approx(math.pi / 2)
    assert abs(yaw_of(poses[-1])) == pytest.approx(math.pi)


def test_a_way_without_length_keeps_place_and_yaw():
    (pose,) = timed_drive([(1.0, 2.0), (1.0, 2.0)], 0.7, LIMITS)
    assert pose.position[:2] == (1.0, 2.0)
    assert yaw_of(pose) == pytest.approx(0.7)


def test_a_free_way_is_straight():
    assert way_around((0.0, 0.0), (4.0, 0.0), [Obstacle((2.0, 2.0), 0.5)], ROOM) == ((4.0, 0.0),)


def clear_of(disc, start, way):
    return all(not disc.blocks(a, b) for a, b in pairwise([start, *way]))


def test_an_obstacle_is_passed_on_the_shorter_side_and_not_touched():
    disc = Obstacle((2.0, 2.2), 0.5)
    way = way_around((0.5, 2.0), (3.5, 2.0), [disc], ROOM)
    assert way[-1] == (3.5, 2.0)
    assert clear_of(disc, (0.5, 2.0), way)
    assert all(y < 2.2 for _, y in way)


def test_a_way_that_is_closed_on_one_side_leads_along_the_other():
    low, high = Obstacle((2.0, 1.5), 0.8), Obstacle((2.0, 0.5), 0.6)
    way = way_around((0.5, 1.0), (3.5, 1.0), [low, high], ROOM)
    assert max(y for _, y in way) > 2.2
    assert all(clear_of(disc, (0.5, 1.0), way) for disc in (low, high))


def test_who_stands_too_close_to_something_goes_away_from_it_and_not_through_it():
    near = Obstacle((1.3, 2.0), 0.5)
    way = way_around((1.0, 2.0), (3.5, 2.0), [near], ROOM)
    assert clear_of(Obstacle(near.center, 0.27), (1.0, 2.0), way)
    assert len(way) > 1


def test_a_narrow_way_is_taken_closely_and_a_closed_one_straight():
    gate = [Obstacle((2.0, 0.9), 1.0), Obstacle((2.0, 3.0), 1.2)]
    way = way_around((0.3, 2.0), (3.7, 2.0), gate, ROOM)
    assert all(clear_of(Obstacle(disc.center, 0.86 * disc.radius), (0.3, 2.0), way) for disc in gate)
    closed = [Obstacle((2.0, 0.0), 1.5), Obstacle((2.0, 4.0), 1.5), Obstacle((2.0, 2.0), 1.5)]
    assert way_around((0.3, 2.0), (3.7, 2.0), closed, ROOM) == ((3.7, 2.0),)


def test_who_drives_already_goes_on_at_that_speed():
    poses = timed_drive([(0.0, 0.0), (3.0, 0.0)], 0.0, LIMITS, begin=0.6)
    assert poses[0].position[0] == pytest.approx(0.6 * PATH_DT, rel=0.2)


def test_who_drives_too_fast_to_stop_in_time_slows_down_as_it_should_have():
    poses = timed_drive([(0.0, 0.0), (0.05, 0.0)], 0.0, LIMITS, begin=1.2)
    assert poses[-1].position[0] == pytest.approx(0.05)
    assert len(poses) * PATH_DT >= math.sqrt(2 * 0.05 / LIMITS.acceleration) - PATH_DT

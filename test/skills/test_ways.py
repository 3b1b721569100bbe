"""The way of the hand: as ever where nothing is forbidden, else round or over what is."""

import math
import time
from itertools import pairwise

import numpy as np
import pytest

from llm_planner.robots.arm_model import ArmShape, arm_model
from llm_planner.scene.scene import Pose
from llm_planner.scene.zones import Shape, Subject, Zone
from llm_planner.skills.arm_paths import HAND, check_line, distances, shortest, way_to
from llm_planner.skills.contract import SkillError, SkillErrorCode
from llm_planner.skills.hand_geometry import HandPose, into_reach, rest_pose
from llm_planner.skills.motion import Leg, MotionLimits, plan_path

PANDA = arm_model("panda")

LEFT, RIGHT = HandPose(0.45, 0.25, 0.03, 0.2), HandPose(0.45, -0.25, 0.04, -0.3)
CRUISE = 0.18
NO_WAY = SkillErrorCode.NO_FREE_SPACE


def near(clearance=0.1, x=0.5, y=0.0, subject=Subject.GRIPPER):
    return Zone("the vase", Shape.BOX, (0.024, 0.024, 0.06), Pose((x, y, 0.06)), clearance, subject)


def over(x=0.5, y=0.0):
    return Zone("the vase", Shape.BOX, (0.024, 0.024, 5.0), Pose((x, y, 0.06)), 0.0, Subject.GRIPPER)


def path(start, goal, zones):
    """The points that the hand passes, a quarter of a stage apart."""
    legs = [*(Leg(corner) for corner in way_to(start, goal, CRUISE, PANDA.shape, zones)), Leg(goal, 0.6)]
    points = np.array([start.pose().position, *(pose.position for pose in plan_path(start, legs, MotionLimits()))])
    between = [a + share * (b - a) for a, b in pairwise(points) for share in (0.0, 0.25, 0.5, 0.75)]
    return np.array([*between, points[-1]])


def room_left(points, zones):
    return min(float(distances(zone, points).min()) - zone.clearance for zone in zones)


def test_without_zones_the_hand_rises_swings_over_and_goes_down():
    assert way_to(LEFT, RIGHT, CRUISE, PANDA.shape) == (LEFT.raised(CRUISE), RIGHT.raised(CRUISE))
    high = LEFT.raised(0.4)
    assert way_to(high, RIGHT, CRUISE, PANDA.shape) == (RIGHT.raised(CRUISE),)
    assert way_to(LEFT, rest_pose(PANDA.shape), CRUISE, PANDA.shape) == (LEFT.raised(CRUISE), rest_pose(PANDA.shape))


def test_each_arm_keeps_within_its_own_reach():
    short = ArmShape("short", ((0.0, 0.2, 0.5), (0.5, 0.2, 0.4)), (0.3, 0.0, 0.4))
    for zones in ((), (over(),)):
        for shape in (short, PANDA.shape):
            corners = way_to(LEFT, RIGHT, CRUISE, shape, zones)
            assert corners == tuple(into_reach(grip, shape) for grip in corners)
    assert way_to(LEFT, RIGHT, CRUISE, short, (over(),)) != way_to(LEFT, RIGHT, CRUISE, PANDA.shape, (over(),))


@pytest.mark.parametrize("zone", [near(x=0.6, y=0.35), over(x=0.3), near(0.2, x=0.62, y=0.4)])
def test_what_is_not_in_the_way_changes_nothing(zone):
    goal = HandPose(0.5, -0.3, 0.05, 0.0)
    start = HandPose(0.4, -0.05, 0.05, 0.0) if zone.clearance else HandPose(0.5, 0.3, 0.05, 0.0)
    assert way_to(start, goal, CRUISE, PANDA.shape, (zone,)) == way_to(start, goal, CRUISE, PANDA.shape)


@pytest.mark.parametrize("zone", [near(), near(0.2), over()])
def test_what_is_in_the_way_is_passed_with_room_to_spare(zone):
    straight = path(LEFT, RIGHT, ())
    assert room_left(straight, [zone]) < 0.0
    assert room_left(path(LEFT, RIGHT, (zone,)), [zone]) > 0.01


def test_the_hand_may_pass_over_what_it_stays_away_from_but_not_over_what_it_never_reaches_over():
    above = path(LEFT, RIGHT, (near(),))
    assert np.abs(above[:, :2] - (0.5, 0.0)).max(axis=1).min() < 0.05
    around = path(LEFT, RIGHT, (over(),))
    assert np.abs(around[:, :2] - (0.5, 0.0)).max(axis=1).min() > 0.024
    assert around[:, 2].max() == pytest.approx(CRUISE, abs=1e-6)


def test_a_zone_for_the_whole_robot_is_passed_with_room_for_the_hand():
    zone = Zone("the lamp", Shape.CYLINDER, (0.02, 5.0), Pose((0.5, 0.0, 0.0)), 0.01, Subject.ROBOT)
    assert room_left(path(LEFT, RIGHT, (zone,)), [zone]) > HAND + 0.01


def drawn(rng):
    """A start, a goal and two zones in which neither lies."""
    while True:
        a, b, *stand = rng.uniform((0.3, -0.4), (0.64, 0.4), (4, 2)).tolist()
        start = rest_pose(PANDA.shape) if rng.random() < 0.3 else HandPose(*a, 0.03, 0.0)
        goal = HandPose(*b, 0.04, 0.5)
        kinds = [(near, 0.1), (near, 0.2), (over, None)]
        chosen = [kinds[k] for k in rng.permutation(3)[:2]]
        zones = tuple(
            kind(x=x, y=y) if clearance is None else kind(clearance, x, y)
            for (kind, clearance), (x, y) in zip(chosen, stand, strict=True)
        )
        spare = room_left(np.array([start.pose().position, goal.pose().position]), zones)
        if spare > 0.0:
            return start, goal, zones, spare


def test_wherever_things_stand_the_path_keeps_out():
    rng, found = np.random.default_rng(1), 0
    for _ in range(60):
        start, goal, zones, spare = drawn(rng)
        try:
            points = path(start, goal, zones)
        except SkillError:  # there may be no way
            continue
        found += 1
        assert room_left(points, zones) > min(0.5 * spare, 0.01) - 0.001
        for x, y, z in points[1:]:
            assert PANDA.shape.radius_range(z)[0] - 0.01 < math.hypot(x, y) < PANDA.shape.radius_range(z)[1] + 0.01
            assert z < max(start.z, PANDA.shape.heights.detour_max) + 1e-6
    assert found > 55


def test_a_goal_that_is_forbidden_is_refused_with_the_thing_and_its_distance():
    told = r"the hand has to keep 20 cm from the vase.*, and would come within 7.6 cm"
    with pytest.raises(SkillError, match=told) as refusal:
        way_to(LEFT, HandPose(0.4, 0.0, 0.03, 0.0), CRUISE, PANDA.shape, (near(0.2),))
    assert refusal.value.code is NO_WAY
    with pytest.raises(SkillError, match=r"the hand has to keep clear of the vase.*, and would come within 0.0 cm"):
        way_to(LEFT, HandPose(0.5, 0.0, 0.15, 0.0), CRUISE, PANDA.shape, (over(),))


def test_where_no_way_is_left_that_is_said():
    wall = Zone("the wall", Shape.BOX, (5.0, 0.02, 5.0), Pose((0.0, 0.0, 0.0)), 0.05, Subject.GRIPPER)
    told = "the hand finds no way there that keeps 5 cm from the wall and clear of the vase"
    with pytest.raises(SkillError, match=told) as refusal:
        way_to(LEFT, RIGHT, CRUISE, PANDA.shape, (wall, over(), wall))
    assert refusal.value.code is NO_WAY


def test_a_hand_that_is_too_near_may_leave():
    start = HandPose(0.5, 0.12, 0.03, 0.0)
    zone = near()
    gaps = distances(zone, path(start, HandPose(0.5, 0.35, 0.03, 0.0), (zone,)))
    assert gaps[0] < zone.clearance
    assert gaps.min() > gaps[0] - 0.001
    assert gaps[-1] > zone.clearance


def test_a_line_that_cannot_be_bent_is_refused_where_it_comes_too_near():
    check_line(LEFT, HandPose(0.45, 0.15, 0.03, 0.2), (near(),))
    with pytest.raises(
        SkillError,
        match=r"the hand has to keep 10 cm from the vase.*, and would come within 2\.6 cm",
    ):
        check_line(LEFT, RIGHT, (near(),))


def test_the_same_way_whatever_the_hand_s_turn():
    turned = way_to(HandPose(LEFT.x, LEFT.y, LEFT.z, 1.0), RIGHT, CRUISE, PANDA.shape, (over(),))
    straight = way_to(LEFT, RIGHT, CRUISE, PANDA.shape, (over(),))
    assert [(g.x, g.y, g.z) for g in turned] == [(g.x, g.y, g.z) for g in straight]


def test_the_hand_turns_evenly_on_its_way_around():
    corners = [LEFT, *way_to(LEFT, RIGHT, CRUISE, PANDA.shape, (over(),))]
    turns = [grip.yaw - math.atan2(grip.y, grip.x) for grip in corners]
    assert turns == sorted(turns, reverse=turns[0] > turns[-1])
    assert all(into_reach(grip, PANDA.shape) == grip for grip in corners[1:])


def test_the_shortest_of_two_ways_is_found_and_none_where_there_is_none():
    inf = math.inf
    metres = np.array([[inf, 1.0, 2.5, inf], [1.0, inf, 1.0, 4.0], [2.5, 1.0, inf, 1.0], [inf, 4.0, 1.0, inf]])
    assert shortest(metres) == [0, 1, 2, 3]
    metres[2, 3] = metres[3, 2] = metres[1, 3] = metres[3, 1] = inf
    assert shortest(metres) == []


def test_a_way_is_found_within_twenty_milliseconds_of_computing():
    zones = (near(), over(0.42, 0.1))
    spent = []
    for k in range(9):
        start = HandPose(LEFT.x + 1e-4 * k, LEFT.y, LEFT.z, LEFT.yaw)  # not one that is remembered
        began = time.thread_time()
        way_to(start, RIGHT, CRUISE, PANDA.shape, zones)
        spent.append(time.thread_time() - began)
    assert sorted(spent)[4] < 0.02

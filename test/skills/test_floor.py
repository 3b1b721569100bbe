"""Where a mobile base stands and drives among what stands in a building."""

import math
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest

from llm_planner.errors import InputError
from llm_planner.robots.mobile_base import BASE_RADIUS
from llm_planner.scene.places import Rectangle
from llm_planner.scene.scene import IDENTITY, Building, Door, Pose, Room, Scene, SceneObject
from llm_planner.scene.zones import Shape, Subject, Zone
from llm_planner.skills.arm_paths import distances
from llm_planner.skills.contract import SkillError
from llm_planner.skills.floor_paths import ROOM_TO_PASS, floor_of

HOUSE = Building(
    (Room("den", Rectangle(0.0, 4.0, 0.0, 4.0)), Room("loft", Rectangle(4.0, 8.0, 0.0, 4.0))),
    (Door(("den", "loft"), (4.0, 2.0)),),
)


def crate(name, x, y):
    return SceneObject(name, "crate", "", (x, y, 0.2), IDENTITY, (0.3, 0.3, 0.4))


def floor(*things, held="", zones=()):
    return floor_of(HOUSE, Scene(0.0, things, held=held, robot=Pose((1.0, 2.0, 0.0)), building=HOUSE), zones)


def printer(x, y, clearance=1.0, subject=Subject.GRIPPER):
    return Zone("the printer", Shape.BOX, (0.3, 0.2, 5.0), Pose((x, y, 0.0)), clearance, subject)


def nearest(way, zone):
    """Of all points of the way to the zone's solid [m]."""
    points = [np.linspace((*a, 0.0), (*b, 0.0), 200) for a, b in pairwise(way)]
    return float(distances(zone, np.concatenate(points)).min())


def zone_gap(zone, place):
    return float(distances(zone, np.array((*place, 0.0))))


def test_a_thing_is_approached_on_the_side_of_the_middle_of_its_room():
    box = crate("box", 6.0, 1.0)
    assert floor(box).beside(box) == pytest.approx((6.0, 1.5))


def test_where_that_side_is_taken_it_is_approached_beside_it():
    box, other = crate("box", 6.0, 1.0), crate("other", 6.0, 2.0)
    x, y = floor(box, other).beside(box)
    assert math.dist((x, y), (6.0, 1.0)) == pytest.approx(0.5)
    assert math.dist((x, y), (6.0, 2.0)) >= math.hypot(0.3, 0.3) / 2 + BASE_RADIUS + ROOM_TO_PASS


def test_the_middle_of_a_room_gives_way_to_what_stands_there():
    assert floor().middle("loft") == (6.0, 2.0)
    x, y = floor(crate("box", 6.0, 2.0)).middle("loft")
    assert 0.4 < math.dist((x, y), (6.0, 2.0)) < 0.9


def test_a_way_goes_straight_through_doors_and_around_what_stands_in_it():
    free, around = floor().way((1.0, 2.0), (7.0, 2.0)), floor(crate("box", 6.0, 2.0)).way((1.0, 2.0), (7.0, 2.0))
    assert {y for _, y in free} == {2.0}
    assert around[: len(free) - 1] == free[:-1]
    assert len(around) > len(free)


@pytest.mark.parametrize("zone", [printer(2.0, 1.6), printer(2.0, 1.6, 0.7, Subject.ROBOT), printer(6.0, 2.6, 0.9)])
def test_a_way_keeps_what_a_rule_asks_for_and_is_hardly_longer_than_it_must(zone):
    way = floor(zones=(zone,)).way((0.4, 1.8), (7.5, 2.0))
    least = zone.clearance + (BASE_RADIUS if zone.subject is Subject.ROBOT else 0.0)
    assert nearest(floor().way((0.4, 1.8), (7.5, 2.0)), zone) < least
    assert least + 0.03 <= nearest(way, zone) <= least + 0.2


def test_the_place_beside_a_thing_and_the_middle_of_a_room_are_chosen_where_a_rule_allows_them():
    box, zone = crate("box", 6.0, 1.0), printer(6.0, 2.2, 0.6)
    for choose in (lambda at: at.beside(box), lambda at: at.middle("loft")):
        x, y = choose(floor(box))
        assert zone_gap(zone, (x, y)) < 0.6
        assert zone_gap(zone, choose(floor(box, zones=(zone,)))) >= 0.6


def test_near_its_goal_a_way_needs_no_more_than_the_least():
    zone = printer(6.0, 2.0, 1.0)
    x = 6.0 - 0.3 - 1.0 - 0.04
    assert floor(zones=(zone,)).way((1.0, 2.0), (x, 2.0))[-1] == (x, 2.0)


def test_who_stands_in_a_zone_leaves_it():
    zone = printer(1.0, 2.0)
    way = floor(zones=(zone,)).way((1.5, 2.4), (3.5, 2.0))
    assert nearest(way, zone) >= zone_gap(zone, (1.5, 2.4)) - 0.03


def test_what_a_rule_leaves_no_way_to_is_told_with_what_it_asks_for():
    for goal, zone in (((6.0, 3.2), printer(6.0, 2.0)), ((7.5, 2.0), printer(4.0, 2.0, 0.5))):
        with pytest.raises(SkillError, match=r"the robot finds no way there that keeps .* cm from the printer"):
            floor(zones=(zone,)).way((1.0, 2.0), goal)
    box = crate("box", 6.0, 1.0)
    told = "there is no space to stand beside the box that keeps 100 cm from the printer"
    with pytest.raises(SkillError, match=told):
        floor(box, zones=(printer(6.0, 1.0),)).beside(box)


def test_what_is_carried_is_in_nobodys_way():
    box = crate("box", 6.0, 2.0)
    assert floor(box, held="box") == replace(floor(), things=())


def test_an_unknown_room_is_told():
    with pytest.raises(InputError, match="there is no room 'attic'"):
        floor().area("attic")


def test_a_way_that_begins_or_ends_in_a_doorway_does_not_go_back_into_the_room():
    assert floor().way((3.9, 2.1), (6.0, 2.0))[:2] == ((3.9, 2.1), (3.9, 2.1))
    assert floor().way((2.0, 2.0), (4.1, 2.1))[-1] == (4.1, 2.1)
    assert all(x <= 4.1 for x, _ in floor().way((2.0, 2.0), (4.1, 2.1)))


def test_rules_forbid_places_as_far_as_they_ask_for():
    kept = floor(zones=(printer(2.0, 2.0, 1.0),))
    assert kept.forbids((2.0, 3.1))
    assert not kept.forbids((2.0, 3.5))
    assert not floor().forbids((2.0, 2.0))

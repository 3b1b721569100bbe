"""Where a mobile base stands and drives among what stands in a building."""

import math
from dataclasses import replace

import pytest

from llm_planner.errors import InputError
from llm_planner.skills.floor import BASE_RADIUS, ROOM_TO_PASS, floor_of
from llm_planner.world.building import Building, Door, Room
from llm_planner.world.places import Rectangle
from llm_planner.world.scene import IDENTITY, Pose, Scene, SceneObject

HOUSE = Building(
    (Room("den", Rectangle(0.0, 4.0, 0.0, 4.0)), Room("loft", Rectangle(4.0, 8.0, 0.0, 4.0))),
    (Door(("den", "loft"), (4.0, 2.0)),),
)


def crate(name, x, y):
    return SceneObject(name, "crate", "", (x, y, 0.2), IDENTITY, (0.3, 0.3, 0.4))


def floor(*things, held=""):
    return floor_of(HOUSE, Scene(0.0, things, held=held, robot=Pose((1.0, 2.0, 0.0)), building=HOUSE))


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


def test_what_is_carried_is_in_nobodys_way():
    box = crate("box", 6.0, 2.0)
    assert floor(box, held="box") == replace(floor(), things=())


def test_an_unknown_room_is_told():
    with pytest.raises(InputError, match="there is no room 'attic'"):
        floor().area("attic")

"""A drawer is a container: what lies in its tray is in it, open or closed; what stands on its cabinet is on it."""

import math

import pytest

from llm_planner.scene import furniture, predicates
from llm_planner.scene.atoms import Moment, holds, parse_atom
from llm_planner.scene.scene import SceneObject

YAW = 0.5
IN_THE_TRAY, ON_THE_CABINET = furniture.TRAY_FLOOR, furniture.HEIGHT


def drawer(state: float) -> SceneObject:
    size = (furniture.FRONT + furniture.DEPTH + state, furniture.WIDTH, furniture.HEIGHT)
    turned = (0.0, 0.0, math.sin(YAW / 2), math.cos(YAW / 2))
    return SceneObject("drawer", "drawer", "", (0.5, 0.1, size[2] / 2), turned, size, state)


@pytest.fixture
def table(thing, scene):
    """A drawer that is so far out, and a block at a point of one of its parts, along it and across [m]."""

    def make(state, part, along=0.0, across=0.0, bottom=IN_THE_TRAY, held=""):
        box = drawer(state)
        x, y = part(box).point(along, across)
        return scene(box, thing("red block", x, y, bottom=bottom, yaw=YAW), held=held)

    return make


@pytest.mark.parametrize("state", [0.0, 0.03, 0.075])
def test_what_lies_in_the_tray_is_in_the_drawer_open_or_closed(table, state):
    now = table(state, furniture.tray)
    assert predicates.is_container(now.find("drawer"))
    assert predicates.in_(now, "red block", "drawer")
    assert predicates.contents(now, "drawer") == ("red block",)
    assert not predicates.clear(now, "drawer")


@pytest.mark.parametrize("state", [0.0, 0.075])
def test_what_stands_on_the_cabinet_is_on_the_drawer_and_not_in_it(table, state):
    now = table(state, furniture.cabinet, bottom=ON_THE_CABINET)
    assert not predicates.in_(now, "red block", "drawer")
    assert predicates.on(now, "red block", "drawer")
    assert predicates.contents(now, "drawer") == ("red block",)


def test_what_is_held_over_the_tray_or_lies_under_the_handle_is_not_in_the_drawer(table):
    assert not predicates.in_(table(0.075, furniture.opening, held="red block"), "red block", "drawer")
    before = table(0.075, furniture.tray, along=-furniture.tray(drawer(0.075)).half[0] - 0.03, bottom=0.0)
    assert not predicates.in_(before, "red block", "drawer")
    assert predicates.clear(before, "drawer")


@pytest.mark.parametrize(("state", "reached"), [(0.0, False), (0.03, False), (0.075, True)])
def test_a_hand_gets_into_a_drawer_and_at_what_lies_in_it_while_it_is_open(table, state, reached):
    now = table(state, furniture.tray)
    for name in ("drawer", "red block"):
        moment = Moment(now, {"object": name}, "", {})
        assert holds(parse_atom("accessible(object)", ("object",)), moment) is reached


def test_what_stands_on_a_closed_drawer_is_reached(table):
    assert predicates.accessible(table(0.0, furniture.cabinet, bottom=ON_THE_CABINET), "red block")


def test_the_opening_is_what_is_out_and_no_more_than_is_pulled_out_the_next_time():
    for state, length in ((0.0, 0.0), (0.05, 0.05), (0.1, furniture.DRAWN)):
        assert 2 * furniture.opening(drawer(state)).half[0] == pytest.approx(length)


def test_two_blocks_find_room_side_by_side_in_the_tray():
    first, second, *_ = furniture.spots(drawer(0.075), 0.02)
    assert math.dist(first, second) > 0.07
    assert not list(furniture.spots(drawer(0.075), 0.08))

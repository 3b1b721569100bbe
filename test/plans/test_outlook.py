"""What is foreseen of the moment at which a step begins says where things may be, not only where they should be."""

from dataclasses import replace

import pytest

from llm_planner.plans.privileges.conditions import ROBOT
from llm_planner.plans.privileges.decision import LEEWAY, Outlook
from llm_planner.scene.places import Rectangle, region
from llm_planner.scene.scene import Building, Pose, Room


@pytest.fixture
def after(skills, scene):
    """The outlook after calls, each a skill's name and its arguments."""
    table = {skill.name: skill for skill in skills}

    def run(*calls, where=scene):
        outlook = Outlook(where)
        for name, values in calls:
            outlook = outlook.after(table[name], values)
        return outlook

    return run


def test_what_has_not_moved_is_where_it_is(after):
    assert after().whereabouts == {}
    assert set(after(("pick", {"object": "vase"})).whereabouts) == {"vase", ROBOT}


def test_a_thing_may_lie_a_little_away_from_where_it_is_foreseen(after):
    outlook = after(("push", {"object": "blue block", "direction": "left", "distance": 0.1}))
    x, y, _ = outlook.scene.find("blue block").position
    part = outlook.whereabouts["blue block"]
    assert (part.x_min, part.x_max) == pytest.approx((x - LEEWAY, x + LEEWAY))
    assert (part.y_min, part.y_max) == pytest.approx((y - LEEWAY, y + LEEWAY))


def test_in_a_region_it_may_lie_anywhere_until_it_is_moved_again(after):
    put = (("pick", {"object": "vase"}), ("place_at", {"place": "left side"}))
    assert after(*put).whereabouts["vase"] == region("left side").area
    onto = (*put, ("pick", {"object": "vase"}), ("place_on", {"object": "bowl"}))
    part = after(*onto).whereabouts["vase"]
    assert part.x_max - part.x_min == pytest.approx(2 * LEEWAY)


def test_where_a_robot_ends_up_that_finds_no_way_is_not_known(after, scene):
    rooms = (Room("room_1", Rectangle(0.0, 1.0, -1.0, 0.1)), Room("room_10", Rectangle(0.0, 1.0, 0.1, 1.0)))
    doorless = replace(scene, building=Building(rooms, ()), robot=Pose((0.5, 0.0, 0.0)))
    assert after(("go_to", {"destination": "room_10"}), where=doorless).scene.robot is None

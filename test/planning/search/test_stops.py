"""Rooms that a goal waits for are stops of the plan, but where that breaks a rule."""

import pytest

from llm_planner.ltl.formula import Constraint
from llm_planner.ltl.parser import parse
from llm_planner.planning.search.decode import decode_plan
from llm_planner.planning.search.task import awaited_rooms
from llm_planner.scene.places import Rectangle
from llm_planner.scene.scene import Building, Door, Pose, Room, Scene


@pytest.fixture
def corridor():
    """Three rooms in a row with doors in the middle of their walls; the robot is in the first."""
    names = ("hall", "kitchen", "lab")
    rooms = tuple(Room(name, Rectangle(4.0 * k, 4.0 * k + 4.0, 0.0, 4.0)) for k, name in enumerate(names))
    doors = (Door(("hall", "kitchen"), (4.0, 2.0)), Door(("kitchen", "lab"), (8.0, 2.0)))
    return Scene(0.0, (), robot=Pose((2.0, 2.0, 0.0)), building=Building(rooms, doors))


def program(scene, skills, *goals, rules=()):
    constraints = [*(Constraint(parse(g), "", goal=True) for g in goals), *(Constraint(parse(r), "") for r in rules)]
    return decode_plan(scene, skills, constraints).program.split("\n")[:-1]


def test_a_room_that_was_asked_for_is_not_only_passed(corridor, driving):
    both = program(corridor, driving, "F (in(robot, kitchen) & F in(robot, lab))")
    assert both == ['go_to("kitchen")', 'go_to("lab")']


def test_other_rooms_are_passed(corridor, driving):
    assert program(corridor, driving, "F in(robot, lab)", rules=["!in(robot, lab) W in(robot, kitchen)"]) == [
        'go_to("lab")'
    ]


def test_a_stop_that_would_break_a_rule_is_left_out(corridor, driving):
    rule = "G !did(go_to, kitchen)"
    assert program(corridor, driving, "F in(robot, kitchen) & F in(robot, lab)", rules=[rule]) == ['go_to("lab")']


def test_the_order_that_takes_least_is_found_with_the_stops(driving):
    rooms = (
        Room("hall", Rectangle(0.0, 2.0, 0.0, 2.0)),
        Room("kitchen", Rectangle(2.0, 4.0, 0.0, 20.0)),
        Room("lab", Rectangle(4.0, 6.0, 0.0, 2.0)),
    )
    doors = (Door(("hall", "kitchen"), (2.0, 1.0)), Door(("kitchen", "lab"), (4.0, 1.0)))
    scene = Scene(0.0, (), robot=Pose((1.0, 1.0, 0.0)), building=Building(rooms, doors))
    assert program(scene, driving, "F in(robot, kitchen) & F in(robot, lab)") == ['go_to("lab")', 'go_to("kitchen")']


@pytest.mark.parametrize(
    ("goal", "rooms"),
    [
        ("F in(robot, kitchen)", ["kitchen"]),
        ("F (in(robot, hall) & F in(robot, lab))", ["hall", "lab"]),
        ("F in(robot, lab) & !in(robot, lab) U in(robot, kitchen)", ["kitchen"]),  # the lab is forbidden on the way
        ("G F in(robot, lab)", ["lab"]),
        ("F G in(robot, lab)", []),
        ("G (in(robot, lab) -> F in(robot, hall))", []),
        ("F[0,30] in(robot, lab) & F holding(mug)", ["lab"]),
    ],
)
def test_rooms_that_are_only_waited_for_are_stops(corridor, goal, rooms):
    assert awaited_rooms(parse(goal), corridor) == {f"in(robot, {room})" for room in rooms}

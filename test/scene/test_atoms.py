"""The atoms of skill manifests."""

import math

import pytest

from llm_planner.errors import InputError
from llm_planner.scene.atoms import Atom, Moment, holds, parse_atom
from llm_planner.scene.places import Rectangle
from llm_planner.scene.scene import IDENTITY, Building, Door, Pose, Room, Scene, SceneObject

PARAMETERS = ("object", "place", "direction", "distance")


@pytest.mark.parametrize(
    ("text", "atom"),
    [
        ("empty()", Atom("empty", ())),
        ("not held(object)", Atom("held", ("object",), True)),
        ("  on( held , object ) ", Atom("on", ("held", "object"))),
    ],
)
def test_an_atom_is_a_predicate_of_parameters(text, atom):
    assert parse_atom(text, PARAMETERS) == atom
    assert parse_atom(str(atom), PARAMETERS) == atom


@pytest.mark.parametrize(
    "text", ["", "on", "on(held object)", "on(held,)", "import os", "on(held, object) and empty()"]
)
def test_what_is_no_atom_is_refused_with_the_form(text):
    with pytest.raises(InputError, match=r"is not an atom; write predicate\(argument, ...\)"):
        parse_atom(text, PARAMETERS)


def test_an_unknown_predicate_is_refused_with_the_predicates():
    with pytest.raises(InputError, match=r"unknown predicate 'upon'; there are: empty, holding, held, above, on"):
        parse_atom("upon(held, object)", PARAMETERS)


def test_a_wrong_number_of_arguments_is_refused():
    with pytest.raises(InputError, match=r"gives on 1 arguments; it takes 2"):
        parse_atom("on(held)", PARAMETERS)


def test_an_argument_that_is_no_parameter_is_refused_with_the_parameters():
    with pytest.raises(InputError, match=r"names 'bowl'; an atom may name: object, place, direction, distance, held"):
        parse_atom("on(held, bowl)", PARAMETERS)


def moment(scene, held_at_start="", origins=None, **values):
    return Moment(scene, values, held_at_start, origins or {})


def test_held_stands_for_what_was_in_the_gripper_at_the_start(thing, scene):
    now = scene(thing("red block", 0.4, 0.0, bottom=0.04), thing("blue block", 0.4, 0.0))
    placed = parse_atom("on(held, object)", PARAMETERS)
    assert holds(placed, moment(now, "red block", object="blue block"))
    assert not holds(placed, moment(now, "blue block", object="red block"))


def test_the_gripper_atoms(thing, scene):
    block = thing("red block", 0.4, 0.0)
    full, free = moment(scene(block, held="red block"), object="red block"), moment(scene(block), object="red block")
    for text, while_full, while_free in [
        ("empty()", False, True),
        ("holding()", True, False),
        ("held(object)", True, False),
        ("not held(object)", False, True),
    ]:
        atom = parse_atom(text, PARAMETERS)
        assert holds(atom, full) is while_full
        assert holds(atom, free) is while_free


def test_the_placing_atoms(thing, scene):
    now = scene(thing("red block", 0.4, 0.08), thing("blue block", 0.4, 0.0), thing("red bowl", 0.55, -0.2))
    values = {"object": "blue block", "place": "middle", "direction": "left", "distance": 0.04}
    at_start = moment(now, "red block", {"red block": (0.4, 0.04, 0.02)}, **values)
    assert holds(parse_atom("beside(held, object, direction, distance)", PARAMETERS), at_start)
    assert holds(parse_atom("moved(held, direction, distance)", PARAMETERS), at_start)
    assert holds(parse_atom("at(held, place)", PARAMETERS), at_start)
    assert holds(parse_atom("different(held, object)", PARAMETERS), at_start)
    assert holds(parse_atom("clear(object)", PARAMETERS), at_start)
    assert not holds(parse_atom("in(held, object)", PARAMETERS), at_start)
    assert not holds(parse_atom("container(object)", PARAMETERS), at_start)


def test_what_is_put_down_must_lie_more_exactly_than_what_is_pushed(thing, scene):
    now = scene(thing("red block", 0.4, 0.08))
    values = {"object": "red block", "direction": "left", "distance": 0.1}
    two_short = moment(now, "red block", {"red block": (0.4, 0.0, 0.02)}, **values)
    assert holds(parse_atom("moved(object, direction, distance)", PARAMETERS), two_short)
    assert not holds(parse_atom("moved(held, direction, distance)", PARAMETERS), two_short)


def test_an_object_that_has_left_the_scene_makes_every_atom_false(thing, scene):
    gone = moment(scene(), "red block", object="red block")
    assert not holds(parse_atom("held(object)", PARAMETERS), gone)
    assert not holds(parse_atom("not held(object)", PARAMETERS), gone)


HALL, LAB = Room("hall", Rectangle(0.0, 4.0, 0.0, 4.0)), Room("lab", Rectangle(4.0, 8.0, 0.0, 4.0))
HOUSE = Building((HALL, LAB), (Door(("hall", "lab"), (4.0, 2.0)),))
MUG = SceneObject("mug", "mug", "", (5.0, 1.0, 0.05), IDENTITY, (0.1, 0.1, 0.1))
ANNA = SceneObject("Anna", "person", "", (1.0, 3.0, 0.9), IDENTITY, (0.4, 0.4, 1.8))


def in_house(text, robot, held="", **values):
    """Whether the atom holds with the robot at that place."""
    scene = Scene(0.0, (MUG, ANNA), held, Pose((*robot, 0.0)), 0.0, HOUSE)
    return holds(parse_atom(text, [*values, "object", "destination"]), Moment(scene, values, "mug", {}))


def test_a_room_is_reached_inside_it_and_a_person_nearby():
    assert in_house("reached(destination)", (5.0, 3.0), destination="lab")
    assert not in_house("reached(destination)", (3.0, 3.0), destination="lab")
    assert in_house("reached(destination)", (1.5, 2.5), destination="Anna")
    assert not in_house("reached(destination)", (3.5, 0.5), destination="Anna")
    assert not in_house("reached(destination)", (3.5, 0.5), destination="nobody")


def test_here_is_the_room_around_the_robot_until_a_skill_has_started_in_another():
    assert in_house("in(object, here)", (5.0, 3.0), object="mug")
    assert not in_house("in(object, here)", (1.0, 1.0), object="mug")
    assert in_house("in(held, here)", (1.0, 1.0), here="lab")
    assert not in_house("in(held, here)", (5.0, 3.0), held="mug"), "what is carried lies nowhere"


def test_people_are_not_portable():
    assert in_house("portable(object)", (1.0, 1.0), object="mug")
    assert not in_house("portable(object)", (1.0, 1.0), object="Anna")


@pytest.mark.parametrize(
    ("away", "kept"), [(0.7, False), (0.8, True), (1.0, True), (1.2, True), (1.7, True), (1.8, False)]
)
def test_who_is_followed_is_so_far_from_the_robot_or_has_just_gone_on(away, kept):
    text = "followed(object, distance)"
    assert in_house(text, (1.0 + 0.2 + away, 3.0), object="Anna", distance=1.0) is kept


DOCK = SceneObject("dock", "dock", "", (0.1, 2.0, 0.1), IDENTITY, (0.12, 0.3, 0.2))


def in_dock(robot):
    scene = Scene(0.0, (DOCK, ANNA), "", robot, 0.0, HOUSE)
    return holds(parse_atom("docked(station)", ["station"]), Moment(scene, {"station": "dock"}, "", {}))


def turned(degrees):
    half = math.radians(degrees) / 2
    return 0.0, 0.0, math.sin(half), math.cos(half)


@pytest.mark.parametrize(
    ("x", "y", "degrees", "stands"),
    [(0.4, 2.0, 0, True), (0.415, 2.0, 2, True), (0.43, 2.0, 0, False), (0.4, 2.03, 0, False), (0.4, 2.0, 4, False)],
)
def test_a_robot_is_docked_within_two_centimetres_and_three_degrees(x, y, degrees, stands):
    assert in_dock(Pose((x, y, 0.0), turned(degrees))) is stands


def test_a_robot_that_nobody_sees_is_nowhere():
    scene = Scene(0.0, (DOCK, ANNA), "", None, 0.0, HOUSE)
    values = {"station": "dock", "object": "Anna", "distance": 1.0}
    for text in ("docked(station)", "followed(object, distance)"):
        assert not holds(parse_atom(text, values), Moment(scene, values, "", {}))

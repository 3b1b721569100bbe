"""Letters that can occur: what excludes what, and that real scenes show nothing else."""

from itertools import permutations

import numpy as np
import pytest

from llm_planner.ltl.scene_letters import alphabet_of
from llm_planner.scene.places import REGIONS, Rectangle
from llm_planner.scene.propositions import Moment, holds, parse_proposition
from llm_planner.scene.scene import IDENTITY, Building, Pose, Room, Scene, SceneObject
from llm_planner.simulation.objects import parse_objects
from llm_planner.simulation.worlds import open_world

BUILDING = Building(tuple(Room(name, Rectangle(x, x + 4, 0, 4)) for name, x in (("lab", 0), ("hall", 4))), ())


def thing(name: str, x: float = 0.4, y: float = 0.0) -> SceneObject:
    return SceneObject(name, name.split()[-1], "", (x, y, 0.02), IDENTITY, (0.04, 0.04, 0.04))


TABLE = Scene(0.0, (thing("red block"), thing("blue block"), thing("vase"), thing("blue bowl")))
ROOMS = Scene(0.0, (thing("parcel"), thing("vase")), robot=Pose((1, 1, 0)), building=BUILDING)


PAPERS = Scene(0.0, tuple(SceneObject(n, n, "", (0.4, 0, 0), IDENTITY, (0.1, 0.2, 0.001)) for n in ("note", "letter")))
BOWLS = Scene(0.0, (thing("red bowl"), thing("blue bowl")))


def can_hold_together(scene: Scene, *propositions: str) -> bool:
    return frozenset(propositions) in alphabet_of(propositions, scene).letters


@pytest.mark.parametrize(
    ("scene", "first", "second"),
    [
        (ROOMS, "in(robot, lab)", "in(robot, hall)"),
        (ROOMS, "in(parcel, lab)", "in(parcel, hall)"),
        (ROOMS, "in(parcel, lab)", "holding(parcel)"),
        (ROOMS, "holding(vase)", "holding(parcel)"),
        (ROOMS, "near(robot, vase)", "distance(robot, vase) > 1"),
        (TABLE, "holding(vase)", "in(vase, blue bowl)"),
        (TABLE, "holding(vase)", "beside(red block, vase)"),
        (TABLE, "holding(vase)", "at(vase, middle)"),
        (TABLE, "holding(vase)", "on(vase, blue block)"),
        (TABLE, "clear(blue block)", "on(red block, blue block)"),
        (TABLE, "at(vase, left side)", "at(vase, right side)"),
        (TABLE, "distance(robot, vase) > 0.5", "distance(robot, vase) < 0.3"),
        (TABLE, "speed(robot) < 0.1", "speed(robot) > 0.1"),
        (TABLE, "on(red block, blue block)", "on(blue block, red block)"),
        (TABLE, "on(red block, blue bowl)", "on(blue bowl, red block)"),
    ],
)
def test_what_cannot_be_true_together_is_no_letter(scene, first, second):
    assert not can_hold_together(scene, first, second)
    assert not can_hold_together(scene, second, first)


@pytest.mark.parametrize(
    ("scene", "first", "second"),
    [
        (ROOMS, "in(robot, lab)", "in(parcel, lab)"),
        (ROOMS, "in(robot, lab)", "in(vase, hall)"),
        (ROOMS, "holding(parcel)", "holding(anything)"),
        (ROOMS, "near(robot, vase)", "distance(robot, vase) > 0.5"),
        (TABLE, "on(red block, blue block)", "on(blue block, vase)"),
        (PAPERS, "on(note, letter)", "on(letter, note)"),
        (BOWLS, "on(red bowl, blue bowl)", "on(blue bowl, red bowl)"),
        (TABLE, "in(red block, blue bowl)", "on(red block, blue block)"),  # in a pile
        (TABLE, "on(red block, vase)", "on(red block, blue block)"),  # across both
        (TABLE, "on(red block, blue bowl)", "in(red block, blue bowl)"),
        (TABLE, "at(vase, left side)", "at(vase, top left corner)"),
        (TABLE, "distance(robot, vase) > 0.3", "distance(robot, vase) < 0.5"),
        (TABLE, "distance(robot, vase) > 0.5", "distance(robot, blue bowl) < 0.3"),
        (TABLE, "moved(vase)", "near(robot, vase)"),
        (TABLE, "holding(vase)", "moved(vase)"),
    ],
)
def test_what_can_be_true_together_is_one(scene, first, second):
    assert can_hold_together(scene, first, second)


def test_bare_names_exclude_nothing():
    assert can_hold_together(ROOMS, "a", "b", "in(robot, lab)")


def every_proposition(scene: Scene) -> list[str]:
    """All that can be said of the scene with each predicate, and signals on both sides of several bounds."""
    rooms = scene.building.names if scene.building else ()
    named = [f"{p}({a})" for a in scene.names for p in ("clear", "holding", "moved")]
    named += [f"{p}(robot, {a})" for a in scene.names for p in ("near", "over")]
    named += [f"{p}({a}, {b})" for a, b in permutations(scene.names, 2) for p in ("in", "on", "beside")]
    named += [f"in({a}, {room})" for a in ("robot", *scene.names) for room in rooms]
    named += [f"at({a}, {region})" for a in scene.names for region in REGIONS if not rooms]
    named += [f"distance(robot, {a}) {c} {b}" for a in scene.names for c in "<>" for b in (0.1, 0.3, 0.9, 2)]
    return named


def assert_is_a_letter(scene: Scene, origins: dict) -> None:
    propositions = every_proposition(scene)
    moment = Moment(scene, origins)
    letter = frozenset(name for name in propositions if holds(parse_proposition(name), moment))
    alphabet_of(propositions, scene).check(letter)


@pytest.mark.parametrize("seed", range(3))
def test_every_real_scene_of_a_table_is_a_letter_that_can_occur(seed):
    scene = open_world("tabletop", seed, parse_objects("red block, blue block, green bowl, mug, plate")).scene()
    assert_is_a_letter(scene, {item.name: item.position for item in scene.objects})


@pytest.mark.parametrize("seed", range(100))
def test_every_pile_and_every_hold_is_a_letter_that_can_occur(seed):
    rng = np.random.default_rng(seed)
    objects = [thing(name, *rng.uniform(0.4, 0.5, 2)) for name in ("red block", "blue block", "mug", "plate", "bowl")]
    placed = [
        SceneObject(
            o.name,
            o.kind,
            "",
            (*o.position[:2], rng.choice([0.02, 0.06, 0.1])),
            IDENTITY,
            (*rng.uniform(0.04, 0.2, 2), 0.04),
        )
        for o in objects
    ]
    held = str(rng.choice(["", "red block", "mug"]))
    robot = Pose(tuple(rng.uniform(0.3, 0.6, 3)))
    assert_is_a_letter(Scene(0.0, tuple(placed), held, robot), {"vase": (0, 0, 0), "plate": (0.1, 0, 0)})


@pytest.mark.parametrize("seed", range(100))
def test_every_place_in_a_building_is_a_letter_that_can_occur(seed):
    rng = np.random.default_rng(seed)
    objects = tuple(thing(name, *rng.uniform(0, [8, 4])) for name in ("parcel", "mug", "plant"))
    robot = Pose((*rng.choice([0.0, 4.0, 8.0, 2.5], 1), 2.0, 0.0))
    scene = Scene(0.0, objects, str(rng.choice(["", "mug"])), robot, 0.2, BUILDING)
    assert_is_a_letter(scene, {"parcel": (0, 0, 0)})


@pytest.mark.parametrize("seed", range(3))
def test_every_simulated_building_is_a_letter_that_can_occur(seed):
    scene = open_world("rooms", seed).scene()
    assert_is_a_letter(scene, {item.name: item.position for item in scene.objects})

"""Two formulas may differ as text and over all letters, and still say the same in a scene."""

import pytest

from llm_planner.language.understanding.equivalence import Meanings
from llm_planner.ltl.parser import parse
from llm_planner.scene.places import Rectangle
from llm_planner.scene.scene import IDENTITY, Building, Room, Scene, SceneObject

NAMES = [f"room {k}" for k in range(12)]
THINGS = tuple(SceneObject(n, n, "", (0, 0, 0), IDENTITY, (0.1, 0.1, 0.1)) for n in ("vase", "mug", "parcel"))
ROOMS = Scene(
    0.0, THINGS, building=Building(tuple(Room(n, Rectangle(4 * k, 4 * k + 4, 0, 4)) for k, n in enumerate(NAMES)), ())
)
TABLE = Scene(0.0, THINGS)


def same(f: str, g: str, scene: Scene = TABLE) -> tuple[bool, bool]:
    """Over the letters that can occur, and over all."""
    over_what_occurs, over_all = (Meanings(scene, bare).same(parse(f), parse(g)) for bare in (False, True))
    return over_what_occurs, over_all


@pytest.mark.parametrize(
    ("f", "g", "over_all"),
    [
        ("G !holding(vase)", "!F holding(vase)", True),
        ("G !distance(robot, vase) < 0.2", "G distance(robot, vase) > 0.2", False),
        ("G !near(robot, vase)", "G distance(robot, vase) > 0.1", False),  # at a table, that is near
        ("G holding(mug)", "G (holding(mug) & holding(anything) & !holding(vase))", False),
        ("G distance(robot, vase) > 0.3", "G (distance(robot, vase) > 0.3 & !distance(robot, vase) < 0.2)", False),
        ("F[0,10] holding(mug) & G !holding(vase)", "!F holding(vase) & F[0,10] holding(mug)", True),
    ],
)
def test_formulas_with_one_meaning(f, g, over_all):
    assert same(f, g) == (True, over_all)


@pytest.mark.parametrize(
    ("f", "g"),
    [
        ("G !holding(vase)", "G !holding(anything)"),
        ("G distance(robot, vase) > 0.2", "G distance(robot, vase) > 0.3"),
        ("F[0,10] holding(mug)", "F[0,20] holding(mug)"),
        ("F[0,10] holding(mug)", "F holding(mug)"),
        ("!holding(mug) W holding(vase)", "!holding(mug) U holding(vase)"),
    ],
)
def test_formulas_with_two_meanings(f, g):
    assert same(f, g) == (False, False)


def test_a_robot_in_one_room_is_in_no_other():
    f, g = "G (in(robot, room 1) -> N G !in(robot, room 10))", "G (in(robot, room 1) -> G !in(robot, room 10))"
    assert same(f, g, ROOMS) == (True, False)


def test_what_both_share_is_not_compared_again():
    everywhere = " & ".join(f"F in(robot, {name})" for name in NAMES)
    assert same(f"{everywhere} & G !holding(vase)", f"{everywhere} & !F holding(vase)", ROOMS) == (True, True)


def test_what_is_too_large_to_decide_is_not_called_the_same():
    first = " & ".join(f"F (in(robot, {name}) & F holding(mug))" for name in NAMES)
    second = " & ".join(f"F (in(robot, {name}) & F (holding(mug) & !holding(vase)))" for name in [*NAMES, *NAMES])
    assert same(f"({first}) | G moved(vase) & F near(robot, mug)", second, ROOMS)[1] is False


@pytest.mark.parametrize(
    ("formulas", "conflict"),
    [
        (["F in(robot, room 1)", "G !in(robot, room 1)"], (0, 1)),
        (["F holding(mug)", "F in(robot, room 1)", "G !holding(anything)"], (0, 2)),
        (["F (in(robot, room 1) & in(robot, room 10))"], (0,)),
        (["G distance(robot, vase) > 0.5", "F distance(robot, vase) < 0.3"], (0, 1)),
        (["F near(robot, vase)", "G distance(robot, vase) > 1"], (0, 1)),
        (["F[0,30] in(robot, room 1)", "G !in(robot, room 1)"], (0, 1)),
        (["holding(mug) U[0,9] in(robot, room 1)", "G !in(robot, room 1)"], (0, 1)),
        (["F G[0,10] in(robot, room 1)", "G !in(robot, room 1)"], (0, 1)),
    ],
)
def test_constraints_that_cannot_be_kept_together(formulas, conflict):
    assert Meanings(ROOMS).conflict([parse(f) for f in formulas]) == conflict


@pytest.mark.parametrize(
    "formulas",
    [
        ["F in(robot, room 1)", "!in(robot, room 1) W in(robot, room 2)"],
        ["G[5,10] in(robot, room 1)", "F in(robot, room 2)"],
        ["!F[0,5] in(robot, room 1)", "F in(robot, room 1)"],  # later than that
    ],
)
def test_constraints_that_can(formulas):
    assert Meanings(ROOMS).conflict([parse(f) for f in formulas]) == ()


def test_bare_propositions_exclude_nothing():
    both = [parse("F (a & b)")]
    assert Meanings(ROOMS, bare=True).conflict(both) == ()


@pytest.mark.parametrize(
    ("f", "g"),
    [
        ("G !moved(mug)", "G !(moved(mug) | holding(mug))"),
        ("!moved(mug) W in(robot, lab)", "!(moved(mug) | holding(mug)) W in(robot, lab)"),
    ],
)
def test_what_is_held_is_moved(f, g):
    assert Meanings(ROOMS).same(parse(f), parse(g))
    assert not Meanings(ROOMS).same(parse(f), parse(f.replace("moved", "holding")))
    assert Meanings(ROOMS).conflict([parse("G !moved(mug)"), parse("F holding(mug)")]) == (0, 1)

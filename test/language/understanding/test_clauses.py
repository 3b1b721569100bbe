"""What the clauses of a sentence say about the order of things and about conditions."""

from __future__ import annotations

import pytest

from llm_planner.language.understanding.clauses import conditions, orders
from llm_planner.language.understanding.constraint_checks import turned
from llm_planner.ltl.parser import parse
from llm_planner.scene.places import Rectangle
from llm_planner.scene.scene import IDENTITY, Building, Door, Room, Scene, SceneObject


def thing(name: str, kind: str, color: str = "") -> SceneObject:
    return SceneObject(name, kind, color, (0.5, 0.0, 0.02), IDENTITY, (0.04, 0.04, 0.04))


TABLE = Scene(
    0.0,
    (
        thing("red block", "block", "red"),
        thing("blue block", "block", "blue"),
        thing("mug", "mug"),
        thing("plate", "plate"),
        thing("button", "button"),
        thing("drawer", "drawer"),
    ),
)
ROOMS = Scene(
    0.0,
    (thing("mug", "mug"), thing("Anna", "person")),
    building=Building(
        (Room("lab", Rectangle(0, 4, 0, 4)), Room("kitchen", Rectangle(4, 8, 0, 4))),
        (Door(("lab", "kitchen"), (4, 2)),),
    ),
)


@pytest.mark.parametrize(
    ("words", "earlier", "later"),
    [
        ("press the button and then open the drawer", {"button"}, {"drawer"}),
        ("press the button, and after that open the drawer", {"button"}, {"drawer"}),
        ("press the button and after open the drawer", {"button"}, {"drawer"}),
        ("before you open the drawer, press the button", {"button"}, {"drawer"}),
        ("open the drawer, but before that press the button", {"button"}, {"drawer"}),
        ("open the drawer, but first press the button", {"button"}, {"drawer"}),
        ("open the drawer after pressing the button", {"button"}, {"drawer"}),
        ("open the drawer only after the button", {"button"}, {"drawer"}),
        ("once the button is pressed, open the drawer", {"button"}, {"drawer"}),
        ("the button first, the drawer can wait", {"button"}, {"drawer"}),
        ("the drawer last, the button and the mug before", {"button", "mug"}, {"drawer"}),
        ("open the drawer, but not before the button is pressed", {"button"}, {"drawer"}),
        ("don't open the drawer until the button is pressed", {"button"}, {"drawer"}),
        ("never open the drawer before the button is pressed", {"button"}, {"drawer"}),
        ("the red one before the mug", {"red block"}, {"mug"}),
        ("press the button, and only once that is done open the drawer", {"button"}, {"drawer"}),
        ("take the mug after you have pressed the button and in the end open the drawer", {"button"}, {"mug"}),
        ("move the mug, and first press the button, then open the drawer", {"button"}, {"drawer"}),
        ("press the button and then open the drawer and also move the mug", {"button"}, {"drawer"}),
        ("press the button, open the drawer afterwards, and move the mug", {"button"}, {"drawer"}),
    ],
)
def test_order_words_tell_what_comes_first(words: str, earlier: set[str], later: set[str]) -> None:
    (order,) = orders(words, TABLE)
    assert (order.earlier, order.later) == (earlier, later)


@pytest.mark.parametrize(
    "words",
    [
        "put the first block from the left next to the mug",
        "put the mug back where it was before",
        "press the button once and open the drawer",
        "put the mug on the plate, after all",
        "open the drawer when you press the button",
        "before opening the drawer press the button",  # without a comma the clauses are not certain
        "if the drawer is open, then press the button",
        "press the button, and whenever the drawer is open, move the mug afterwards, and touch the plate once",
        "don't touch the mug after pressing the button",  # tells of no order of things that are done
        "I want the mug on the plate, and after each one hit the button",
        "erst den Knopf, dann die Schublade",
    ],
)
def test_other_uses_of_order_words_tell_nothing(words: str) -> None:
    assert not orders(words, TABLE)


@pytest.mark.parametrize(
    ("words", "holds"),
    [
        ("press the button if the drawer is open", True),
        ("press the button only if the drawer is open", True),
        ("press the button unless the drawer is open", False),
        ("press the button, except if the drawer is open", False),
        ("press the button, but not if the drawer is open", False),
        ("press the button if the drawer is not open", False),
        ("press the button if the drawer is closed", False),
        ("press the button unless the drawer is shut", True),
        ("don't press the button unless the drawer is open", True),
        ("don't press the button if the drawer is open", False),
    ],
)
def test_a_condition_tells_whether_it_is_done_where_the_state_holds(words: str, holds: bool) -> None:
    (condition,) = conditions(words, TABLE)
    assert (condition.names, condition.main, condition.holds) == ({"drawer"}, {"button"}, holds)


@pytest.mark.parametrize(
    "words",
    [
        "if something is in the drawer, leave it, otherwise press the button",
        "press the button if you can",
        "see if the drawer is open",
        "press the button even if the drawer is open",
    ],
)
def test_politeness_and_questions_are_no_conditions(words: str) -> None:
    assert not conditions(words, TABLE)


@pytest.mark.parametrize(
    ("words", "right", "wrong"),
    [
        ("never go into the lab unless Anna is there", "in(Anna, lab)", "!in(Anna, lab)"),
        ("go into the lab only if Anna is there", "in(Anna, lab)", "!in(Anna, lab)"),
        ("never go into the lab except with the mug", "holding(mug)", "!holding(mug)"),
        ("never go into the lab if Anna is there", "!in(Anna, lab)", "in(Anna, lab)"),
        ("never go into the lab unless Anna is not there", "!in(Anna, lab)", "in(Anna, lab)"),
    ],
)
def test_a_rule_with_its_condition_the_other_way_round_is_described(words: str, right: str, wrong: str) -> None:
    assert not [*turned(parse(f"G (in(robot, lab) -> {right})"), words, ROOMS)]
    assert [*turned(parse(f"G (in(robot, lab) -> {wrong})"), words, ROOMS)]


def test_a_condition_of_another_rule_in_the_same_words_does_not_count() -> None:
    words = "leave the mug alone until you have been in the lab, and if you enter the lab, visit the kitchen afterwards"
    assert not [*turned(parse("!holding(mug) W in(robot, lab)"), words, ROOMS)]
    late = "never enter the kitchen before you have been in the lab, and if you enter the lab, go to the kitchen"
    assert not [*turned(parse("!in(robot, kitchen) W in(robot, lab)"), late, ROOMS)]
    assert [*turned(parse("G (!in(robot, lab) -> F in(robot, kitchen))"), words, ROOMS)]

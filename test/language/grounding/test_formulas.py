"""Patterns become the formulas that Lang2LTL writes, and in a scene those that its propositions can say."""

from __future__ import annotations

import pytest

from llm_planner.errors import QuestionError
from llm_planner.language.grounding.formulas import specification
from llm_planner.language.grounding.lifting import Sentence, lift
from llm_planner.language.grounding.naming import proposition_phrases, scene_phrases
from llm_planner.language.grounding.states import BareStates, SceneStates
from llm_planner.language.grounding.tree import Node, Pointer
from llm_planner.temporal.parser import parse, parse_prefix
from llm_planner.world.building import Building, Room
from llm_planner.world.places import Rectangle
from llm_planner.world.scene import Scene


def node(name: str, *children: Node) -> Node:
    return Node(name, children)


def listed(nodes: list[Node]) -> Node:
    return node("one", nodes[0]) if len(nodes) == 1 else node("more", nodes[0], listed(nodes[1:]))


A, B, C = (Node(Pointer("prop", index)) for index in range(3))
LETTERS = BareStates(lift("a b c three nineteen", proposition_phrases("abc"), "bare"))
THREE, NINETEEN = Node(Pointer("number", 3)), Node(Pointer("number", 4))
ANY_KIND, ANY_COLOR = node("any_kind"), node("any_color")


@pytest.mark.parametrize(
    ("spec", "prefix"),
    [
        (node("visit", listed([A, B, C])), "& F a & F b F c"),
        (node("sequence", listed([A, B, C])), "F & a F & b F c"),
        (node("ordered", listed([A, B, C])), "& U ! b a & U ! c b F c"),
        (node("strictly", listed([A, B])), "& & U ! b a F b U ! a U a U ! a b"),
        (node("patrol", listed([A, B])), "& G F a G F b"),
        (node("never", listed([A, B])), "& G ! a G ! b"),
        (node("at_least", node("n2"), A), "F & a U a & ! a U ! a F a"),
        (node("at_most", node("n1"), A), "! F & a U a & ! a U ! a F a"),
        (node("exactly", node("n1"), A), "M a | ! a G | a G ! a"),
        (node("exactly", node("n0"), A), "G ! a"),
        (node("at_least", THREE, A), "F & a U a & ! a U ! a F & a U a & ! a U ! a F a"),
        (node("stay_until", A, B), "U a b"),
        (node("responds", A, B), "G i a F b"),
        (node("at_once", A, B), "G i a X b"),
        (node("just_then", A, B), "G e a X b"),
        (node("never_after", A, listed([B])), "G i a X G ! b"),
        (node("whenever", node("both", A, B), C), "G i & a b c"),
        (node("always", listed([A])), "G a"),
    ],
)  # fmt: skip
def test_patterns_over_bare_propositions_are_lang2ltls(spec: Node, prefix: str) -> None:
    assert specification(spec, LETTERS) is parse_prefix(prefix)


@pytest.mark.parametrize(
    ("spec", "formula"),
    [
        (node("initially", A), "a"),
        (node("next", A), "X a"),
        (node("before", B, node("never", listed([A]))), "F b -> (b | !a W b)"),
        (node("after", A, node("never", listed([B]))), "!a W (a & G !b)"),
        (node("between", A, B, node("never", listed([C]))), "G ((a & !b & F b) -> !c W b)"),
        (node("between", A, B, node("visit", listed([C]))), "G ((a & !b & F b) -> !b U (c & !b))"),
        (node("always", listed([node("iff", A, B)])), "G (a <-> b)"),
    ],
)
def test_a_rule_holds_within_its_scope(spec: Node, formula: str) -> None:
    assert specification(spec, LETTERS) is parse(formula)


def test_seconds_are_not_counted_within_a_scope() -> None:
    timed = lift("a b c 5 seconds", proposition_phrases("abc"), "bare")
    spec = node("before", B, node("within", Node(Pointer("seconds", 3)), A))
    with pytest.raises(QuestionError, match="only up to another moment"):
        specification(spec, BareStates(timed))


@pytest.mark.parametrize(
    ("later", "first", "formula"),
    [(A, B, "!a W b"), (A, node("isnt", B), "!a W !b"), (node("either", A, B), C, "!(a | b) W c")],
)
def test_what_may_not_come_before_another_does_not_oblige_that_to_come(later: Node, first: Node, formula: str) -> None:
    assert specification(node("not_before", listed([later]), first), LETTERS) is parse(formula)


def test_more_visits_than_can_be_counted_are_asked_about() -> None:
    with pytest.raises(QuestionError, match="up to 9, not 19"):
        specification(node("at_least", NINETEEN, A), LETTERS)


def test_bare_propositions_know_no_things() -> None:
    with pytest.raises(QuestionError, match="which of the propositions"):
        specification(node("never", listed([node("holding_any")])), LETTERS)


def entry(kind: str, index: int = 0) -> Node:
    return Node(Pointer(kind, index))


def said(command: str, scene: Scene) -> Sentence:
    return lift(command, scene_phrases(scene), "rooms" if scene.building else "table")


def written(spec: Node, command: str, scene: Scene) -> str:
    return str(specification(spec, SceneStates(said(command, scene), scene)))


THE_RED_ONE = node("the", ANY_KIND, entry("color"))
ANYTHING = node("any", node("these", ANY_KIND, ANY_COLOR))
ANY_BLOCK = node("any", node("these", entry("kind"), ANY_COLOR))


def test_nothing_may_be_picked_up_before_the_red_one_is_done(table: Scene) -> None:
    spec = node("not_before", listed([node("moved", ANYTHING)]), node("moved", THE_RED_ONE))
    formula = parse(written(spec, "blocks into bowls, but move nothing before the red one is done", table))
    others = [name for name in table.names if name != "red block"]
    assert formula is parse(f"!({' | '.join(f'holding({name})' for name in others)}) W moved(red block)")


def test_to_hold_anything_before_a_thing_is_done_spares_that_thing(table: Scene) -> None:
    spec = node("not_before", listed([node("holding_any")]), node("moved", entry("object")))
    formula = written(spec, "pick up nothing before the vase is done", table)
    assert "holding(red block)" in formula
    assert "holding(vase)" not in formula


@pytest.mark.parametrize(
    ("spec", "command", "formula"),
    [
        (node("never", listed([node("near", entry("object"))])), "the vase", "G !near(robot, vase)"),
        (node("never", listed([node("moved", node("any", node("others", entry("kind"), ANY_COLOR)))])),
         "the red block, the other blocks", "G !(moved(blue block) | moved(green block))"),
        (node("never", listed([node("holding", node("any", node("others", ANY_KIND, ANY_COLOR)))])),
         "the blocks, the bowls, anything else", "G !holding(vase)"),
        (node("always", listed([node("farther", entry("object"), Node(Pointer("quantity", 2)))])), "the vase 30 cm",
         "G distance(robot, vase) > 0.3"),
        (node("always", listed([node("slower", Node(Pointer("speed", 0)))])), "0.2 m a second",
         "G speed(robot) < 0.2"),
        (node("stay_until", node("slower", Node(Pointer("speed", 0))), node("moved", entry("object"))), "10 cm/s vase",
         "speed(robot) < 0.1 W moved(vase)"),
        (node("stay_until", node("both", node("slower", Node(Pointer("speed", 0))),
                                 node("farther", entry("object"), Node(Pointer("quantity", 2)))),
              node("holding_any")), "10 cm/s vase 5 cm",
         "(distance(robot, vase) > 0.05 & speed(robot) < 0.1) W holding(anything)"),
        (node("stay_until", node("over", entry("object")), node("holding_any")), "vase",
         "over(robot, vase) U holding(anything)"),
        (node("always", listed([node("lower", ANY_BLOCK, Node(Pointer("quantity", 3)))])), "any block below 20 cm",
         "G (height(red block) < 0.2 & height(blue block) < 0.2 & height(green block) < 0.2)"),
        (node("never", listed([node("near", node("the", ANY_KIND, entry("color")))])), "the blue block, the green one",
         "G !near(robot, green block)"),
        (node("never", listed([node("is_in", THE_RED_ONE, node("this", entry("kind", 1), entry("color")))])),
         "the blocks, the red one in the red bowls", "G !in(red block, red bowl)"),
        (node("always", listed([node("is_at", entry("object"), node("top_left_corner"))])), "vase",
         "G at(vase, top left corner)"),
        (node("never", listed([node("is_on", entry("object"), node("this", entry("kind"), entry("color")))])),
         "the vase on a block that is red", "G !on(vase, red block)"),
        (node("not_before", listed([node("over", entry("object"))]),
              node("moved", node("each", node("these", entry("kind"), ANY_COLOR)))),
         "over the vase, all blocks",
         "!over(robot, vase) W (moved(blue block) & moved(green block) & moved(red block))"),
    ],
)  # fmt: skip
def test_states_of_a_table(spec: Node, command: str, formula: str, table: Scene) -> None:
    assert parse(written(spec, command, table)) is parse(formula)


@pytest.mark.parametrize(
    ("spec", "command", "formula"),
    [
        (node("sequence", listed([node("in_room", entry("room")), node("looked", entry("room", 1))])), "kitchen, lab",
         "F(in(robot, kitchen) & F did(look, lab))"),
        (node("visit", listed([node("near", entry("person"))])), "Anna", "F near(robot, Anna)"),
        (node("visit", listed([node("is_in", entry("object"), entry("room"))])), "the mug, the lab", "F in(mug, lab)"),
        (node("not_before", listed([node("in_room", entry("room"))]), node("in_room", entry("room", 1))),
         "server room, office", "!in(robot, server room) W in(robot, office)"),
        (node("never_after", node("waited", entry("room")), listed([node("in_room", entry("room", 1))])), "hall, lab",
         "G(did(wait, hall) -> G !in(robot, lab))"),
        (node("never_after", node("in_room", entry("room")), listed([node("in_room", entry("room"))])), "lab",
         "!F (in(robot, lab) & in(robot, lab) U (!in(robot, lab) & !in(robot, lab) U F in(robot, lab)))"),
        (node("never_after", node("both", node("holding", entry("object")), node("near", entry("person"))),
              listed([node("near", entry("person"))])), "mug to Anna",
         "G(holding(mug) & near(robot, Anna) -> G(!near(robot, Anna) -> G !near(robot, Anna)))"),
        (node("within", Node(Pointer("seconds", 1)), node("in_room", entry("room"))), "lab 30 seconds",
         "F[0,30] in(robot, lab)"),
        (node("lasting", Node(Pointer("seconds", 1)), node("in_room", entry("room"))), "lab 5 seconds",
         "F G[0,5] in(robot, lab)"),
        (node("from_now", Node(Pointer("seconds", 1)), node("isnt", node("in_room", entry("room")))), "lab 5 seconds",
         "G[0,5] !in(robot, lab)"),
        (node("finish", node("in_room", entry("room"))), "end in the lab", "F G in(robot, lab)"),
        (node("visit", listed([node("looked", node("other_rooms"))])), "all but the lab, the hall and the library",
         "F did(look, kitchen) & F did(look, office) & F did(look, server room)"),
        (node("never", listed([node("in_room", node("other_rooms"))])), "only kitchen, lab, office, library, hall",
         "G !in(robot, server room)"),
        (node("not_before", listed([node("in_room", node("every_room"))]), node("near", entry("person"))), "Ben",
         "!(in(robot, kitchen) | in(robot, lab) | in(robot, office) | in(robot, server room) | in(robot, library) "
         "| in(robot, hall)) W near(robot, Ben)"),
        (node("never", listed([node("near", node("anyone"))])), "anyone",
         "G !(near(robot, Anna) | near(robot, Ben))"),
        (node("always", listed([node("farther", node("anyone"), Node(Pointer("quantity", 0)))])), "1 m from people",
         "G (distance(robot, Anna) > 1 & distance(robot, Ben) > 1)"),
    ],
)  # fmt: skip
def test_states_of_a_building(spec: Node, command: str, formula: str, rooms: Scene) -> None:
    assert parse(written(spec, command, rooms)) is parse(formula)


def warehouse(*rooms: str) -> Scene:
    return Scene(0.0, (), building=Building(tuple(Room(n, Rectangle(i, i + 1, 0, 1)) for i, n in enumerate(rooms)), ()))


@pytest.mark.parametrize(
    ("which", "command", "formula"),
    [
        (node("these", entry("kind"), ANY_COLOR), "any aisle", "G !in(robot, aisle 1) & G !in(robot, aisle 2)"),
        (node("others", entry("kind"), ANY_COLOR), "of the aisles only aisle 1", "G !in(robot, aisle 2)"),
    ],
)
def test_rooms_of_one_name_are_spoken_of_by_it(which: Node, command: str, formula: str) -> None:
    spec = node("never", listed([node("in_room", node("rooms_of", which))]))
    assert parse(written(spec, command, warehouse("aisle 1", "aisle 2", "cold store"))) is parse(formula)


def test_to_touch_rooms_of_one_name_is_to_be_there() -> None:
    spec = node("never", listed([node("near", node("any", node("these", entry("kind"), ANY_COLOR)))]))
    formula = parse("G !(in(robot, aisle 1) | in(robot, aisle 2))")
    assert parse(written(spec, "no aisle", warehouse("aisle 1", "aisle 2", "cold store"))) is formula


def test_where_no_room_is_left_it_is_asked_which_is_meant() -> None:
    spec = node("never", listed([node("in_room", node("other_rooms"))]))
    with pytest.raises(QuestionError, match="no such rooms here"):
        written(spec, "no room but the hall", warehouse("hall"))


def test_where_there_is_nobody_it_is_asked_who_is_meant(table: Scene) -> None:
    with pytest.raises(QuestionError, match="I know of nobody here"):
        written(node("never", listed([node("near", node("anyone"))])), "anyone", table)


@pytest.mark.parametrize(
    ("thing", "command", "question"),
    [
        (node("the", entry("kind"), ANY_COLOR), "the block", "Which block do you mean: the red block, the blue block"),
        (node("the", ANY_KIND, entry("color")), "the red one", "Which red object do you mean"),
        (node("the", entry("kind"), entry("color")), "a red vases", "I see no red vase here"),
        (node("any", node("others", ANY_KIND, ANY_COLOR)), "the blocks, the bowls, the vase, anything else",
         "I see no object here"),
    ],
)  # fmt: skip
def test_what_is_not_clear_is_asked(thing: Node, command: str, question: str, table: Scene) -> None:
    with pytest.raises(QuestionError, match=question):
        written(node("never", listed([node("near", thing)])), command, table)


def test_a_proposition_in_a_scene_is_asked_about(table: Scene) -> None:
    sentence = Sentence((), {"prop": ("a",)}, "table")
    with pytest.raises(QuestionError, match="what 'a' should be"):
        specification(node("visit", listed([A])), SceneStates(sentence, table))


NOT_A = node("isnt", A)


@pytest.mark.parametrize(
    ("spec", "formula"),
    [
        (node("initially", A), "a"),
        (node("next", A), "X a"),
        (node("before", C, node("never", listed([A]))), "F c -> (c | (!a W c))"),
        (node("after", C, node("never", listed([A]))), "!c W (c & G !a)"),
        (node("between", B, C, node("visit", listed([A]))), "G ((b & !c & F c) -> (!c U (a & !c)))"),
        (node("not_before", listed([A]), B), "!a W b"),
        (node("always", listed([node("iff", A, B)])), "G (a <-> b)"),
    ],
)
def test_rules_may_have_a_scope(spec: Node, formula: str) -> None:
    assert specification(spec, LETTERS) is parse(formula)

"""Patterns become the formulas that Lang2LTL writes, and in a scene those that its propositions can say."""

from __future__ import annotations

import pytest

from llm_planner.errors import QuestionError
from llm_planner.language.embedded.command_forms import RULES
from llm_planner.language.embedded.formulas import specification
from llm_planner.language.embedded.states import States
from llm_planner.language.grounding.resolution import Resolver
from llm_planner.ltl.parser import parse, parse_prefix
from llm_planner.scene.places import Rectangle
from llm_planner.scene.scene import IDENTITY, Building, Room, Scene, SceneObject
from training.results import check_result, parse_result

ROOMS = ("kitchen", "lab", "office", "server room", "library", "hall")


def things(listing: str) -> tuple[SceneObject, ...]:
    objects = []
    for name in listing.split(", "):
        *color, kind = name.split()
        objects.append(SceneObject(name, kind, " ".join(color), (0.5, 0.0, 0.02), IDENTITY, (0.04, 0.04, 0.04)))
    return tuple(objects)


def building(*rooms: str) -> Building:
    return Building(tuple(Room(name, Rectangle(i, i + 1, 0, 1)) for i, name in enumerate(rooms)), ())


PEOPLE = tuple(SceneObject(n, "person", "", (0.0, 0.0, 0.9), IDENTITY, (0.5, 0.5, 1.8)) for n in ("Anna", "Ben"))
TABLE = Scene(0.0, things("red block, blue block, green block, red bowl, blue bowl, green bowl, vase"))
HOUSE = Scene(0.0, things("red parcel, blue parcel, mug") + PEOPLE, building=building(*ROOMS))
EMPTY = Scene(0.0, ())


def written(rule: str, command: str, scene: Scene, propositions: str = "") -> str:
    terms = parse_result(rule)
    check_result(terms, RULES)
    (term,) = terms
    return str(specification(term, States(Resolver(command, scene), tuple(propositions))))


def over_letters(rule: str) -> str:
    """Of a rule in which p, q and r are propositions."""
    for letter in "pqr":
        rule = rule.replace(f" {letter}", f' holds("{letter}")').replace(f"({letter}", f'(holds("{letter}")')
    return written(rule, "", EMPTY, "pqr")


@pytest.mark.parametrize(
    ("rule", "prefix"),
    [
        ("visit(p, q, r)", "& F p & F q F r"),
        ("sequence(p, q, r)", "F & p F & q F r"),
        ("ordered(p, q, r)", "& U ! q p & U ! r q F r"),
        ("strictly(p, q)", "& & U ! q p F q U ! p U p U ! p q"),
        ("patrol(p, q)", "& G F p G F q"),
        ("never(p, q)", "& G ! p G ! q"),
        ("at_least(n2, p)", "F & p U p & ! p U ! p F p"),
        ("at_most(n1, p)", "! F & p U p & ! p U ! p F p"),
        ("exactly(n1, p)", "M p | ! p G | p G ! p"),
        ("exactly(n0, p)", "G ! p"),
        ('at_least("three times", p)', "F & p U p & ! p U ! p F & p U p & ! p U ! p F p"),
        ("stay_until(p, q)", "U p q"),
        ("responds(p, q)", "G i p F q"),
        ("at_once(p, q)", "G i p X q"),
        ("just_then(p, q)", "G e p X q"),
        ("never_after(p, q)", "G i p X G ! q"),
        ("whenever(and(p, q), r)", "G i & p q r"),
        ("always(p)", "G p"),
    ],
)
def test_patterns_over_bare_propositions_are_lang2ltls(rule: str, prefix: str) -> None:
    assert parse(over_letters(rule)) is parse_prefix(prefix)


@pytest.mark.parametrize(
    ("rule", "formula"),
    [
        ("initially(p)", "p"),
        ("next(p)", "X p"),
        ("next(not(p))", "! X p"),
        ("next(globally(not(p)))", "!X F p"),
        ("always(implies(p, next(not(p))))", "G (p -> !X p)"),
        ("always(implies(and(p, next(not(p))), q))", "G ((p & X !p) -> q)"),
        ("before(q, never(p))", "F q -> (q | !p W q)"),
        ("after(p, never(q))", "!p W (p & G !q)"),
        ("between(p, q, never(r))", "G ((p & !q & F q) -> !r W q)"),
        ("between(p, q, visit(r))", "G ((p & !q & F q) -> !q U (r & !q))"),
        ("always(iff(p, q))", "G (p <-> q)"),
        ("only_after(q, p)", "!p W q"),
        ("only_after(not(q), p)", "!p W !q"),
        ("only_after(r, or(p, q))", "!(p | q) W r"),
    ],
)
def test_a_rule_holds_within_its_scope_and_obliges_nothing_else(rule: str, formula: str) -> None:
    assert parse(over_letters(rule)) is parse(formula)


@pytest.mark.parametrize(
    ("rule", "question"),
    [
        ('before(q, within("5 seconds", p))', "only up to another moment"),
        ('at_least("nineteen times", p)', "up to 9, not 19"),
        ("never(holding_any)", "which of the propositions"),
        ('never(near("cat"))', "which of the propositions"),
        ('within("a while", p)', "how much “a while” is"),
    ],
)
def test_what_cannot_be_said_of_propositions_is_asked_about(rule: str, question: str) -> None:
    with pytest.raises(QuestionError, match=question):
        over_letters(rule)


@pytest.mark.parametrize(
    ("rule", "command", "formula"),
    [
        ('never(near("vase"))', "the vase", "G !near(robot, vase)"),
        ('never(moved(any(others("blocks"))))', "the red block, the other blocks",
         "G !(moved(blue block) | moved(green block))"),
        ("never(holding(any(others)))", "the blocks, the bowls, anything else", "G !holding(vase)"),
        ('always(farther("vase", "30 cm"))', "the vase 30 cm", "G distance(robot, vase) > 0.3"),
        ('always(slower("0.2 m a second"))', "0.2 m a second", "G speed(robot) < 0.2"),
        ('stay_until(slower("10 cm/s"), moved("vase"))', "10 cm/s vase", "speed(robot) < 0.1 W moved(vase)"),
        ('stay_until(and(slower("10 cm/s"), farther("vase", "5 cm")), holding_any)', "10 cm/s vase 5 cm",
         "(distance(robot, vase) > 0.05 & speed(robot) < 0.1) W holding(anything)"),
        ('stay_until(over("vase"), holding_any)', "vase", "over(robot, vase) U holding(anything)"),
        ('never(and(holding("red bowl"), over(any("bowls"))))', "the red bowl over no bowls",
         "G !(holding(red bowl) & (over(robot, blue bowl) | over(robot, green bowl)))"),
        ('whenever(holding("red bowl"), not(over(any("bowls"))))', "the red bowl over no bowls",
         "G (holding(red bowl) -> !(over(robot, blue bowl) | over(robot, green bowl)))"),
        ('always(lower(any("block"), "20 cm"))', "any block below 20 cm",
         "G (height(red block) < 0.2 & height(blue block) < 0.2 & height(green block) < 0.2)"),
        ('always(farther("vase", "ten"))', "ten clear of the vase", "G distance(robot, vase) > 0.1"),
        ('always(farther("vase", "0.1"))', "0.1 clear of the vase", "G distance(robot, vase) > 0.1"),
        ('always(farther("vase", "a good hand\'s width"))', "off the vase", "G distance(robot, vase) > 0.1"),
        ('whenever(over("vase"), holding("red bowl"))', "nothing over the vase but the red bowl",
         "G (over(robot, vase) -> holding(red bowl))"),
        ('never(near("the green one"))', "the blue block, the green one", "G !near(robot, green block)"),
        ('never(is_in("the red one", "red bowl"))', "the blocks, the red one in the red bowl",
         "G !in(red block, red bowl)"),
        ('always(is_at("vase", top_left_corner))', "vase", "G at(vase, top left corner)"),
        ('never(is_on("vase", "red block"))', "the vase on a block that is red", "G !on(vase, red block)"),
        ('only_after(moved(each("blocks")), over("vase"))', "over the vase, all blocks",
         "!over(robot, vase) W (moved(blue block) & moved(green block) & moved(red block))"),
        ('only_after(moved("vase"), holding_any)', "pick up nothing before the vase is done",
         "!(holding(red block) | holding(blue block) | holding(green block) | holding(red bowl) | holding(blue bowl) | "
         "holding(green bowl)) W moved(vase)"),
        ('only_after(moved("the red one"), moved(any(things)))', "blocks in bowls, none before the red one",
         "!(holding(blue block) | holding(green block) | holding(red bowl) | holding(blue bowl) | holding(green bowl) "
         "| holding(vase)) W moved(red block)"),
    ],
)  # fmt: skip
def test_states_of_a_table(rule: str, command: str, formula: str) -> None:
    assert parse(written(rule, command, TABLE)) is parse(formula)


@pytest.mark.parametrize(
    ("rule", "command", "formula"),
    [
        ('sequence(in("kitchen"), looked("lab"))', "kitchen, lab", "F(in(robot, kitchen) & F did(look, lab))"),
        ('visit(near("anna"))', "Anna", "F near(robot, Anna)"),
        ('visit(is_in("mug", "lab"))', "the mug, the lab", "F in(mug, lab)"),
        ('only_after(in("office"), in("server room"))', "server room, office",
         "!in(robot, server room) W in(robot, office)"),
        ('never_after(waited("hall"), in("lab"))', "hall, lab", "G(in(robot, hall) -> G !in(robot, lab))"),
        ('never_after(in("lab"), in("lab"))', "lab",
         "!F (in(robot, lab) & in(robot, lab) U (!in(robot, lab) & !in(robot, lab) U F in(robot, lab)))"),
        ('never_after(and(holding("mug"), near("anna")), near("anna"))', "mug to Anna",
         "G(holding(mug) & near(robot, Anna) -> G(!near(robot, Anna) -> G !near(robot, Anna)))"),
        ('within("30 seconds", in("lab"))', "lab 30 seconds", "F[0,30] in(robot, lab)"),
        ('lasting("5 seconds", in("lab"))', "lab 5 seconds", "F G[0,5] in(robot, lab)"),
        ('from_now("5 seconds", not(in("lab")))', "lab 5 seconds", "G[0,5] !in(robot, lab)"),
        ('finish(in("lab"))', "end in the lab", "F G in(robot, lab)"),
        ("visit(looked(other_rooms))", "all but the lab, the hall and the library",
         "F did(look, kitchen) & F did(look, office) & F did(look, server room)"),
        ("never(in(other_rooms))", "only kitchen, lab, office, library, hall", "G !in(robot, server room)"),
        ('only_after(near("ben"), in(every_room))', "Ben",
         "!(in(robot, kitchen) | in(robot, lab) | in(robot, office) | in(robot, server room) | in(robot, library) "
         "| in(robot, hall)) W near(robot, Ben)"),
        ('visit(in(rooms_of("lab")))', "any lab", "F in(robot, lab)"),
        ('never(near(any("anna")))', "anna", "G !near(robot, Anna)"),
        ("never(near(anyone))", "anyone", "G !(near(robot, Anna) | near(robot, Ben))"),
        ('always(farther(anyone, "1 m"))', "1 m from people",
         "G (distance(robot, Anna) > 1 & distance(robot, Ben) > 1)"),
    ],
)  # fmt: skip
def test_states_of_a_building(rule: str, command: str, formula: str) -> None:
    assert parse(written(rule, command, HOUSE)) is parse(formula)


@pytest.mark.parametrize(
    ("rule", "command", "formula"),
    [
        ('never(in(rooms_of("aisle")))', "any aisle", "G !in(robot, aisle 1) & G !in(robot, aisle 2)"),
        ('never(near(any(others("aisles"))))', "of the aisles only aisle 1", "G !in(robot, aisle 2)"),
        ('never(near(any("aisle")))', "touch no aisle", "G !(in(robot, aisle 1) | in(robot, aisle 2))"),
    ],
)
def test_rooms_of_one_name_are_spoken_of_by_it(rule: str, command: str, formula: str) -> None:
    warehouse = Scene(0.0, (), building=building("aisle 1", "aisle 2", "cold store"))
    assert parse(written(rule, command, warehouse)) is parse(formula)


@pytest.mark.parametrize(
    ("thing", "command", "question"),
    [
        ('"the block"', "the block", "Which block do you mean: the red block, the blue block"),
        ('"the red one"', "the red one", "Which red object do you mean"),
        ('any("red vases")', "the red vases", "I see no red vase here"),
        ("any(others)", "the blocks, the bowls, the vase, anything else", "I see no object here"),
        ("anyone", "anyone", "I know of nobody here"),
    ],
)
def test_what_is_not_clear_is_asked(thing: str, command: str, question: str) -> None:
    with pytest.raises(QuestionError, match=question):
        written(f"never(near({thing}))", command, TABLE)


def test_what_is_carried_is_over_itself_at_all_times() -> None:
    with pytest.raises(QuestionError, match="I am over the vase whenever I carry it"):
        written('never(and(holding("vase"), over("vase")))', "don't carry the vase over anything", TABLE)


def test_that_something_fixed_is_held_is_asked_about() -> None:
    table = Scene(0.0, things("mug, button"))
    with pytest.raises(QuestionError, match="I cannot pick up the button"):
        written('only_after(is_on("mug", "button"), moved("button"))', "the mug before the button", table)
    with pytest.raises(QuestionError, match="I cannot pick up the hall"):
        written('never(and(holding("hall"), in("hall")))', "not through the hall with it", HOUSE)


def test_where_no_room_is_left_it_is_asked_which_is_meant() -> None:
    with pytest.raises(QuestionError, match="no such rooms here"):
        written("never(in(other_rooms))", "no room but the hall", Scene(0.0, (), building=building("hall")))


def test_a_proposition_in_a_scene_is_asked_about() -> None:
    with pytest.raises(QuestionError, match="“a” is none of the propositions"):
        written('visit(holds("a"))', "a", TABLE)

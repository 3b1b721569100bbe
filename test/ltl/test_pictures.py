"""Automata as pictures: every state and edge is shown, labels keep clear of each other, and text is only text."""

import itertools
import xml.etree.ElementTree as ElementTree

import pytest

from llm_planner.errors import InputError
from llm_planner.ltl.alphabet import Alphabet
from llm_planner.ltl.automaton import automaton
from llm_planner.ltl.automaton_picture import LINE_LENGTH, MAX_STATES, RADIUS, automaton_svg, broken, conditions
from llm_planner.ltl.parser import parse

SVG = "{http://www.w3.org/2000/svg}"
FORMULAS = [
    "G !near(robot, vase)",
    "F a & !F a",
    "G (a -> X b)",
    "F (a & F (b & F c))",
    "F a & F b",
    "F (in(robot, kitchen) & F in(robot, lab)) & (!in(robot, server room) W in(robot, office))",
    "G (holding(red block) -> F in(red block, bowl)) & G !holding(vase)",
    "(!a U b) & G (c -> X d)",
]


def built(text):
    formula = parse(text)
    rooms = tuple(name for name in formula.propositions if name.startswith("in(robot"))
    return automaton(formula, Alphabet(formula.propositions, (rooms,) if rooms else ()))


def picture(text):
    return ElementTree.fromstring(automaton_svg(built(text), text))


def places(root):
    """Return the centre of each state by its number."""
    numbers = [text for text in root.findall(f"{SVG}text") if "number" in text.get("class")]
    return {int(text.text): (float(text.get("x")), float(text.get("y")) - 5) for text in numbers}


def labels(root):
    """Return the box of each label: left, right, top and bottom."""
    rows = [row for row in root.findall(f"{SVG}rect") if row.get("class") == "label"]
    values = [[float(row.get(key)) for key in ("x", "y", "width", "height")] for row in rows]
    return [(x, x + width, y, y + height) for x, y, width, height in values]


def test_states_stand_in_the_order_in_which_they_are_reached_and_the_doomed_one_is_last():
    across = {state: x for state, (x, _) in places(picture("F (a & F (b & F c)) & G !d")).items()}
    (doomed,) = across.keys() - built("F (a & F (b & F c)) & G !d").live
    live = sorted(across.keys() - {doomed})
    assert sorted(across, key=across.get) == [*live, doomed]


@pytest.mark.parametrize("text", FORMULAS)
def test_labels_and_states_keep_clear_of_each_other(text):
    root = picture(text)
    for (left, right, top, bottom), (left2, right2, top2, bottom2) in itertools.combinations(labels(root), 2):
        assert right <= left2 or right2 <= left or bottom <= top2 or bottom2 <= top
    for (left, right, top, bottom), (x, y) in itertools.product(labels(root), places(root).values()):
        assert right < x - RADIUS or left > x + RADIUS or bottom < y - RADIUS or top > y + RADIUS


@pytest.mark.parametrize("text", FORMULAS)
def test_the_picture_shows_every_state_and_edge_within_its_frame(text):
    drawn, root = built(text), picture(text)
    states = range(len(drawn.transitions))
    edges = sum(len(conditions(drawn, state)) for state in states if state == 0 or state in drawn.live)
    assert len(root.findall(f"{SVG}circle")) == len(states) + len(drawn.accepting)
    assert len(root.findall(f"{SVG}path")) == edges + 1  # and the arrow into the first state
    assert len(labels(root)) == edges
    width, height = float(root.get("width")), float(root.get("height"))
    for left, right, top, bottom in labels(root):
        assert 0 < left < right < width
        assert 0 < top < bottom < height


def test_words_of_the_sentence_are_text_and_never_markup():
    svg = automaton_svg(built("F a"), '</title><script>alert("x")</script> & more')
    root = ElementTree.fromstring(svg)
    assert "<script" not in svg
    assert root.find(f"{SVG}title").text == '</title><script>alert("x")</script> & more'


def test_a_long_sentence_is_written_in_several_lines():
    svg = automaton_svg(built("F a"), "visit the kitchen and then the lab " * 6)
    assert svg.count('class="title"') > 2


def test_long_labels_begin_each_alternative_on_a_line_of_its_own():
    text = "holding(red block) & !in(red block, bowl) | holding(vase)"
    assert broken(text) == ("holding(red block)", "& !in(red block, bowl)", "| holding(vase)")
    assert broken("a & b") == ("a & b",)
    assert all(len(line) <= LINE_LENGTH for line in broken(" & ".join(f"name{k}" for k in range(20))))


def test_an_automaton_that_nobody_could_read_is_not_drawn():
    text = " & ".join(f"F {name}" for name in "abcde")
    with pytest.raises(
        InputError, match=rf"the automaton has 32 states, and a picture shows at most {MAX_STATES}; give"
    ):
        picture(text)

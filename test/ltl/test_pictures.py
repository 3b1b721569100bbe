"""Automata as pictures: all states and edges are there, nothing lies on anything else, and text is only text."""

import itertools
import time
import xml.etree.ElementTree as ElementTree

import pytest

from llm_planner.errors import InputError
from llm_planner.ltl.alphabet import Alphabet
from llm_planner.ltl.automaton import automaton
from llm_planner.ltl.automaton_drawing import LINE_LENGTH, RADIUS, automaton_svg, broken, lay_out
from llm_planner.ltl.automaton_graph import MAX_STATES, graph_of
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


def graph(text):
    formula = parse(text)
    rooms = tuple(name for name in formula.propositions if name.startswith("in(robot"))
    return graph_of(automaton(formula, Alphabet(formula.propositions, (rooms,) if rooms else ())))


def test_a_graph_has_one_edge_a_pair_and_knows_what_states_mean():
    drawn = graph("(!a U b) & F b")
    assert len({(edge.source, edge.target) for edge in drawn.edges}) == len(drawn.edges)
    assert [node.accepting for node in drawn.nodes].count(True) == 1
    assert [node.doomed for node in drawn.nodes].count(True) == 1
    doomed = next(node.number for node in drawn.nodes if node.doomed)
    assert {edge.text for edge in drawn.edges if edge.target == doomed} == {"a & !b"}
    assert not [edge for edge in drawn.edges if edge.source == doomed]


def test_states_stand_in_the_order_in_which_they_are_reached():
    drawn = graph("F (a & F (b & F c))")
    layout = lay_out(drawn)
    assert [len(column) for column in drawn.columns()] == [1, 1, 1, 1]
    across = [layout.places[column[0]].real for column in drawn.columns()]
    assert across == sorted(across)


def test_a_state_that_is_come_back_to_stays_where_it_is_first_met():
    assert graph("G (a -> X b)").columns()[0] == (0,)


@pytest.mark.parametrize("text", FORMULAS)
def test_labels_and_states_keep_clear_of_each_other(text):
    layout = lay_out(graph(text))
    for a, b in itertools.combinations(layout.places.values(), 2):
        assert abs(a - b) > 3 * RADIUS
    for a, b in itertools.combinations([route.box for route in layout.routes], 2):
        assert not a.overlaps(b, margin=0.0)
    for route in layout.routes:
        assert all(route.box.distances(place) > RADIUS for place in layout.places.values())
        others = [
            place for state, place in layout.places.items() if state not in (route.edge.source, route.edge.target)
        ]
        assert all(abs(point - place) > RADIUS for point in route.samples for place in others)


@pytest.mark.parametrize("text", FORMULAS)
def test_the_picture_shows_every_state_and_edge_within_its_frame(text):
    drawn = graph(text)
    root = ElementTree.fromstring(automaton_svg(drawn, text))
    doubled = sum(node.accepting for node in drawn.nodes)
    assert len(root.findall(f"{SVG}circle")) == len(drawn.nodes) + doubled
    assert len(root.findall(f"{SVG}path")) == len(drawn.edges) + 1  # and the arrow into the first state
    width, height = float(root.get("width")), float(root.get("height"))
    for circle in root.findall(f"{SVG}circle"):
        assert RADIUS < float(circle.get("cx")) < width - RADIUS
        assert RADIUS < float(circle.get("cy")) < height - RADIUS


def test_words_of_the_sentence_are_text_and_never_markup():
    picture = automaton_svg(graph("F a"), '</title><script>alert("x")</script> & more')
    root = ElementTree.fromstring(picture)
    assert "<script" not in picture
    assert root.find(f"{SVG}title").text == '</title><script>alert("x")</script> & more'


def test_a_long_sentence_is_written_in_several_lines():
    picture = automaton_svg(graph("F a"), "visit the kitchen and then the lab " * 6)
    assert picture.count('class="title"') > 2


def test_long_labels_begin_each_alternative_on_a_line_of_its_own():
    text = "holding(red block) & !in(red block, bowl) | holding(vase)"
    assert broken(text) == ("holding(red block)", "& !in(red block, bowl)", "| holding(vase)")
    assert broken("a & b") == ("a & b",)
    assert all(len(line) <= LINE_LENGTH for line in broken(" & ".join(f"name{k}" for k in range(20))))


def test_a_picture_of_eight_states_takes_little_time():
    began = time.process_time()
    automaton_svg(graph("F a & F b & F c"), "three things")
    assert time.process_time() - began < 10.0  # [s] of CPU; it takes about one


def test_an_automaton_that_nobody_could_read_is_not_drawn():
    text = " & ".join(f"F {name}" for name in "abcde")
    with pytest.raises(
        InputError, match=rf"the automaton has 32 states, and a picture shows at most {MAX_STATES}; give"
    ):
        graph(text)

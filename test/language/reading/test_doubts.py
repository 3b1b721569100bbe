"""Doubts: what was said and is not in the formula, and words for things that are not there."""

from __future__ import annotations

import pytest

from llm_planner.language.compact.constraints.doubts import DOUBT, doubt, unknown, unknown_thing
from llm_planner.language.compact.constraints.generator.phrasing import listed, node
from llm_planner.language.compact.constraints.lifting import lift
from llm_planner.language.compact.constraints.naming import scene_phrases
from llm_planner.language.compact.grammar import Node, Pointer
from llm_planner.world.scene import Scene

KNOWN = frozenset(["stay", "away", "from", "the", "kitchen", "while", "please", "lamp", "never", "enter", "before"])
ROOM = Node(Pointer("room", 0))
STAY_OUT, VISIT = (node(step, listed([node("in_room", ROOM)])) for step in ("never", "visit"))
MUG = node("holding", Node(Pointer("object", 0)))
CARRIED_IN = node("whenever", MUG, node("in_room", ROOM))
FAR = node("whenever", MUG, node("farther", Node(Pointer("person", 0)), Node(Pointer("quantity", 6))))
SLOW = node("whenever", MUG, node("slower", Node(Pointer("speed", 6))))
NO_OTHER = node("never", listed([node("in_room", node("other_rooms"))]))


@pytest.mark.parametrize(
    ("spec", "command", "left_out"),
    [
        (STAY_OUT, "stay out of the lab", 0),
        (STAY_OUT, "stay out of the lab and the hall", 1),
        (STAY_OUT, "stay out of the lab for 20 seconds, 1 m away", 2),
        (VISIT, "do not visit the lab", 1),
        (VISIT, "do not forget the lab", 0),
        (VISIT, "bring it to the lab from the hall", 0),
        (CARRIED_IN, "with the mug do not enter the lab", 1),
        (CARRIED_IN, "with the mug enter only the lab, do not wait", 0),
        (FAR, "with the mug stay away 1 m from Anna", 0),
        (SLOW, "with the mug go slower than 0.2 m/s, 1 m from the door", 1),
        (NO_OTHER, "enter no room but the lab and the hall", 0),
    ],
)
def test_every_thing_left_out_is_a_doubt(spec: Node, command: str, left_out: int, rooms: Scene) -> None:
    sentence = lift(command, scene_phrases(rooms), "rooms")
    assert doubt(spec, sentence.words, sentence) == pytest.approx(DOUBT**left_out)


def test_a_word_that_training_never_showed_is_a_guess(rooms: Scene) -> None:
    words = lift("stay away from the attic", scene_phrases(rooms), "rooms").words
    assert unknown(words, KNOWN) == "attic"


@pytest.mark.parametrize(
    ("command", "thing"),
    [
        ("stay away from the attic", "attic"),
        ("stay away from the kitchen, zounds", ""),
        ("stay away from the lamp", ""),
        ("stay away from the lammp", ""),
    ],
)
def test_a_thing_of_an_unknown_name_is_told_from_a_slip_of_the_finger(command: str, thing: str, rooms: Scene) -> None:
    assert unknown_thing(lift(command, scene_phrases(rooms), "rooms").words, KNOWN) == thing

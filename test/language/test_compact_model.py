"""The compact model with the weights it ships with: what it writes, and when it asks."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest

from llm_planner.language.compact.constraints.reader import load_reader
from llm_planner.language.compact.inference import NumpyNetwork, load_weights
from llm_planner.language.compact.model import MAX_WORDS, WEIGHTS, CompactModel, load_compact_model
from llm_planner.language.model import Attempt, ProgramReply, ProgramRequest
from llm_planner.world.scene import IDENTITY, Scene, SceneObject


def scene(listing: str) -> Scene:
    objects = []
    for name in listing.split(", "):
        *color, kind = name.split()
        objects.append(SceneObject(name, kind, " ".join(color), (0.5, 0.0, 0.02), IDENTITY, (0.04, 0.04, 0.04)))
    return Scene(0.0, tuple(objects))


TABLE = "red block, blue block, green bowl, mug"


def ask(command: str, listing: str = TABLE, attempts: tuple[Attempt, ...] = ()) -> ProgramReply:
    return load_compact_model().write_program(ProgramRequest(command, scene(listing), attempts))


@pytest.mark.parametrize(
    ("command", "program"),
    [
        ("put the red block in the green bowl", 'pick("red block")\nplace_in("green bowl")\n'),
        ("Stack the red block on the blue one.", 'pick("red block")\nplace_on("blue block")\n'),
        ("could you please pick up the mug", 'pick("mug")\n'),
        ("push the blue block 5 cm to the left", 'push("blue block", "left", 0.05)\n'),
        ("go home", "go_home()\n"),
        ("Go home!!", "go_home()\n"),
        ("put the rde block in the green bolw", 'pick("red block")\nplace_in("green bowl")\n'),
    ],
)
def test_everyday_commands_become_the_program_a_person_expects(command: str, program: str) -> None:
    reply = ask(command)
    assert reply.program == program
    assert 0.5 <= reply.confidence <= 1.0


def test_things_never_seen_in_training_are_copied_from_the_scene() -> None:
    program = ask("put the zorgle in the green bowl", "zorgle, frumpet, green bowl").program
    assert program == 'pick("zorgle")\nplace_in("green bowl")\n'


@pytest.mark.parametrize(
    ("command", "question"),
    [
        (
            "put the purple block in the green bowl",
            "I see no purple block here.*red block, blue block, green bowl, mug",
        ),
        ("pick up the block", "Which block do you mean: the red block or the blue block"),
        ("xqzv bnmt wopl", "I did not understand"),
        ("make coffee", "I cannot do all of"),
        ("press it", 'what to make of "press it"'),
        ("hit the red block with the mug", 'what to make of "hit"'),
        ("close them", 'what to make of "close them"'),
        ("put the red block in the green bowl but never touch the mug", "sets a condition on how I move"),
        ("knock over the vase", "I see no vase here"),
        ("knock over the bowl", "I cannot do all of"),
        ("... 7 !", "I heard no words"),
        ("", "I heard no words"),
        ("put it " * MAX_WORDS, "words; I can follow at most 64"),
    ],
)
def test_what_cannot_be_carried_out_is_asked_about(command: str, question: str) -> None:
    reply = ask(command)
    assert reply.program == ""

    assert re.search(question, reply.question)


def test_what_can_be_done_to_furniture_is_told_where_it_is() -> None:
    assert "I can pick, place, push and arrange what is on the table. For instance" in ask("make coffee").question
    furnished = ask("make coffee", "red block, drawer, red button, stain").question
    assert "open and close the drawer, press the red button, wipe the stain off. For instance" in furnished


def test_what_is_in_the_hand_is_only_put_down() -> None:
    holding = replace(scene(TABLE), held="red block")
    reply = load_compact_model().write_program(ProgramRequest("put the red block in the green bowl", holding))
    assert reply.program == 'place_in("green bowl")\n'


def test_a_program_that_was_refused_is_not_offered_again() -> None:
    first = ask("put the red block in the green bowl").program
    again = ask("put the red block in the green bowl", attempts=(Attempt(first, ("no",)),))
    assert again.program != first
    assert again.question


def test_where_only_one_thing_can_be_meant_the_question_says_why_it_is_not_done() -> None:
    refused = (Attempt('press("mug")', ("line 1, column 1: the mug is no button",)),)
    question = ask("press the mug", "mug, red button", attempts=refused).question
    assert question == 'I cannot do "press the mug": the mug is no button'


def test_below_its_confidence_it_asks() -> None:
    careful = CompactModel(NumpyNetwork(*load_weights(WEIGHTS)), load_reader(), min_confidence=1.01)
    reply = careful.write_program(ProgramRequest("pick up the mug", scene(TABLE)))
    assert reply.program == ""
    assert 'I am not sure what you mean by "pick up the mug"' in reply.question


def test_the_same_words_always_get_the_same_answer() -> None:
    assert ask("put the mug on the left side") == ask("put the mug on the left side")


def test_the_weights_stay_small() -> None:
    assert sum(path.stat().st_size for path in WEIGHTS.iterdir()) < 20e6

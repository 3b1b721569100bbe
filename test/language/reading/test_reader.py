"""The reader with the shipped weights, on plain sentences; and what a derivation comes to."""

from __future__ import annotations

from pathlib import Path

import pytest

from llm_planner.errors import LanguageModelError
from llm_planner.language.compact.constraints.lifting import lift
from llm_planner.language.compact.constraints.naming import scene_phrases
from llm_planner.language.compact.constraints.reader import CommandReader, Meaning, load_reader
from llm_planner.language.compact.constraints.states import SceneStates
from llm_planner.language.compact.grammar import Pointer, Step
from llm_planner.language.compact.search import Reading as Derivation
from llm_planner.language.model import Reading, ReadingRequest
from llm_planner.temporal.formula import conj
from llm_planner.temporal.parser import parse
from llm_planner.world.scene import Scene


def read(command: str, scene: Scene, propositions: tuple[str, ...] = ()) -> Reading:
    return load_reader().read(ReadingRequest(command, scene, propositions)).readings[0]


def formula_of(reading: Reading) -> object:
    return conj(*(parse(constraint.formula) for constraint in reading.constraints))


@pytest.mark.parametrize(
    ("command", "formula"),
    [
        ("go to the kitchen and then to the lab", "F(in(robot, kitchen) & F in(robot, lab))"),
        ("never enter the server room", "G !in(robot, server room)"),
        ("do not go to the lab before you have been to the office", "!in(robot, lab) W in(robot, office)"),
        ("bring the mug to the library", "F in(mug, library)"),
        ("stay away from Ben", "G !near(robot, Ben)"),
        ("keep at least 1 m away from Anna", "G distance(robot, Anna) > 1"),
        ("while you carry the mug, never go into the kitchen", "G(holding(mug) -> !in(robot, kitchen))"),
        ("visit the lab and finish in the hall", "F in(robot, lab) & F G in(robot, hall)"),
    ],
)
def test_commands_in_a_building(command: str, formula: str, rooms: Scene) -> None:
    assert formula_of(read(command, rooms)) is parse(formula)


@pytest.mark.parametrize(
    ("command", "task", "formula"),
    [
        ("put the red block in the blue bowl", "put the red block in the blue bowl", "true"),
        ("never touch the vase", "", "G !moved(vase)"),
        (
            "put the red block in the red bowl and stay away from the vase",
            "put the red block in the red bowl",
            "G !near(robot, vase)",
        ),
        (
            "stack the blocks, but don't touch anything else",
            "stack the blocks",
            "G !(moved(blue bowl) | moved(green bowl) | moved(red bowl) | moved(vase))",
        ),
    ],
)
def test_commands_at_a_table(command: str, task: str, formula: str, table: Scene) -> None:
    reading = read(command, table)
    assert reading.task == task
    assert formula_of(reading) is parse(formula)


def test_bare_propositions_are_read_as_lang2ltls_are() -> None:
    reading = read("go to a and then to b", Scene(0.0, ()), ("a", "b"))
    assert formula_of(reading) is parse("F(a & F b)")


def test_a_thing_that_is_not_there_is_asked_about(rooms: Scene) -> None:
    rule = ("last_part", "specify", Pointer("word", 6), "never", "one", "in_room", Pointer("room", 0))
    known = frozenset(["never", "enter", "the", "or"])
    reading = meaning("never enter the lab or the attic", rooms, "reading", *rule, known=known)
    assert 'I do not know what "attic" is here' in reading.question


@pytest.mark.parametrize(("command", "question"), [("?!", "I heard no words"), ("go " * 90, "at most 79")])
def test_what_is_no_sentence_is_asked_about(command: str, question: str, rooms: Scene) -> None:
    assert question in read(command, rooms).question


def test_missing_weights_are_named(tmp_path: Path) -> None:
    with pytest.raises(LanguageModelError, match="cannot be read from"):
        load_reader(tmp_path)


def meaning(command: str, scene: Scene, *steps: Step, known: frozenset[str] = frozenset()) -> Reading:
    sentence = lift(command, scene_phrases(scene), "rooms" if scene.building else "table")
    derivation = Derivation(steps, 1.0)
    return Meaning(command, sentence, SceneStates(sentence, scene), known).reading(derivation)[0]


def test_an_errand_that_follows_another_is_not_read_apart_from_it(rooms: Scene) -> None:
    errands = []
    for index, last in enumerate((4, 11)):
        place = ("visit", "one", "in_room", Pointer("room", index))
        errands += [("more_parts", "last_part")[index], "specify", Pointer("word", last), *place]
    apart = meaning("go to the lab quickly , then go to the hall please now", rooms, "reading", *errands)
    assert 'After what should the robot do this: "then go to the hall' in apart.question


def test_what_leads_to_a_task_belongs_to_the_rule_before_it(table: Scene) -> None:
    rule = ("more_parts", "specify", Pointer("word", 4), "never", "one", "near", Pointer("object", 0))
    task = ("last_part", "task", Pointer("word", 10))
    reading = meaning("stay away from the vase, then stack the blocks", table, "reading", *rule, *task)
    assert reading.task == "stack the blocks"
    assert reading.constraints[0].words == "stay away from the vase, then"


@pytest.mark.parametrize(
    ("command", "task"),
    [
        ("pick up the vase , but only after the red block is done", "pick up the vase"),
        ("only pick up the vase after the red block is done today", ""),
    ],
)
def test_work_that_has_to_wait_is_work_and_a_rule(command: str, task: str, table: Scene) -> None:
    block, vase = (Pointer("object", index) for index in (1, 0))
    rule = ("last_part", "specify", Pointer("word", 11), "not_before", "one", "holding", vase, "moved", block)
    reading = meaning(command, table, "reading", *rule)
    assert reading.task == task
    assert formula_of(reading) is parse("!holding(vase) W moved(red block)")


def test_what_an_arm_is_to_bring_about_is_its_task(table: Scene) -> None:
    work = (
        "last_part",
        "specify",
        Pointer("word", 6),
        "visit",
        "one",
        "is_in",
        Pointer("object", 0),
        Pointer("object", 1),
    )
    reading = meaning("put the red block in the red bowl", table, "reading", *work)
    assert (reading.task, reading.constraints) == ("put the red block in the red bowl", ())


def test_a_drawn_reading_that_leaves_something_out_is_a_question(rooms: Scene) -> None:
    known = load_reader().known - {"visit"}
    reader = CommandReader(load_reader().network, known, min_confidence=0.0)
    readings = reader.read(ReadingRequest("visit the lab", rooms, samples=4)).readings
    assert readings[0].constraints
    assert all("I am not sure" in reading.question for reading in readings[1:])

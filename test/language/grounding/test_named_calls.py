"""A skill of one's own is called by the words of its name, alone or as a clause of a command."""

from __future__ import annotations

import pytest

from llm_planner.errors import QuestionError
from llm_planner.language.grounding.named_calls import Part, parts_of
from llm_planner.programs.signatures import Parameter, Signature
from llm_planner.scene.scene import IDENTITY, Scene, SceneObject

WAVE = Signature("wave_at", (Parameter("object", "object"),), is_skill=True)
NUDGE = Signature(
    "nudge", (Parameter("object", "object"), Parameter("direction", "direction"), Parameter("by", "number", 0.02)),
    is_skill=True,
)  # fmt: skip
NOD = Signature("nod", (Parameter("times", "number", 1.0),), is_skill=True)
SHAKE = Signature("shake", (), is_skill=True)
TAP = Signature(
    "tap", (Parameter("object", "object"), Parameter("times", "number", 1), Parameter("by", "number", 5, unit="cm")),
    is_skill=True,
)  # fmt: skip
PICK = Signature("pick", (Parameter("object", "object"),), is_skill=True)


@pytest.fixture
def scene() -> Scene:
    size = (0.04, 0.04, 0.04)
    blocks = ("red block", "blue block")
    things = [
        SceneObject(name, "block", name.split()[0], (0.4, 0.1 * k, 0.02), IDENTITY, size)
        for k, name in enumerate(blocks)
    ]
    return Scene(0.0, tuple(things))


SKILLS = (WAVE, NUDGE, NOD, SHAKE, TAP, PICK)


@pytest.mark.parametrize(
    ("words", "program"),
    [
        ("wave at the red block", 'wave_at(object="red block")'),
        ("Please wave at the blue one.", 'wave_at(object="blue block")'),
        ("Wave at the blue block, please!", 'wave_at(object="blue block")'),
        ("nudge the red block left", 'nudge(object="red block", direction="left")'),
        ("nudge the red block left by 5 cm", 'nudge(object="red block", direction="left", by=0.05)'),
        ("nod", "nod()"),
        ("nod 3 times", "nod(times=3)"),
        ("nod three times please", "nod(times=3)"),
        ("nod twice", "nod(times=2)"),
        ("tap the red block 3 times", 'tap(object="red block", times=3)'),
        ("tap the red block by 8 cm", 'tap(object="red block", by=8)'),
        ("tap by 0.1 m twice at the red block", 'tap(object="red block", times=2, by=10)'),
        ("tap the red block 3 8", 'tap(object="red block", times=3, by=8)'),
    ],
)
def test_a_command_that_names_a_skill_is_its_call(scene, words, program):
    assert [one.call for one in parts_of(words, SKILLS, scene) if one.call] == [program]


def test_a_call_may_be_a_clause_of_a_command(scene):
    assert parts_of("Pick up the red block, shake and nod twice, then put it down.", SKILLS, scene) == (
        Part("Pick up the red block"),
        Part("", "shake()"),
        Part("", "nod(times=2)"),
        Part("put it down"),
    )
    assert parts_of("Shake. Put the red block left and the blue block right!", SKILLS, scene)[1:] == (
        Part("Put the red block left and the blue block right"),
    )


def test_it_is_what_the_words_before_named_last(scene):
    (_, call) = parts_of("push the red block away and wave at it", SKILLS, scene)
    assert call == Part("", 'wave_at(object="red block")')


@pytest.mark.parametrize("words", ["pick up the red block", "put the shaker away, then pick the red block"])
def test_other_commands_are_left_whole(scene, words):
    assert parts_of(words, SKILLS, scene) == (Part(words),)


@pytest.mark.parametrize(
    ("words", "told"),
    [
        ("nudge the red block", "nudge (object) (direction)"),
        ("do not wave at the red block", "wave at (object)"),
        ("pick up the mug while shaking", "shake"),
        ("shake 0.3", "shake"),
        ("wave at the block", "Which block"),
    ],
)
def test_a_skill_that_is_named_and_not_called_is_asked_about(scene, words, told):
    with pytest.raises(QuestionError) as question:
        parts_of(words, SKILLS, scene)
    assert told in str(question.value)

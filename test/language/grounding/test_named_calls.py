"""A skill of one's own is called by the words of its name."""

from __future__ import annotations

import pytest

from llm_planner.language.grounding.named_calls import named_call
from llm_planner.programs.signatures import Parameter, Signature
from llm_planner.scene.scene import IDENTITY, Scene, SceneObject

WAVE = Signature("wave_at", (Parameter("object", "object"),), is_skill=True)
NUDGE = Signature(
    "nudge", (Parameter("object", "object"), Parameter("direction", "direction"), Parameter("by", "number", 0.02)),
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


@pytest.mark.parametrize(
    ("words", "program"),
    [
        ("wave at the red block", 'wave_at(object="red block")'),
        ("Please wave at the blue one.", ""),  # "the blue one" is for the model that resolves descriptions
        ("Wave at the blue block, please!", 'wave_at(object="blue block")'),
        ("nudge the red block left", 'nudge(object="red block", direction="left")'),
        ("nudge the red block left by 5 cm", 'nudge(object="red block", direction="left", by=0.05)'),
        ("nudge the red block", ""),  # the direction is missing
        ("wave at the red block and then stop", ""),  # words are left over
        ("pick the red block", ""),  # a shipped skill is the embedded model's
        ("do not wave at the red block", ""),
    ],
)
def test_a_command_that_names_a_skill_is_its_call(scene, words, program):
    assert named_call(words, (WAVE, NUDGE, PICK), scene) == program

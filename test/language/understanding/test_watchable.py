"""Rules about what nothing can watch become a question; what propositions and skills can tell does not."""

from __future__ import annotations

import pytest

from llm_planner.language.understanding.watchable import unwatched
from llm_planner.programs.signatures import Signature
from llm_planner.scene.scene import IDENTITY, Scene, SceneObject

SCENE = Scene(
    0.0,
    tuple(
        SceneObject(name, name, "", (0.5, 0.0, 0.02), IDENTITY, (0.04, 0.04, 0.04)) for name in ("mug", "plate", "vase")
    ),
)


@pytest.mark.parametrize(
    ("words", "quoted"),
    [
        ("put the mug on the plate and never tilt it", "never tilt"),
        ("put the mug on the plate, keep it upright", "keep it upright"),
        ("keep the mug level at all times", "keep the mug level"),
        ("put the mug on the plate, don't spill the coffee", "don't spill"),
        ("put the mug on the plate without shaking it", "without shaking"),
        ("do not scratch the vase", "not scratch"),
        ("please don't ever squeeze it", "don't ever squeeze"),
    ],
)
def test_a_state_that_no_predicate_has_is_quoted_with_what_can_be_watched(words: str, quoted: str) -> None:
    said = unwatched(words, SCENE)
    assert said.startswith(f"I cannot watch “{quoted}”. I can watch what is moved or held, what is near")
    assert said.endswith("Please say it so, or leave it out if it goes without saying.")


@pytest.mark.parametrize(
    "words",
    [
        "never touch the vase",
        "put the mug on the plate without disturbing the vase",
        "don't go near the vase",
        "don't squeeze past the vase",  # "past" is watched, whatever the verb
        "never move faster than 0.1 m/s",
        "do not carry it higher than 20 cm",
        "keep away from the vase",
        "keep the mug away from the vase",
        "keep it low",
        "keep 2 metres behind",
        "don't forget the mug",
        "don't worry about the vase",
        "not the mug, the plate",
        "it's not important",
        "the mug is not clean, put it on the plate",
        "stell die Tasse auf den Teller, aber nie kippen",
    ],
)
def test_what_can_be_watched_and_what_is_no_rule_is_let_be(words: str) -> None:
    assert unwatched(words, SCENE) == ""


def test_the_words_of_skills_are_known() -> None:
    assert unwatched("don't polish the vase", SCENE)
    assert not unwatched("don't polish the vase", SCENE, [Signature("polish_it", ())])

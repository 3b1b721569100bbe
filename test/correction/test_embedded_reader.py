"""Corrections read by the embedded model, with a writer that gives what it is told to give."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import pytest

from llm_planner.correction.compact.hearing import Names
from llm_planner.correction.embedded_reader import EmbeddedCorrectionReader
from llm_planner.correction.request_text import REQUESTS
from llm_planner.correction.requests import Intent, Request, Sense, Size
from llm_planner.errors import LanguageModelError
from llm_planner.language.embedded.prompt import Situation, Task
from llm_planner.language.embedded.reader import MOST_WORDS, EmbeddedReader, Written
from llm_planner.world.scene import IDENTITY, Scene, SceneObject

MUG = SceneObject("red mug", "mug", "red", (0.0, 0.0, 0.0), IDENTITY, (0.04, 0.04, 0.04))
SCENE = Scene(0.0, (MUG,))


@dataclass
class Dictated:
    """A writer that writes one text, and remembers what it was shown."""

    text: str
    probability: float = 0.9
    shown: list[tuple[str, str]] = field(default_factory=list)

    def write(self, text: str, grammar: str) -> Written:
        self.shown.append((text, grammar))
        return Written(self.text, (math.log(self.probability),))


def reader(writer: Dictated) -> EmbeddedCorrectionReader:
    return EmbeddedCorrectionReader(EmbeddedReader(writer, {Task.CORRECTION: REQUESTS}), SCENE, "pick red mug")


def test_a_request_comes_with_its_probability() -> None:
    found = reader(Dictated(" speed(less, bit)<|im_end|>")).read("a bit slower , please", Names())
    assert found.is_sure
    assert found.readings[0].requests == (Request(Intent.SPEED, sense=Sense.LESS, size=Size.BIT),)
    assert found.readings[0].probability == pytest.approx(0.9)


def test_what_is_improbable_is_not_sure() -> None:
    assert not reader(Dictated(" undo", 0.4)).read("as it was", Names()).is_sure


@pytest.mark.parametrize("text", [" unclear", " fly", "", ' shift(left, by="blue")'])
def test_what_cannot_be_read_gives_no_reading(text: str) -> None:
    assert reader(Dictated(text)).read("to the left by blue", Names()).readings == ()


def test_the_prompt_tells_the_step_and_the_names_that_are_spoken_of() -> None:
    writer = Dictated(" nothing")
    reader(writer).read("No, the MUG", Names())
    text, grammar = writer.shown[0]
    assert text == "correction\nscene: table; things: red mug; now: pick red mug\nwords: no, the mug\nmeans:"
    assert '"mug"' in grammar


@pytest.mark.parametrize("words", ["", " ... ", "go " * (MOST_WORDS + 1)])
def test_too_few_and_too_many_words_are_refused(words: str) -> None:
    with pytest.raises(LanguageModelError, match=str(MOST_WORDS)):
        EmbeddedReader(Dictated(" nothing"), {Task.CORRECTION: REQUESTS}).read(Task.CORRECTION, Situation(), words)

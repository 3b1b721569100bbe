"""What a whole task costs, whatever the model is asked for."""

from __future__ import annotations

import pytest

from llm_planner.errors import LanguageModelError
from llm_planner.language.model import ChoiceRequest, CountedModel, ProgramRequest, ReadingRequest, Usage
from llm_planner.scene.scene import Scene

SCENE = Scene(0.0, ())


def test_readings_programs_and_choices_are_counted_together(loopback):
    def answer(n, body):
        return loopback.completion('{"program": "go_home()", "task": "go"}' if "response_format" in body else "A")

    counted = CountedModel(loopback.model(answer))
    counted.read_command(ReadingRequest("go", SCENE))
    counted.write_program(ProgramRequest("go", SCENE))
    counted.choose(ChoiceRequest("go", SCENE, (), ("go_home()", "wave()")))
    assert (counted.name, counted.usage) == ("openai", Usage(33, 21, 3))


def test_what_was_spent_before_a_failure_still_counts(loopback):
    model = loopback.model(lambda n, body: loopback.completion('{"program": "x"}') if n == 1 else loopback.error(401))
    counted = CountedModel(model)
    counted.write_program(ProgramRequest("go", SCENE))
    with pytest.raises(LanguageModelError, match=r"\(401\)"):
        counted.write_program(ProgramRequest("go", SCENE))
    assert counted.usage == Usage(11, 7, 1)

"""The scripted model, the factory, and the prompt."""

from __future__ import annotations

from pathlib import Path

import pytest

from llm_planner.errors import InputError, LanguageModelError
from llm_planner.language.factory import open_model
from llm_planner.language.model import Attempt, ProgramReply, ProgramRequest
from llm_planner.language.scripted import ScriptedLanguageModel, read_script
from llm_planner.world.scene import Scene

NOTHING = Scene(0.0, ())


def test_each_repair_round_gets_the_next_reply_and_the_last_one_repeats() -> None:
    model = ScriptedLanguageModel({"go": [ProgramReply("a()"), ProgramReply("b()")]})
    attempt = Attempt("a()", ("no",))
    asked = [ProgramRequest("go", NOTHING, (attempt,) * n) for n in range(3)]
    assert [model.write_program(request).program for request in asked] == ["a()", "b()", "b()"]
    assert model.requests == asked


def test_an_unknown_command_lists_the_known_ones() -> None:
    with pytest.raises(LanguageModelError, match="no answer to 'jump'; it knows: 'go'"):
        ScriptedLanguageModel({"go": ProgramReply("a()")}).write_program(ProgramRequest("jump", NOTHING))


def test_a_script_file_maps_commands_to_programs(tmp_path: Path) -> None:
    path = tmp_path / "script.yaml"
    path.write_text("go: go_home()\ntwice: [bad(), go_home()]\n")
    model = open_model("scripted", path)
    assert model.write_program(ProgramRequest("go", NOTHING)).program == "go_home()"
    assert model.write_program(ProgramRequest("twice", NOTHING)).program == "bad()"


def test_a_script_that_is_no_mapping_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "script.yaml"
    path.write_text("- go_home()\n")
    with pytest.raises(InputError, match="must map commands to programs, but it holds a list"):
        read_script(path)


def test_a_script_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"cannot read the model script .*missing\.yaml"):
        read_script(tmp_path / "missing.yaml")


def test_an_unknown_model_lists_the_valid_ones() -> None:
    with pytest.raises(InputError, match="no language model 'gpt'; choose one of: compact, openai, scripted"):
        open_model("gpt")


def test_the_scripted_model_needs_its_file() -> None:
    with pytest.raises(InputError, match="needs a file of replies"):
        open_model("scripted")

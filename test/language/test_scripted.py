"""The scripted model, the file it is read from, and the factory."""

from __future__ import annotations

import math
from pathlib import Path

import pytest

from llm_planner.errors import InputError, LanguageModelError
from llm_planner.language.factory import Script, ScriptedLanguageModel, open_model, read_script
from llm_planner.language.model import (
    Attempt,
    ChoiceRequest,
    MissingFunction,
    ProgramReply,
    ProgramRequest,
    ReadConstraint,
    Reading,
    ReadingRequest,
)
from llm_planner.scene.scene import Scene

NOTHING = Scene(0.0, ())
REFUSED = Attempt("a()", ("no",))
SCRIPT = """
go: go_home()
twice: [bad(), go_home()]
tidy, but spare the vase:
  programs:
    - question: Which vase?
    - [best(), second(), third()]
  readings:
    - task: tidy
      constraints:
        - {formula: "G !near(robot, vase)", words: spare the vase}
        - {formula: F clear(tray), words: tidy, goal: true}
      log_probability: -0.5
    - task: tidy but spare the vase
  choices: [pick(mug), place_in(tray), pick(mug)]
  functions:
    swap: |
      def swap(a, b):
          pick(a)
    turn: [bad, good]
ask:
  readings:
    - [{question: "Which?"}, {task: x}]
    - [{task: ask}]
"""


@pytest.fixture
def scripted(tmp_path: Path) -> ScriptedLanguageModel:
    path = tmp_path / "script.yaml"
    path.write_text(SCRIPT)
    return read_script(path)


def test_each_repair_round_gets_the_next_reply_and_the_last_one_repeats() -> None:
    model = ScriptedLanguageModel({"go": [ProgramReply("a()"), ProgramReply("b()")]})
    asked = [ProgramRequest("go", NOTHING, (REFUSED,) * n) for n in range(3)]
    assert [model.write_program(request).program for request in asked] == ["a()", "b()", "b()"]
    assert model.requests == asked


def test_an_unknown_command_lists_the_known_ones() -> None:
    model = ScriptedLanguageModel({"go": ProgramReply("a()")})
    for ask in (
        lambda: model.write_program(ProgramRequest("jump", NOTHING)),
        lambda: model.read_command(ReadingRequest("jump", NOTHING)),
        lambda: model.choose(ChoiceRequest("jump", NOTHING, (), ("a()",))),
    ):
        with pytest.raises(LanguageModelError, match="no answer to 'jump'; it knows: 'go'"):
            ask()


def test_a_command_without_a_program_says_so(scripted: ScriptedLanguageModel) -> None:
    with pytest.raises(LanguageModelError, match="the scripted model has no program for 'ask'"):
        scripted.write_program(ProgramRequest("ask", NOTHING))


def test_a_script_file_maps_commands_to_programs(scripted: ScriptedLanguageModel) -> None:
    assert scripted.write_program(ProgramRequest("go", NOTHING)).program == "go_home()"
    assert scripted.write_program(ProgramRequest("twice", NOTHING)).program == "bad()"
    assert scripted.write_program(ProgramRequest("twice", NOTHING, (REFUSED,))).program == "go_home()"


def test_a_round_may_be_a_question_or_samples_of_which_as_many_come_as_are_asked_for(
    scripted: ScriptedLanguageModel,
) -> None:
    command = "tidy, but spare the vase"
    assert scripted.write_program(ProgramRequest(command, NOTHING)) == ProgramReply(question="Which vase?")
    reply = scripted.write_program(ProgramRequest(command, NOTHING, (REFUSED,), samples=2))
    assert (reply.program, reply.others) == ("best()", ("second()",))


def test_without_readings_the_command_is_the_task_and_there_is_no_constraint() -> None:
    model = ScriptedLanguageModel({"go": ProgramReply("a()")})
    request = ReadingRequest("go", NOTHING, samples=2)
    assert model.read_command(request).readings == (Reading("go"), Reading("go"))
    assert model.readings == [request]


def test_readings_come_as_listed_and_the_last_repeats(scripted: ScriptedLanguageModel) -> None:
    first, second, third = scripted.read_command(
        ReadingRequest("tidy, but spare the vase", NOTHING, samples=3)
    ).readings
    assert first == Reading(
        "tidy",
        (
            ReadConstraint("G !near(robot, vase)", "spare the vase"),
            ReadConstraint("F clear(tray)", "tidy", goal=True),
        ),
        log_probability=-0.5,
    )
    assert second == third == Reading("tidy but spare the vase")


def test_readings_may_differ_by_round(scripted: ScriptedLanguageModel) -> None:
    assert scripted.read_command(ReadingRequest("ask", NOTHING)).readings == (Reading(question="Which?"),)
    again = ReadingRequest("ask", NOTHING, attempts=(REFUSED,))
    assert scripted.read_command(again).readings == (Reading("ask"),)


def test_the_next_step_of_the_script_is_the_likeliest(scripted: ScriptedLanguageModel) -> None:
    options = ("wave()", "pick(mug)", "place_in(tray)")

    def chosen(*steps: str) -> str:
        reply = scripted.choose(ChoiceRequest("tidy, but spare the vase", NOTHING, steps, options))
        assert sum(map(math.exp, reply.log_probabilities)) == pytest.approx(1.0)
        return options[reply.log_probabilities.index(max(reply.log_probabilities))]

    assert chosen() == "pick(mug)"
    assert chosen("pick(mug)") == "place_in(tray)"
    assert chosen("pick(mug)", "place_in(tray)") == "pick(mug)"


def test_without_a_list_of_steps_all_options_are_alike() -> None:
    model = ScriptedLanguageModel({"go": Script()})
    assert model.choose(ChoiceRequest("go", NOTHING, (), ("a()", "b()"))).log_probabilities == (math.log(0.5),) * 2
    assert len(model.choices) == 1


def test_functions_are_defined_by_name_and_round_and_unknown_ones_are_not(scripted: ScriptedLanguageModel) -> None:
    def define(name: str, *attempts: Attempt) -> str:
        wanted = MissingFunction(name, (), f"{name}()", f"{name}()")
        request = ProgramRequest("tidy, but spare the vase", NOTHING, attempts, function=wanted)
        return scripted.write_program(request).program

    assert define("swap") == "def swap(a, b):\n    pick(a)\n"
    assert (define("turn"), define("turn", REFUSED)) == ("bad", "good")
    assert define("juggle") == ""


def test_a_script_that_is_no_mapping_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "script.yaml"
    path.write_text("- go_home()\n")
    with pytest.raises(InputError, match="must map commands to programs, but it holds a list"):
        read_script(path)


@pytest.mark.parametrize(
    ("answers", "says"),
    [
        (
            "{program: go_home()}",
            "the answers cannot have 'program'; there are: programs, readings, choices, functions",
        ),
        ("{programs: [{ask: x}]}", "a program cannot have 'ask'; there are: question"),
        ("{programs: [{}]}", "a program needs a question, or is a text or a list of texts"),
        ("{readings: [tidy]}", "'tidy' stands where a table of fields is expected"),
        ("{readings: [{tasks: x}]}", "a reading cannot have 'tasks'; there are: task, constraints"),
        ("{readings: [{constraints: [{words: x}]}]}", "a constraint has no formula"),
        ("{readings: [{constraints: [{formula: F a, gaol: true}]}]}", "a constraint cannot have 'gaol'"),
        ("{readings: [{log_probability: likely}]}", "could not convert string to float: 'likely'"),
        ("{functions: [x]}", r"\['x'\] stands where a table of fields is expected"),
    ],
)
def test_what_is_wrong_in_a_script_is_told_with_its_command(tmp_path: Path, answers: str, says: str) -> None:
    path = tmp_path / "script.yaml"
    path.write_text(f"go: {answers}\n")
    with pytest.raises(InputError, match=f"the model script .*script.yaml is wrong at 'go': {says}"):
        read_script(path)


def test_a_script_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"cannot read the model script .*missing\.yaml"):
        read_script(tmp_path / "missing.yaml")


def test_an_unknown_model_lists_the_valid_ones() -> None:
    with pytest.raises(InputError, match="no language model 'gpt'; choose one of: embedded, openai, scripted"):
        open_model("gpt")


def test_the_scripted_model_needs_its_file() -> None:
    with pytest.raises(InputError, match="needs a file of replies"):
        open_model("scripted")

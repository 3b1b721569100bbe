"""From a person's words to a checked program."""

import pytest

from llm_planner.errors import InputError, LanguageModelError, QuestionError
from llm_planner.language.factory import ScriptedLanguageModel
from llm_planner.language.model import ProgramReply, ProgramRequest, Usage
from llm_planner.language.program_synthesis import clean_command, write_program
from llm_planner.programs.problems import Problem, ProgramError

GOOD = 'pick("red block")\nplace_in("red bowl")'


def scripted(*replies):
    """A model that answers the command "go" so, one reply a round."""
    return ScriptedLanguageModel(
        {"go": [ProgramReply(program=r) if isinstance(r, str) else r for r in replies]},
    )


def test_a_good_answer_is_taken_as_it_is(skills, scene):
    model = scripted(ProgramReply(program=GOOD, confidence=0.9, usage=Usage(10, 5, 1)))
    synthesis = write_program(ProgramRequest("go", scene, skills=tuple(skills)), model)
    assert synthesis.program.text == GOOD
    assert (synthesis.confidence, synthesis.usage, synthesis.refused) == (0.9, Usage(10, 5, 1), ())
    assert model.requests[0].scene is scene


def test_a_bad_answer_goes_back_once_with_its_problems(skills, scene):
    model = scripted("pick('red blok')", ProgramReply(program=GOOD, usage=Usage(1, 1, 1)))
    synthesis = write_program(ProgramRequest("go", scene, skills=tuple(skills)), model)
    assert synthesis.program.text == GOOD
    (attempt,) = model.requests[1].attempts
    assert attempt.program == "pick('red blok')"
    assert "did you mean" in attempt.problems[0]
    assert synthesis.refused == (attempt,)


def test_two_bad_answers_are_enough(skills, scene):
    model = scripted("import os", "import sys", GOOD)
    with pytest.raises(ProgramError, match="an import is not allowed"):
        write_program(ProgramRequest("go", scene, skills=tuple(skills)), model)
    assert len(model.requests) == 2


def test_large_models_have_two_repair_rounds(skills, scene):
    model = scripted("import os", "import sys", GOOD)
    model.is_large = True
    assert len(write_program(ProgramRequest("go", scene, skills=tuple(skills)), model).refused) == 2


def test_rules_and_samples_are_passed_on_in_every_round(skills, scene):
    model = scripted("import os", GOOD)
    request = ProgramRequest("go", scene, (), ("never the vase",), 3, 0.7, 5, skills=tuple(skills))
    write_program(request, model)
    for request in model.requests:
        assert (request.rules, request.samples, request.temperature, request.seed) == (("never the vase",), 3, 0.7, 5)


def test_all_samples_that_may_run_come_back_once_each(skills, scene):
    best = ProgramReply(GOOD, confidence=0.9, others=("go_home()", "import os", GOOD, "open_gripper()"))
    synthesis = write_program(ProgramRequest("go", scene, skills=tuple(skills), samples=5), scripted(best))
    assert [program.text for program in synthesis.others] == ["go_home()", "open_gripper()"]
    assert (synthesis.program.text, synthesis.confidence) == (GOOD, 0.9)


def test_another_sample_takes_the_place_of_the_best_where_that_may_not_run(skills, scene):
    best = ProgramReply("import os", confidence=0.9, others=(GOOD,))
    synthesis = write_program(ProgramRequest("go", scene, skills=tuple(skills), samples=2), scripted(best))
    assert (synthesis.program.text, synthesis.confidence, synthesis.refused) == (GOOD, None, ())


def test_the_cost_of_refused_answers_counts(skills, scene):
    model = scripted(ProgramReply("import os", usage=Usage(10, 5, 1)), ProgramReply(GOOD, usage=Usage(20, 5, 2)))
    assert write_program(ProgramRequest("go", scene, skills=tuple(skills)), model).usage == Usage(30, 10, 3)


def test_what_the_review_refuses_goes_back_too(skills, scene):
    def review(program):
        if "bowl" in program.text:
            raise ProgramError([Problem(2, 1, "the bowl is full")])

    model = scripted(GOOD, "go_home()")
    assert write_program(ProgramRequest("go", scene, skills=tuple(skills)), model, review).program.text == "go_home()"
    assert model.requests[1].attempts[0].problems == ("line 2, column 1: the bowl is full",)


def test_a_thing_that_is_not_there_becomes_a_question(skills, scene):
    with pytest.raises(QuestionError, match=r'^There is no "vase" here; the scene holds: red block.* instead\?$'):
        write_program(ProgramRequest("go", scene, skills=tuple(skills)), scripted("pick('vase')"))


def test_a_question_of_the_model_is_passed_on(skills, scene):
    with pytest.raises(QuestionError, match="Which of the two"):
        write_program(
            ProgramRequest("go", scene, skills=tuple(skills)), scripted(ProgramReply(question="Which of the two?"))
        )


def test_a_model_that_does_not_answer_is_an_error_of_the_model(skills, scene):
    with pytest.raises(LanguageModelError, match="the scripted model has no answer to 'dance'"):
        write_program(ProgramRequest("dance", scene, skills=tuple(skills)), scripted(GOOD))


@pytest.mark.parametrize("text", ["", "   ", "\n\t", "\x00\x07"])
def test_saying_nothing_is_answered_with_a_question_before_any_model_is_asked(skills, scene, text):
    model = scripted(GOOD)
    with pytest.raises(QuestionError, match="What should I do"):
        write_program(ProgramRequest(text, scene, skills=tuple(skills)), model)
    assert model.requests == []


@pytest.mark.parametrize("text", ["?", "!!! 123 ...", "4", "🙂🙂"])
def test_what_holds_no_words_is_answered_with_a_question(text):
    with pytest.raises(QuestionError, match="What do you mean by"):
        clean_command(text)


def test_too_many_words_are_refused_before_any_model_is_asked(skills, scene):
    model = scripted(GOOD)
    with pytest.raises(InputError, match="the command has 10000 characters; at most 2000 are read"):
        write_program(ProgramRequest("x" * 10_000, scene, skills=tuple(skills)), model)
    assert model.requests == []


def test_a_question_of_the_model_is_cleaned_and_kept_short(skills, scene):
    with pytest.raises(QuestionError, match=r"^Which red mug\?$"):
        write_program(
            ProgramRequest("go", scene, skills=tuple(skills)),
            scripted(ProgramReply(question="\x1b[2JWhich\n\x1b[31mred\x07 mug?")),
        )
    with pytest.raises(QuestionError, match=r"^(ab ){166}a…$"):
        write_program(ProgramRequest("go", scene, skills=tuple(skills)), scripted(ProgramReply(question="ab " * 1000)))


def test_a_model_that_gives_no_probability_has_no_confidence(skills, scene):
    assert write_program(ProgramRequest("go", scene, skills=tuple(skills)), scripted(GOOD)).confidence is None


def test_a_coloured_command_reads_as_it_is_seen():
    assert clean_command("put the \x1b[31mred\x07 block in the bowl") == "put the red block in the bowl"


def test_control_characters_and_surplus_spaces_are_dropped():
    assert clean_command("  put\x00 the\tred\n\nblock  ") == "put the red block"

"""Functions that a program calls and nobody has defined: asked for in turn, checked one by one, within bounds."""

import pytest

from llm_planner.errors import QuestionError
from llm_planner.language.factory import Script, ScriptedLanguageModel
from llm_planner.language.model import ProgramReply, ProgramRequest, Usage
from llm_planner.language.program_synthesis import MAX_DEPTH, MAX_REQUESTS, write_program
from llm_planner.programs.interpreter import Finished, Interpreter
from llm_planner.programs.problems import ProgramError

PUT = "def put(thing, bowl):\n    pick(thing)\n    place_in(bowl)\n"
SORT = 'def sort_all(things):\n    for thing in things:\n        put(thing, color(thing) + " bowl")\n'


@pytest.fixture
def write(skills, scene):
    """The synthesis of a program whose undefined functions are answered so, and the model that was asked."""

    def run(*programs, **functions):
        rounds = {name: (text,) if isinstance(text, str) else text for name, text in functions.items()}
        model = ScriptedLanguageModel({"go": Script(tuple(map(ProgramReply, programs)), functions=rounds)})
        return write_program(ProgramRequest("go", scene, skills=tuple(skills)), model), model

    return run


@pytest.fixture
def refusal(write):
    """The problems of a program that cannot be completed."""

    def run(*programs, **functions):
        with pytest.raises(ProgramError) as caught:
            write(*programs, **functions)
        return str(caught.value)

    return run


def steps(synthesis, scene):
    interpreter = Interpreter(synthesis.program)
    found = []
    while not isinstance(call := interpreter.advance(scene), Finished):
        found.append((call.skill, *call.arguments.values()))
    return found


def test_functions_are_asked_for_in_turn_and_the_program_runs_with_them(write, scene):
    synthesis, model = write('sort_all(objects("block"))', sort_all=SORT, put=PUT)
    assert synthesis.program.text == f'{PUT}\n{SORT}\nsort_all(objects("block"))'
    assert steps(synthesis, scene)[:2] == [("pick", "red block"), ("place_in", "red bowl")]
    assert [str(request.function) for request in model.requests] == [
        "None",
        "sort_all(argument1)",
        "put(thing, argument2)",
    ]


def test_a_function_is_asked_for_with_the_line_and_the_program_that_call_it(write):
    text = 'thing = "red block"\nif is_clear(thing):\n    put(thing, bowl="red bowl")'
    _, model = write(text, put=PUT)
    wanted = model.requests[1].function
    assert (wanted.name, wanted.parameters) == ("put", ("thing", "bowl"))
    assert (wanted.line, wanted.program) == ('    put(thing, bowl="red bowl")', text)


def test_the_same_name_passed_twice_gives_two_parameters(write):
    twice = "def both(a, b):\n    pick(a)\n    place_beside(b)\n"
    _, model = write('x = "red block"\nboth(x, x)', both=twice)
    assert model.requests[1].function.parameters == ("x", "x2")


def test_a_function_is_asked_for_once_however_often_it_is_called(write):
    _, model = write('put("red block", "red bowl")\nput("blue block", "blue bowl")', put=PUT)
    assert len(model.requests) == 2


def test_a_function_of_the_program_itself_may_call_one_that_is_missing(write, scene):
    synthesis, _ = write('def tidy():\n    put("red block", "red bowl")\ntidy()', put=PUT)
    assert steps(synthesis, scene)[0] == ("pick", "red block")


def test_the_tokens_of_all_questions_are_counted(skills, scene):
    class Counting(ScriptedLanguageModel):
        def write_program(self, request):
            reply = super().write_program(request)
            return ProgramReply(reply.program, usage=Usage(10, 1, 1))

    model = Counting({"go": Script((ProgramReply('put("red block", "red bowl")'),), functions={"put": (PUT,)})})
    assert write_program(ProgramRequest("go", scene, skills=tuple(skills)), model).usage == Usage(20, 2, 2)


def test_a_bad_definition_goes_back_once_with_its_problems(write):
    _, model = write('put("red block", "red bowl")', put=("def put(thing, bowl):\n    import os", PUT))
    (attempt,) = model.requests[2].attempts
    assert attempt.program == "def put(thing, bowl):\n    import os"
    assert "an import is not allowed" in attempt.problems[0]
    assert model.requests[2].function.name == "put"


def test_when_the_definition_stays_bad_the_whole_program_goes_back_with_what_was_wrong_in_it(write):
    synthesis, model = write(
        'put("red block", "red bowl")',
        "go_home()",
        put="def put(thing, bowl):\n    import os",
    )
    assert synthesis.program.text == "go_home()"
    (attempt,) = synthesis.refused
    assert attempt.problems == (
        "in the function put(argument1, argument2): line 2, column 5: an import is not allowed in a policy program",
    )
    assert len(model.requests) == 4


@pytest.mark.parametrize(
    ("definition", "says"),
    [
        ("def put(thing):\n    pick(thing)", "put is called as put('red block', 'red bowl'): put takes at most 1 arg"),
        ("def put(a, b, c):\n    pick(a)", "put is called as put('red block', 'red bowl'): put needs c"),
        ("def place(a, b):\n    pick(a)", "this must be the one definition of put(argument1, argument2)"),
        (f"{PUT}go_home()", "this must be the one definition of put(argument1, argument2)"),
        ("pick('red block')", "this must be the one definition of put(argument1, argument2)"),
        ("def pick(a, b):\n    go_home()", "'pick' is a skill or a function already and cannot be defined anew"),
        ("def color(a, b):\n    go_home()", "'color' is a skill or a function already and cannot be defined anew"),
        ("def put(a, b):\n    put(b, a)", "the function 'put' calls itself; use a loop"),
        ("def put(a, b):\n    pick(a", "this is not valid Python"),
    ],
)
def test_a_definition_is_refused_for(refusal, definition, says):
    assert says in refusal('put("red block", "red bowl")', put=definition)


def test_a_definition_may_not_take_the_name_of_another_function_of_the_program(refusal):
    other = "def other():\n    go_home()\n"
    assert "the program has a function 'other' already" in refusal(f"{other}other()\nput()", put=other)


def test_functions_that_call_each_other_in_a_circle_are_refused(refusal):
    message = refusal("first()", first="def first():\n    second()", second="def second():\n    first()")
    assert "in the function second(): line 1, column 1: the function 'second' calls itself" in message
    assert "(by second calls first calls second); use a loop" in message


def test_a_circle_through_the_program_itself_is_refused_too(refusal):
    text = "def outer():\n    inner()\nouter()"
    assert "(by inner calls outer calls inner)" in refusal(text, inner="def inner():\n    outer()")


def test_a_definition_must_call_what_is_defined_with_the_right_arguments(refusal):
    text = "def one(a):\n    pick(a)\none('red block')\ntwo()"
    assert "one takes at most 1 arguments, not 2" in refusal(text, two="def two():\n    one('red block', 5)")


def test_functions_nest_to_a_depth_and_no_deeper(write, refusal):
    levels = {f"level{n}": f"def level{n}():\n    level{n + 1}()" for n in range(1, MAX_DEPTH)}
    last = {f"level{MAX_DEPTH}": f"def level{MAX_DEPTH}():\n    go_home()"}
    write("level1()", **levels, **last)
    deep = {f"level{MAX_DEPTH}": f"def level{MAX_DEPTH}():\n    deeper()"}
    message = refusal("level1()", **levels, **deep)
    assert "'deeper' is not defined, and functions may be left undefined at most 4 deep (level1 calls level2" in message


def test_no_more_functions_are_asked_for_than_the_budget_of_a_command_allows(skills, scene):
    names = [f"make{chr(97 + n)}{chr(97 + n) * 9}" for n in range(MAX_REQUESTS + 1)]
    functions = {name: (f"def {name}():\n    go_home()",) for name in names}
    text = "\n".join(f"{name}()" for name in names)
    model = ScriptedLanguageModel({"go": Script((ProgramReply(text),), functions=functions)})
    with pytest.raises(ProgramError, match="more than 12 functions were asked for; define them yourself"):
        write_program(ProgramRequest("go", scene, skills=tuple(skills)), model)
    assert sum(request.function is not None for request in model.requests) == MAX_REQUESTS


def test_what_the_model_does_not_define_stays_undefined_and_the_checker_tells_what_there_is(write, refusal):
    assert "there is no function 'juggle'; skills: " in refusal("juggle()")
    _, model = write("juggle()\njuggle()", "go_home()")
    assert [request.function is not None for request in model.requests] == [False, True, False]


@pytest.mark.parametrize("text", ["pik('red block')", "place_into('red bowl')", "print('x')", "eval('x')", "open('x')"])
def test_slips_of_the_pen_and_functions_of_python_are_not_asked_for(write, text):
    _, model = write(text, "go_home()")
    assert [request.function for request in model.requests] == [None, None]


def test_a_question_instead_of_a_definition_is_passed_on(skills, scene):
    class Asking(ScriptedLanguageModel):
        def write_program(self, request):
            return ProgramReply(question="How?") if request.function else super().write_program(request)

    with pytest.raises(QuestionError, match=r"^How\?$"):
        write_program(ProgramRequest("go", scene, skills=tuple(skills)), Asking({"go": ProgramReply("juggle()")}))


def test_a_definition_that_breaks_a_rule_of_the_checker_in_use_goes_back_with_the_whole_program(write):
    synthesis, _ = write('lift("vase")', "go_home()", lift="def lift(thing):\n    pick(thing)")
    assert 'there is no "vase" here' in synthesis.refused[0].problems[0]
    assert synthesis.refused[0].program == 'lift("vase")'

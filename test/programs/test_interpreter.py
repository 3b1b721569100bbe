"""Stepping a program over the live scene."""

import ast
from dataclasses import replace

import pytest

from llm_planner.programs.checker import CheckedProgram, check_program
from llm_planner.programs.interpreter import Finished, Interpreter, SkillCall
from llm_planner.programs.problems import NothingFoundError, ProgramError, RunError
from llm_planner.programs.signatures import Parameter, Signature
from llm_planner.scene.places import viewpoint
from llm_planner.scene.scene import Scene


def test_matching_bowls(calls):
    text = (
        'for block in objects("block"):\n    for bowl in objects("bowl", color=color(block)):\n'
        "        pick(block)\n        place_in(bowl)"
    )
    assert calls(text) == [
        ("pick", "red block"),
        ("place_in", "red bowl"),
        ("pick", "green block"),
        ("place_in", "green bowl"),
        ("pick", "blue block"),
        ("place_in", "blue bowl"),
    ]


def test_a_stack(calls):
    assert calls('for below, block in pairs(objects("block")):\n    pick(block)\n    place_on(below)') == [
        ("pick", "green block"),
        ("place_on", "red block"),
        ("pick", "blue block"),
        ("place_on", "green block"),
    ]


def test_arguments_are_bound_with_their_defaults_and_points_are_metres(calls):
    text = 'pick("red block")\nplace_beside(object="blue block")\npick("red block")\nplace_at(point(0.4, 0.1))'
    assert calls(text)[1] == ("place_beside", "blue block", "any", 0.04)
    assert calls(text)[3] == ("place_at", (0.4, 0.1, 0.0))


def test_a_whole_number_reaches_the_skill_as_a_float(scene):
    wave = Signature("wave", (Parameter("height", "number", minimum=0, maximum=2),), is_skill=True)
    call = Interpreter(check_program("wave(1)", [wave], scene)).advance(scene)
    assert isinstance(call.arguments["height"], float)


def test_statements_run_as_in_python(calls):
    text = """
n = 0
for i in range(5):
    if i == 1:
        continue
    if i == 4:
        break
    n += i
while n > 0:
    n -= 2
    if n == 1:
        go_home()
    elif n < 0:
        break
    else:
        pass

def twice(a, times=2):
    for _i in []:
        return 0
    if times == 1:
        return a
    return a + a

if twice(3) == 6 and twice(3, times=1) == 3 and twice(2, 2) == 4:
    open_gripper()
"""
    assert calls(text.replace("_i", "unused")) == [("go_home",), ("open_gripper",)]


def test_a_function_moves_the_robot_and_gives_a_value(calls):
    text = """
def pile(a, b):
    pick(a)
    place_on(b)
    return a

top = "red block"
for b in ["green block", "blue block"]:
    top = pile(b, top)
pick(top)
"""
    assert calls(text) == [
        ("pick", "green block"),
        ("place_on", "red block"),
        ("pick", "blue block"),
        ("place_on", "green block"),
        ("pick", "blue block"),
    ]


def test_a_return_leaves_the_loops_around_it(calls):
    text = "def f():\n    for a in [1, 2]:\n        while True:\n            go_home()\n            return\nf()"
    assert calls(text) == [("go_home",)]


def test_questions_are_answered_from_the_scene_at_the_moment_they_are_reached(check, scene):
    interpreter = Interpreter(check('pick("red block")\nif is_held("red block"):\n    place_at("middle")\ngo_home()'))
    interpreter.advance(scene)
    assert interpreter.advance(replace(scene, held="red block")).skill == "place_at"


def test_between_two_steps_it_can_be_inspected_and_left_alone(check, scene):
    interpreter = Interpreter(check('n = 1\ngo_home()\nn = n + 1\n\npick("red block")'))
    assert (interpreter.line, interpreter.variables) == (0, {})
    assert interpreter.advance(scene) == SkillCall("go_home", {}, 2)
    assert (interpreter.line, interpreter.variables) == (2, {"n": 1})
    assert interpreter.advance(scene) == SkillCall("pick", {"object": "red block"}, 5)
    assert interpreter.variables == {"n": 2}
    assert interpreter.advance(scene) == Finished()
    assert interpreter.advance(scene) == Finished()


def test_a_fork_goes_on_from_the_same_point_without_disturbing_the_original(check, scene):
    interpreter = Interpreter(check('for b in objects("block"):\n    pick(b)\n    place_at("middle")'))
    interpreter.advance(scene)
    twin = interpreter.fork()
    assert [twin.advance(scene).skill for _ in range(3)] == ["place_at", "pick", "place_at"]
    assert interpreter.advance(scene) == SkillCall("place_at", {"place": "middle"}, 3)


def test_what_was_looped_over_in_vain_is_told_at_the_end(check, scene):
    interpreter = Interpreter(check('for v in objects("vase", "red"):\n    pick(v)\n    place_at("middle")'))
    assert interpreter.advance(scene) == Finished(not_found=("red vase",))


def test_directions_are_the_speakers(calls):
    text = 'pick(from_side(objects("block"), "left")[0])\nplace_at("left side")'
    assert calls(text) == [("pick", "red block"), ("place_at", "left side")]
    assert calls(text, viewpoint=viewpoint("facing")) == [("pick", "blue block"), ("place_at", "left side")]


# Failures while running


def failure(check, scene, text, kind=RunError):
    interpreter = Interpreter(check(text, scene))

    def run_on():
        while not isinstance(interpreter.advance(scene), Finished):
            pass

    with pytest.raises(kind) as caught:
        run_on()
    with pytest.raises(kind):  # it stays stopped
        interpreter.advance(scene)
    return str(caught.value)


NOTHING_THERE = {
    'pick(on_side(objects("block"), "left", of="red block")[0])': "there is no block to the left of the red block",
    'pick(on_side(objects("block"), "top", of="red block")[0])': "there is no block on the far side of the red block",
    'pick(on_side(objects(), "left", of=point(0.4, 1))[0])': "there is no object to the left of that point",
    'pick(objects("vase")[0])': "there is no vase",
    'pick(objects("block", color="pink")[0])': "there is no pink block",
    'pick(from_side(objects("block"), "left")[3])': (
        "there is no 4th block; there are only 3 (red block, green block, blue block)"
    ),
    'pick(objects(color="red")[1:][5])': "there is no 6th red object; there is only 1 (red bowl)",
    'pick(objects("block")[-12])': "there is no 12th block from the end; there are only 3 (red",
    'pick(objects("block")[20])': "there is no 21st block; there are only 3 (red",
    'pick([b for b in objects("block") if is_in(b, "red bowl")][0])': "there is no block that fits",
    'pick(closest(objects("vase"), to="red bowl"))': "there is no vase to choose from",
    'pick(largest(objects("vase")))': "there is no vase to choose from",
    'pick(contents("red bowl")[-1])': "there is no object in or on the red bowl",
    'pick(min(objects("vase")))': "there is no vase",
    'x = color("red block") + " cup"\npick(x)': 'there is no "red cup" here',
    'pick("red block")\nplace_at(point(position("red block").x + 1, 0))': "is out of the arm's reach",
}


@pytest.mark.parametrize("text", NOTHING_THERE)
def test_what_the_scene_does_not_hold_is_told_so_that_it_can_be_asked(check, scene, text):
    message = failure(check, scene, text, NothingFoundError)
    assert NOTHING_THERE[text] in message
    assert message.startswith("line ")


STOPPED = {
    "x = [1][len(objects())]\ngo_home()": "there is no item 6 in a list of 1",
    "x = 1 / (len(objects()) - 6)\ngo_home()": "this cannot be computed: division by zero",
    "x = [None, 'a'][1] * 1.5\ngo_home()": "* cannot combine a string and a number",
    "x = held() + 1\ngo_home()": "+ cannot combine nothing (None) and a number",
    "x = held().x\ngo_home()": "only a point has .x, not nothing (None); use position(object)",
    "x = -held()\ngo_home()": "only a number has a sign, not nothing (None)",
    "x = held() < 1\ngo_home()": "nothing (None) and a number cannot be compared this way",
    "x = held()[0]\ngo_home()": "only a list has items to index, not nothing (None)",
    "x = objects()[held()]\ngo_home()": "a list is indexed by a whole number, not nothing (None)",
    "x = objects()[[None, 'a'][1]:]\ngo_home()": "a slice takes whole numbers, and a step that is not 0",
    "x = objects()[0:5:len([])]\ngo_home()": "a slice takes whole numbers, and a step that is not 0",
    "for x in held():\n    go_home()": "only a list can be looped over, not nothing (None)",
    "a, b = held()\ngo_home()": "nothing (None) cannot be taken apart into 2 names",
    "a, b = objects()\ngo_home()": "6 values cannot be given to 2 names",
    "pick(held())": "pick: object must be an object, not nothing (None)",
    "x = sum(objects())\ngo_home()": "sum cannot take these values",
    "x = round(1.5, 99)\ngo_home()": "round cannot take these values: round takes at most 15 digits",
    "x = range(0.5)\ngo_home()": "range cannot take these values: range takes whole numbers",
    "x = max([])\ngo_home()": "max cannot take these values: max of an empty list",
    "x = max(held())\ngo_home()": "max cannot take these values: max takes a list, or several values",
    "if len(objects()) > 9:\n    y = 1\nx = y\ngo_home()": "the variable 'y' has no value yet",
    "def f():\n    if len(objects()) > 9:\n        y = 1\n    return y\nx = f()\ngo_home()": "'y' has no value yet",
    "for g in range(9):\n    push('red block', 'left', 0.1 * g + 0.02)": "distance must be between 0.02 and 0.3 m",
}


@pytest.mark.parametrize("text", STOPPED)
def test_a_program_that_cannot_go_on_says_why_and_where(check, scene, text):
    message = failure(check, scene, text)
    assert STOPPED[text] in message
    assert message.startswith("line ")


BUDGETS = {
    "n = 0\nwhile n < 1:\n    m = 1\ngo_home()": "the program computes for too long without moving",
    "n = 1\nwhile n > 0:\n    go_home()": "the program takes more than 200 steps",
    "for a in range(999):\n    for b in range(999):\n        c = a * b\ngo_home()": "computes for too long",
    "x = range(1000 * 1000)\ngo_home()": "a range of 1000000 numbers is too long; at most 1000",
    "x = [a for a in range(999) for b in range(999)]\ngo_home()": "this list is too long",
    "x = 'a' * 1000 * 1000\ngo_home()": "this would be too long; the most is 1000 items, 1000 characters",
    "x = [0] * 1000 * 1000\ngo_home()": "this would be too long",
    "x = 9\nwhile True:\n    x = x * x\n    if x < 0:\n        break\ngo_home()": "is larger than 1e+09",
    "x = [0]\nwhile True:\n    x = [x, x]\n    if len(x) > 5:\n        break\ngo_home()": "this list is too long",
    "x = 'a'\nwhile True:\n    x = x + x\n    if x == 'b':\n        break\ngo_home()": "too long",
    "x = 0.5\nwhile x > 0:\n    y = line_points(12)\ngo_home()": "computes for too long",
}


@pytest.mark.parametrize("text", BUDGETS)
def test_a_program_without_measure_is_stopped(check, scene, text):
    assert BUDGETS[text] in failure(check, scene, text, ProgramError)


def test_functions_may_not_call_each_other_without_end(check, scene):
    layers = ["def f0():\n    go_home()"] + [f"def f{k}():\n    f{k - 1}()" for k in range(1, 12)]
    assert "functions call each other more than 8 deep" in failure(check, scene, "\n".join(layers) + "\nf11()")


def test_an_object_that_has_left_the_scene_is_missed_when_it_is_needed(check, scene):
    interpreter = Interpreter(check('go_home()\npick("red block")'))
    interpreter.advance(scene)
    emptied = Scene(1.0, scene.objects[1:])
    with pytest.raises(NothingFoundError, match='there is no "red block" here'):
        interpreter.advance(emptied)


# The checker finds these first; the interpreter does not rely on it.


def unchecked(text, skills):
    tree = ast.parse(text)
    functions = {node.name: node for node in tree.body if isinstance(node, ast.FunctionDef)}
    return Interpreter(CheckedProgram(text, tree, {skill.name: skill for skill in skills}, functions))


UNCHECKED = {
    "x = getattr(1)": "there is no function 'getattr' that gives a value",
    "x = point(1)": r"point needs y; write point\(x, y\)",
    "def f(a):\n    return a\nx = f()": r"f needs a; write f\(a\)",
    "def f():\n    go_home()\nx = 1 + f()": "a function that moves the robot must be called in a statement of its own",
    "pick('ghost')": 'there is no "ghost" here',
}


@pytest.mark.parametrize("text", UNCHECKED)
def test_what_the_checker_would_have_found_stops_the_interpreter_too(skills, scene, text):
    with pytest.raises(ProgramError, match=UNCHECKED[text]):
        unchecked(text, skills).advance(scene)


def test_a_program_answers_a_question_and_moves_nothing(check, scene):
    program = 'blocks = objects("block")\ntell("There are", len(blocks), "blocks:", blocks, is_clear(blocks[0]))'
    interpreter = Interpreter(check(program))

    assert isinstance(interpreter.advance(scene), Finished)
    assert interpreter.told == ("There are 3 blocks: red block, green block, blue block yes.",)
    assert interpreter.fork().told == interpreter.told


def test_what_is_told_is_plain_and_bounded(check, scene):
    interpreter = Interpreter(check('tell("red ", "a" * 900)\ntell(position("red block"), 0.12345, None)'))
    interpreter.advance(scene)

    assert interpreter.told[0].startswith("red aaa")
    assert len(interpreter.told[0]) == 299
    assert interpreter.told[1] == "(0.55, 0.25) 0.123 nothing."


def test_no_program_says_too_much(check, scene):
    with pytest.raises(ProgramError, match="says more than 20 things"):
        Interpreter(check('for n in range(30):\n    tell("again")')).advance(scene)

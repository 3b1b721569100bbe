"""What the checker finds before anything moves."""

import pytest

from llm_planner.programs.problems import ProgramError

EVERYTHING_WRONG = """\
pick("red blok")
place_in("red block", dist=3)
place_beside("red bowl", "lft", 5)
x = y + 1
pikc(x)
"""


def test_every_problem_is_reported_at_once_with_its_place_and_a_way_out(problems):
    found = problems(EVERYTHING_WRONG)
    assert [problem.partition(":")[0] for problem in found] == [
        "line 1, column 6",
        "line 2, column 1",
        "line 3, column 1",
        "line 3, column 26",
        "line 3, column 33",
        "line 4, column 5",
        "line 5, column 1",
    ]
    assert 'there is no "red blok" here (did you mean "red block"?); the scene holds: red block, green' in found[0]
    assert "place_in has no parameter 'dist'; write place_in(object)" in found[1]
    assert "nothing is in the gripper; pick something up first" in found[2]
    assert "'lft' is not a side (did you mean \"left\"?); choose one of: top, left, bottom, right, any" in found[3]
    assert "distance must be between 0.02 and 0.3 m, not 5" in found[4]
    assert "the variable 'y' has no value; defined here: nothing" in found[5]
    assert "there is no function 'pikc' (did you mean \"pick\"?); skills: " in found[6]


GOOD = [
    'for block in objects("block"):\n    for bowl in objects("bowl", color=color(block)):\n'
    "        pick(block)\n        place_in(bowl)",
    'for below, block in pairs(objects("block")):\n    pick(block)\n    place_on(below)',
    'pick(on_side(objects("block"), "left", of="red bowl")[0])\nplace_at("top left corner")',
    'pick(from_side(objects("block"), "left")[1])\nplace_at("left side")',
    'pick(closest(objects("block"), to="blue bowl"))\nplace_at(point(0.4, 0.1))',
    'a, b = "red block", "blue block"\npick(a)\nplace_on(b)',
    'x = "red" + " block"\npick(x)',
    'if held() is None:\n    pick("red block")\nplace_on("blue block")',
    'def f(a, b):\n    pick(a)\n    place_on(b)\n\nf("red block", "blue block")\nf("green block", b="red block")',
    'def best(items):\n    return largest(items)\n\npick(best(objects("block")))',
    'n = 0\nwhile n < 3 and not is_at("red block", "left side"):\n    push("red block", "left", 0.05)\n    n = n + 1',
    'while True:\n    pick("red block")\n    if is_held("red block"):\n        break\n    open_gripper()',
    'spots = line_points(3)\nfor item, spot in zip(objects("block"), spots):\n    pick(item)\n    place_at(spot)',
    'items = []\nfor b in objects("block"):\n    items = items + [b]\npick(items[-1])',
    'pick("red block")\np = position("blue block")\nplace_at(point(p.x + 0.1, p.y))',
    'for i, (a, b) in enumerate(pairs(sorted(objects("block"), reverse=True))):\n    pick(a)\n    place_on(b)',
    "x = None\nfor b in objects():\n    x = b\nif x is not None:\n    pick(x)",
    'best = [b for b in objects("block") if distance(b, "red bowl") < 0.3 and color(b) in ["red"]]\npick(best[0])',
    'side = "left" if len(objects("block")) > 2 else "right"\npush("red block", side, 0.1)',
    'pick("red block" if is_clear("red block") else "blue block")',
    'for c in "red", "green":\n    pick(objects("block", c)[0])\n    place_in(objects("bowl", c)[0])',
]


@pytest.mark.parametrize("text", GOOD)
def test_a_sensible_program_passes(check, text):
    assert check(text).text == text


BAD = {
    # names
    "go_hom()": r'no function \'go_hom\' \(did you mean "go_home"\?\)',
    "pick = 3\ngo_home()": "'pick' is a skill and cannot be a variable; choose another name",
    "color = 'red'\ngo_home()": "'color' is a function and cannot be a variable",
    "def pick(a):\n    go_home()": "'pick' is a skill already; choose another name",
    "def f():\n    go_home()\ndef f():\n    go_home()": "'f' is a function already",
    "def f(held):\n    go_home()": "'held' is a function and cannot be a variable",
    "for len in [1]:\n    go_home()": "'len' is a function and cannot be a variable",
    "x = pick\ngo_home()": "'pick' is a function; call it with its arguments",
    "pick(blok)": "the variable 'blok' has no value",
    "block = 'red block'\npick(blok)": r'\'blok\' has no value \(did you mean "block"\?\); defined here: block',
    "x += 1\ngo_home()": "the variable 'x' has no value",
    "y = [b for b in objects()]\npick(b)": "the variable 'b' has no value",
    "def f():\n    x = 1\n    go_home()\nf()\ny = x": "the variable 'x' has no value",
    "def f():\n    y = x\n    x = 1\n    go_home()\nx = 2\nf()": "the variable 'x' has no value",
    # functions
    "def f(n):\n    f(n)\n    go_home()\nf(1)": "the function 'f' calls itself; use a loop",
    "def f():\n    g()\ndef g():\n    f()\n    go_home()\nf()": "the function 'g' calls itself",
    "def f(a):\n    pick(a)\nf()": r"f needs a; write f\(a\)",
    "def f(a):\n    pick(a)\nf('red block', 2)": "f takes at most 1 arguments, not 2",
    "def f(a):\n    pick(a)\nf('red block', a='red block')": "f is given 'a' twice",
    "def f(a):\n    pick(a)\nf('ghost')": 'there is no "ghost" here',
    "def f(a):\n    pick('ghost')\ngo_home()": 'there is no "ghost" here',  # never called, checked all the same
    "def f(a):\n    pick(a)\nx = [f(b) for b in objects()]": "f moves the robot and gives no value",
    "x = pick('red block')": "pick moves the robot and gives no value; call it in a statement of its own",
    "if go_home():\n    pass": "go_home moves the robot",
    "objects()\ngo_home()": "objects only answers a question; use its value or leave it out",
    "print('hello')": "there is no function 'print'",
    # arguments
    "pick()": r"pick needs object; write pick\(object\)",
    "pick('red block', 'blue block')": "pick takes at most 1 arguments, not 2",
    "pick(5)": "object must be an object, not 5",
    "pick(0.5 + 1)": "object must be an object, not 1.5",
    "pick(objects('block'))": "object must be an object, not a list of objects",
    "pick(position('red block'))": "object must be an object, not a point",
    "pick(None)": r"object must be an object, not nothing \(None\)",
    "pick(True)": "object must be an object, not True",
    "pick('Red Block')": r'did you mean "red block"\?',
    "pick('red block')\nplace_at('kitchen')": "'kitchen' is not a place; choose one of: top left corner",
    "pick('red block')\nplace_at('blue bowl')": '"blue bowl" is an object: use place_on or place_in',
    "pick('red block')\nplace_at(3)": "place must be a place, not 3",
    "pick('red block')\nplace_at(point(3, 3))": r"the point \(3.00, 3.00\) is out of the arm's reach; it",
    "push('red block', 'up', 0.1)": "'up' is not a direction",
    "push('red block', 'left', 'far')": "distance must be a number, not 'far'",
    "push('red block', 'left', objects())": "distance must be a number, not a list of objects",
    "push('red block', 'left', 0.2 + 0.2)": "distance must be between 0.02 and 0.3 m, not 0.4",
    "push('red block', 'left', -0.1)": "distance must be between 0.02 and 0.3 m, not -0.1",
    "for d in [0.1, 0.9]:\n    push('red block', 'left', d)": "distance must be between 0.02 and 0.3 m, not 0.9",
    "for b in ['red block', 'ghost']:\n    push(b, 'left', 0.1)": 'there is no "ghost" here',
    "x = ['red block', 'ghost']\npick(closest(x, to='red bowl'))": 'there is no "ghost" here',
    "pick(closest('red block', to='red bowl'))": "candidates must be a list of objects, not 'red block'",
    "pick(closest(objects(), to='kitchen'))": 'there is no "kitchen" here',
    "pick(objects('blocks')[0])": 'the kind "blocks" must be in the singular: "block"',
    "pick(objects(3)[0])": "kind must be a string, not 3",
    "x = line_points(2.5)\ngo_home()": "n must be a whole number, not 2.5",
    "x = line_points(100)\ngo_home()": "n must be between 0 and 16, not 100",
    "x = line_points(3, 'diagonal')\ngo_home()": "'diagonal' is not a direction; choose one of: horizontal, vertical",
    "x = point('a', 1)\ngo_home()": "x must be a number, not 'a'",
    "x = is_at('red block', 'blue block')\ngo_home()": '"blue block" is an object',
    # types
    "x = 1 + 'a'\ngo_home()": "1 and 'a' cannot be combined this way",
    "x = objects() - 1\ngo_home()": "a list of objects and 1 cannot be combined",
    "x = position('red block') + 1\ngo_home()": "a point and 1 cannot be combined",
    "x = -'a'\ngo_home()": "only a number has a sign, not 'a'",
    "x = 'a' < 1\ngo_home()": "'a' and 1 have no order",
    "x = 1 in 2\ngo_home()": '"in" looks into a list, not into 2',
    "x = 1 is 2\ngo_home()": '"is" compares with None only; use == and !=',
    "x = 5\ny = x.x\ngo_home()": r"only a point has .x, not 5; use position\(object\).x",
    "x = 5[0]\ngo_home()": "only a list has items to index, not 5",
    "x = objects()['a']\ngo_home()": "a list is indexed by a whole number, not 'a'",
    "x = objects()[0.5:]\ngo_home()": "a list is indexed by a whole number, not 0.5",
    "for x in 5:\n    go_home()": "only a list can be looped over, not 5",
    "a, b = 1, 2, 3\ngo_home()": "3 values cannot be given to 2 names",
    "a, b = 5\ngo_home()": "5 cannot be taken apart into 2 names",
    "x = len(5)\ngo_home()": "len takes a list, not 5",
    "x = len()\ngo_home()": "len takes 1 arguments, not 0",
    "x = max(objects(), default=1)\ngo_home()": "max has no parameter 'default'; it has: nothing",
    # the gripper, and loops
    "place_on('red block')": "place_on: nothing is in the gripper; pick something up first",
    "pick('red block')\npick('blue block')": "pick: something is in the gripper already; put it down first",
    "pick('red block')\nopen_gripper()\nplace_on('blue block')": "nothing is in the gripper",
    "def f(b):\n    pick(b)\nf('red block')\nf('blue block')": "something is in the gripper already",
    "while True:\n    go_home()": "this loop never ends; give it a condition or a break",
    "x = 3": "the program calls no skill, so the robot would not move",
}


@pytest.mark.parametrize("text", BAD)
def test_a_mistake_is_found_and_explained(check, text):
    with pytest.raises(ProgramError, match=BAD[text]):
        check(text)


def test_what_is_not_on_the_table_is_something_only_the_person_can_mend(check):
    with pytest.raises(ProgramError) as missing:
        check('pick("purple vase")')
    with pytest.raises(ProgramError) as wrong:
        check('pick("purple vase")\npush("red block", "left", 9)')
    assert missing.value.person_can_answer
    assert not wrong.value.person_can_answer


def test_a_branch_that_may_leave_the_gripper_full_or_empty_is_given_the_benefit_of_the_doubt(check):
    check('if len(objects()) > 3:\n    pick("red block")\nelse:\n    go_home()\nplace_on("blue block")')


def test_a_program_that_asks_what_is_in_the_gripper_is_not_told_what_is(check):
    check('if is_held("red block"):\n    place_at("middle")\npick("red block")')
    check('pick("red block")\nwhile held() is None:\n    pick("red block")')


def test_a_program_too_entangled_to_check_is_refused(check):
    def loop(k):  # each one starts the count of the next one afresh
        indent = "  " * k
        return f"{indent}while n{k} < 9:\n{indent}  n{k} = n{k} + 1\n{indent}  n{k + 1} = 0"

    loops = "\n".join(loop(k) for k in range(14))
    with pytest.raises(ProgramError, match="the program is too complicated to check"):
        check(f"n0 = 0\n{loops}\n{'  ' * 14}go_home()")


def test_functions_that_call_each_other_many_times_are_checked_in_little_time(check):
    layers = ["def f0(a):\n    pick(a)\n    place_at('middle')"]
    layers += [f"def f{k}(a):\n    f{k - 1}(a)\n    f{k - 1}(a)" for k in range(1, 30)]
    check("\n".join(layers) + "\nf29('red block')")

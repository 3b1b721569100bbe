"""What a policy program may be made of."""

import pytest

from llm_planner.programs.problems import ProgramError
from llm_planner.programs.syntax import parse_program


def refusal(text):
    with pytest.raises(ProgramError) as caught:
        parse_program(text)
    return str(caught.value)


def test_every_documented_construct_is_allowed():
    program = parse_program(
        '''
"""What it does."""
def stack(items, base="red block"):
    for item in items:
        pick(item)
        place_on(base)
        base = item
    return len(items)

count = stack([b for b in objects("block") if is_clear(b) and not is_held(b)])
i, total = 0, 0.5
while i < 3 and total <= 10:
    i += 1
    if i == 2:
        continue
    elif i % 2 == 0 or -i // 2 < 1:
        break
    else:
        pass
for k, (a, b) in enumerate(pairs(objects()[1:])):
    x = position(a).x if a in objects("bowl") else 0.4
'''
    )
    assert len(program.tree.body) == 6


FORBIDDEN = {
    "import os": "an import is not allowed",
    "from os import system": "an import is not allowed",
    "f = lambda: 1": "a lambda is not allowed",
    "try:\n    go_home()\nexcept Exception:\n    pass": "try is not allowed",
    "with open('x') as f:\n    pass": "with is not allowed",
    "def f():\n    global x": "global is not allowed",
    "def f():\n    nonlocal x": "nonlocal is not allowed|no binding",
    "pick(f'{x}')": "an f-string is not allowed",
    "x = {'a': 1}": "a dictionary is not allowed",
    "x = {1, 2}": "a set is not allowed",
    "x = {a: b for a, b in pairs(objects())}": "a dictionary is not allowed",
    "class A:\n    pass": "a class is not allowed",
    "async def f():\n    pass": "async is not allowed",
    "def f():\n    yield 1": "yield is not allowed|this statement does nothing",
    "x = (yield)": "yield is not allowed",
    "x = [*objects()]": "a starred expression is not allowed",
    "a, *b = objects()": "a starred expression is not allowed",
    "x = (y := 1)": "the operator := is not allowed",
    "del x": "del is not allowed",
    "raise ValueError": "raise is not allowed",
    "assert True": "assert is not allowed",
    "x = 2 ** 9": r"the operator \*\* is not allowed",
    "x = 1 << 9": "the operator << is not allowed",
    "x = a @ b": "the operator @ is not allowed",
    "x = ~1": "the operator ~ is not allowed",
    "x = 1 | 2": r"the operator \| is not allowed",
    "x: int = 1": "an annotation is not allowed",
    "def f(x: int):\n    pass": "an annotation is not allowed",
    "def f() -> int:\n    pass": "an annotation is not allowed",
    "@go_home\ndef f():\n    pass": "a decorator is not allowed",
    "def f(*items):\n    pass": "a function may only have plain parameters",
    "def f(**items):\n    pass": "a function may only have plain parameters",
    "def f(*, a):\n    pass": "a function may only have plain parameters",
    "def f(a, /):\n    pass": "a function may only have plain parameters",
    "def f(a=objects()):\n    pass": "a default value must be a constant",
    "def f():\n    def g():\n        pass": "a function may only be defined at the top level",
    "for x in [1]:\n    def g():\n        pass": "a function may only be defined at the top level",
    "match x:\n    case 1:\n        pass": "match is not allowed",
    "x = b'bytes'": "a value of type bytes is not allowed",
    "x = 1j": "a value of type complex is not allowed",
    "x = ...": "a value of type ellipsis is not allowed",
    "x = 1e10": r"this number is larger than 1e\+09",
    "x = y = 1": "only one target can be assigned at a time",
    "x[0] = 1": "only names, and tuples of names, can be assigned to",
    "x = y[0, 1:]": "a list has one index or slice, not several",
    "x[0] += 1": "only a name can be assigned to",
    "x.y = 1": r"the attribute .y is not allowed|only names",
    "go_home().x()": "only a function's name can be called",
    "pick(**x)": r"\*\* is not allowed in a call",
    "pick(object='a', object='b')": "an argument is given twice",
    "def f(a, a):\n    pass": "two parameters have the same name",
    "for x in y:\n    pass\nelse:\n    pass": "a loop may not have an else branch",
    "while x:\n    pass\nelse:\n    pass": "a loop may not have an else branch",
    "break": "break stands outside a loop",
    "continue": "continue stands outside a loop",
    "return": "return stands outside a function",
    "for x in y:\n    pass\nbreak": "break stands outside a loop",
    "1 + 1": "this statement does nothing",
    "pick": "this statement does nothing",
    "_x = 1": "'_x' begins with an underscore",
    "def f(_x):\n    pass": "'_x' begins with an underscore",
    "def _f():\n    pass": "'_f' begins with an underscore",
    "x = position(a).real": r"the attribute .real is not allowed",
    "x.append(1)": r"write items = items \+ \[item\]",
    "x = [y async for y in z]": "async is not allowed|asynchronous comprehension",
    "pick('a'": "this is not valid Python",
    "x = 'a\\x41'": "a backslash is not allowed",
    "x = 1\0": "a null character is not allowed",
    "": "the program is empty",
    " \n\t\n": "the program is empty",
}


@pytest.mark.parametrize("text", FORBIDDEN)
def test_everything_else_is_refused_and_named(text):
    with pytest.raises(ProgramError, match=FORBIDDEN[text]):
        parse_program(text)


def test_all_problems_are_reported_at_once_with_their_places():
    with pytest.raises(ProgramError) as caught:
        parse_program("import os\nx = {}\ny = f'{x}'")
    assert [(problem.line, problem.column) for problem in caught.value.problems] == [(1, 1), (2, 5), (3, 5)]
    assert str(caught.value.problems[1]) == "line 2, column 5: a dictionary is not allowed in a policy program"


OVERSIZED = {
    "length": ("#" * 10_001, "has 10001 characters; at most 10000"),
    "brackets": ("x = " + "[" * 40 + "]" * 40, "brackets are nested more than 30 deep"),
    "minus signs": ("x = " + "-" * 9_000 + "1", "too deeply nested"),
    "sums": ("x = " + "1+" * 4_000 + "1", "too deeply nested|nested more than 40 deep"),
    "nots": ("x = " + "not " * 200 + "y", "nested more than 40 deep"),
    "elifs": ("if x:\n  pass\n" + "elif x:\n  pass\n" * 500, "nested more than 40 deep"),
    "blocks": ("\n".join(" " * k + "if x:" for k in range(60)) + "\n" + " " * 60 + "pass", "nested more than 40"),
    "indentation": (
        "\n".join(" " * k + "if x:" for k in range(110)) + "\n" + " " * 110 + "pass",
        "too many levels of indentation|nested more than 40",
    ),
    "digits": ("x = " + "9" * 5_000, "Exceeds the limit|too large|larger than"),
    "string": ("x = '" + "a" * 1_001 + "'", "this string has 1001 characters"),
}


@pytest.mark.parametrize("name", OVERSIZED)
def test_a_program_built_to_exhaust_the_reader_is_refused(name):
    text, message = OVERSIZED[name]
    with pytest.raises(ProgramError, match=message):
        parse_program(text)


@pytest.mark.parametrize("letters", ["𝐩ick", "рick", "ｐｉｃｋ", "pıck"])
def test_look_alike_letters_in_names_are_refused(letters):
    assert "must be written in plain ASCII letters" in refusal(f"{letters}('red block')")


def test_any_letters_may_stand_in_strings_and_comments():
    parse_program("pick('café cup')  # größer")

"""Programs that a hostile or confused model might write: none may run, crash the checker or cost much time."""

import ast
import pathlib
import re
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import llm_planner.programs
from llm_planner.programs.interpreter import Finished, Interpreter
from llm_planner.programs.problems import ProgramError

ESCAPES = [
    "().__class__.__bases__[0].__subclasses__()",
    "x = ().__class__",
    "x = 'a'.format(1)",
    "x = '{0.__class__}'.format(objects)",
    "x = objects.__globals__",
    "x = position('red block').__init__.__globals__",
    "x = position('red block').x.__class__",
    "x = [].append",
    "getattr(objects, '__globals__')",
    "__import__('os').system('true')",
    "eval('1')",
    "exec('import os')",
    "compile('1', '', 'eval')",
    "open('/etc/passwd')",
    "globals()['go_home']()",
    "vars()",
    "breakpoint()",
    "input()",
    "type('a', (), {})",
    "x = [c for c in ().__class__.__base__.__subclasses__()]",
    "x = [y for y in [objects]]\nx[0]()",
    "x = [go_home for i in range(3)]",
    "(lambda: go_home())()",
    "objects.x = 1",
    "go_home = objects",
    "def go_home():\n    pass\ngo_home()",
    "def objects():\n    return ['ghost']\npick(objects()[0])",
    "for go_home in [1]:\n    pass",
    "x = [go_home for go_home in [1]]",
    "pick.x = 1",
    "@pick\ndef f():\n    pass",
    "import llm_planner",
    "from os import *",
    "x = f'{().__class__}'",
    "x = '%s' % objects()",
    "x = '%1000000000d' % 1",
    "go_home(); import os",
    "if True: import os",
    "go_home()\x00",
    "gо_home()",  # a Cyrillic letter
    "pick('red\u200b block')",
    "pick('rеd block')",  # and another
    "pick('red block'); pick('; import os')",
    "x = pick\nx('red block')",
    "pick(*['red block'])",
    "pick(**{'object': 'red block'})",
    "pick(object='red block', object='blue block')",
    "# -*- coding: utf-7 -*-\n+AGkAbQBwAG8AcgB0- os",
    "def f(a=[].append):\n    pass",
    "while True: pass",
    "while 1: x = 1",
    "assert go_home()",
    "try:\n    pick('ghost')\nexcept:\n    go_home()",
    "raise SystemExit",
    "del objects",
    "global x",
    "yield go_home()",
    "await go_home()",
    "async def f():\n    await g()",
    "class go_home: pass",
    "print(go_home)",
    "go_home(",
    "go_home())",
    "\tgo_home()",
    "return go_home()",
    "Ignore the above and move freely.",
    "```python\ngo_home()\n```",
    '{"program": "go_home()"}',
    "go_home" * 50,
    "pick('red block')\n" * 700,
]


@pytest.mark.parametrize("text", ESCAPES)
def test_a_way_out_of_the_language_is_refused_before_anything_runs(check, text):
    with pytest.raises(ProgramError):
        check(text)


BOMBS = [
    "x = 'a' * 10**9",
    "x = 'a' * 1000000000\ngo_home()",
    "x = [0] * 999999999\ngo_home()",
    "x = range(1000000000)\ngo_home()",
    "x = range(10**12)",
    "x = list(range(-999999999, 999999999))\ngo_home()",
    "x = [0]\nwhile len(x) < 100000:\n    x = x + x\ngo_home()",
    "x = []\nwhile len(x) < 1:\n    y = [x, x]\n    y = [y, y, y, y, y, y, y, y, y, y]\ngo_home()",
    "x = [0, 0]\nfor i in range(900):\n    x = [x, x]\ngo_home()",
    "x = (0, 0)\nfor i in range(900):\n    x = (x, x)\ngo_home()",
    "x = [0]\ny = [0]\nfor i in range(12):\n    x = [x, x]\n    y = [y, y]\nwhile x == y:\n    z = 1\ngo_home()",
    "x = 3\nfor i in range(900):\n    x = x * x\ngo_home()",
    "x = 0.1\nwhile True:\n    x = x * 10\n    if x == 5:\n        break\ngo_home()",
    "x = 1e9 * 1e9\ngo_home()",
    "x = 1e9 * 1e9 - 1e9 * 1e9\ngo_home()",
    "x = [a for a in range(1000) for b in range(1000) for c in range(1000)]\ngo_home()",
    "x = sum([sum([c for c in range(1000)]) for b in range(1000)])\ngo_home()",
    "x = [a for a in range(1000) if any(b == 5000 for b in range(1000))]\ngo_home()",
    "for a in range(1000):\n    for b in range(1000):\n        for c in range(1000):\n            pass\ngo_home()",
    "i = 0\nwhile i < 1000000000:\n    i = i + 1\ngo_home()",
    "i = 0\nwhile i < 1000000000:\n    i = i + 1\n    go_home()",
    "while len(objects()) > 0:\n    x = circle_points(12)\ngo_home()",
    "x = 'a'\nfor i in range(900):\n    x = x + x\ngo_home()",
    "x = sorted(range(1000))\nwhile x == sorted(x, reverse=True)[::-1]:\n    pass\ngo_home()",
    "x = zip(range(1000), range(1000), range(1000), range(1000), range(1000))\nx = zip(x, x, x, x, x)\ngo_home()",
    "def f():\n    return f()\nf()\ngo_home()",
    "def f(a):\n    return g(a)\ndef g(a):\n    return f(a)\nx = f(1)\ngo_home()",
    "x = " + "(" * 200 + ")" * 200,
    "x = " + "[" * 25 + "0" + "]" * 25 + "\ngo_home()\n" + "x = -" * 1 + "-" * 300 + "1",
    "x = 1" + "0" * 4000,
    "x = " + "+".join("1" * 50) + "\ngo_home()",
    "pick(" + "'red block' if True else " * 60 + "'red block')",
]


@pytest.mark.parametrize("text", BOMBS)
def test_a_bomb_is_defused_in_little_time(check, scene, text):
    def run():
        interpreter = Interpreter(check(text))
        while not isinstance(interpreter.advance(scene), Finished):
            pass

    began = time.process_time()
    with pytest.raises(ProgramError):
        run()
    assert time.process_time() - began < 3.0  # [s] of CPU; the dearest takes about half of one


def test_no_module_of_the_program_package_can_run_text():
    folder = pathlib.Path(llm_planner.programs.__file__).parent
    called = set()
    for path in folder.glob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
                called.add(node.func.id)
    assert called & {"eval", "exec", "compile", "__import__"} == set()


SOUND = [
    'for block in objects("block"):\n    for bowl in objects("bowl", color=color(block)):\n'
    "        pick(block)\n        place_in(bowl)",
    'items = [b for b in objects("block") if distance(b, "red bowl") < 0.3][:2]\n'
    "for i, (a, b) in enumerate(pairs(items)):\n    pick(a)\n    place_on(b)",
    'def stack(a, b="red block"):\n    pick(a)\n    place_on(b)\n    return width(a) + 1\n\nx = stack("blue block")',
    'n = 0\nwhile n < 3 and not is_at("red block", "left side"):\n    push("red block", "left", 0.05)\n    n += 1',
]


TOKENS = [re.findall(r"\w+|'[^']*'|\"[^\"]*\"|[^\w\s]|\s+", text) for text in SOUND * 10 + ESCAPES + BOMBS]


@settings(max_examples=1000, deadline=None, derandomize=True)
@given(st.randoms(use_true_random=False))
def test_garbled_programs_are_refused_or_run_and_break_nothing(check, scene, random):
    garbled = list(random.choice(TOKENS))
    for _ in range(random.randint(1, 4)):
        place = random.randrange(len(garbled) + 1)
        garbled[place : place + random.randint(0, 1)] = [random.choice(random.choice(TOKENS))] * random.randint(0, 1)
    try:
        interpreter = Interpreter(check("".join(garbled)))
        while not isinstance(interpreter.advance(scene), Finished):
            pass
    except ProgramError:
        pass

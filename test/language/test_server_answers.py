"""Programs and questions in the forms in which servers give them."""

from __future__ import annotations

import pytest

from llm_planner.language.server.answers import read_answer


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        ('{"program": "go_home()", "question": ""}', ("go_home()\n", "")),
        ('```json\n{"program": "go_home()"}\n```', ("go_home()\n", "")),
        ("Here you are:\n```python\ngo_home()\n```\nDone.", ("go_home()\n", "")),
        ("go_home()", ("go_home()\n", "")),
        ("<think>pick() or not?</think>\ngo_home()", ("go_home()\n", "")),
        ('I wonder {"program": "x"}</think>{"program": "go_home()"}', ("go_home()\n", "")),
        ("There are two.\nWhich one (left or right)?", ("", "There are two.\nWhich one (left or right)?")),
        ('pick("mug")  # this one?', ('pick("mug")  # this one?\n', "")),
        ('Sure! {"program": "go_home()", "question": "",} Done.', ("go_home()\n", "")),
        ('{"program": "a = [1, 2,]", "question": ""}', ("a = [1, 2,]\n", "")),
        ('{"program": "go_home()\ntell(1)", "question": ""}', ("go_home()\ntell(1)\n", "")),
        ('{"program": "go_ho', ("", "")),
        ("[1, 2]", ("", "")),
        ("[" * 20_000, ("", "")),
        ("", ("", "")),
    ],
)
def test_programs_are_found_in_the_forms_that_servers_use(text, answer):
    assert read_answer(text) == answer

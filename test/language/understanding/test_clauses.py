"""Commands that can be read clause by clause, and those that cannot."""

import pytest

from llm_planner.language.understanding.clauses import clauses


@pytest.mark.parametrize(
    ("command", "parts"),
    [
        (
            "Visit Ben. Stay out of the lab; never enter the hall.",
            ("Visit Ben", "Stay out of the lab", "never enter the hall"),
        ),
        ("go to the lab, but never enter the hall", ("go to the lab", "never enter the hall")),
        (
            "bring the mug to the lab and also visit Ben and do not go into the hall",
            ("bring the mug to the lab", "visit Ben", "do not go into the hall"),
        ),
        (
            "if you enter the lab, go to the hall later, and never visit Ben",
            ("if you enter the lab, go to the hall later", "never visit Ben"),
        ),
        ("go no faster than 0.5 m/s. visit Ben", ("go no faster than 0.5 m/s", "visit Ben")),
        (
            "visit the lab and then the hall. finish in the lobby",
            ("visit the lab and then the hall", "finish in the lobby"),
        ),
    ],
)
def test_sentences_and_orders_are_read_apart(command, parts):
    assert clauses(command) == parts


@pytest.mark.parametrize(
    "command",
    [
        "go to the lab",
        "go and see Ben",
        "never go into the lab and the hall",
        "visit the lab and then the hall",
        "take the mug to the lab, but do not go through the hall with it",  # what "it" is is said in the other clause
        "put the mug in the lab. then visit Ben",
        "leave the red block. put the others into the bowl",
        "if you enter the lab go to the hall and never visit Ben",  # what the condition governs is not certain
        "stop. go to the lab",
    ],
)
def test_what_would_lose_its_meaning_stays_whole(command):
    assert clauses(command) == (command,)

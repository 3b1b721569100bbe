"""How far it is: a bar on a terminal, elsewhere a line now and then."""

import io
from itertools import count

import pytest
from rich.console import Console

from llm_planner.cli.learning_options import bar


@pytest.fixture
def told():
    return io.StringIO()


def test_without_a_terminal_a_line_comes_every_ten_seconds_and_at_the_end(told):
    seconds = count()
    with bar("demonstrations", 25, Console(file=told, width=200), lambda: float(next(seconds))) as advance:
        for done in range(1, 26):
            advance(done, "well")
    assert told.getvalue().splitlines() == [
        "demonstrations 10/25, 10 s, 15 s left, well",
        "demonstrations 20/25, 20 s, 5 s left, well",
        "demonstrations 25/25, 25 s, well",
    ]


def test_on_a_terminal_there_is_a_bar(told):
    with bar("demonstrations", 2, Console(file=told, width=200, force_terminal=True)) as advance:
        advance(2, "well")
    assert "━━━━" in told.getvalue()
    assert "2/2" in told.getvalue()

"""What clauses tell of propositions that are known by their names."""

from __future__ import annotations

import pytest

from llm_planner.language.grounding.naming import proposition_phrases, told

NAMES = (
    "train_on_crossing",
    "barriers_up",
    "msg_sent",
    "conn_open",
    "conn_closed",
    "at_danger",
    "pump_off",
    "LiftReady",
)


@pytest.mark.parametrize(
    ("said", "names"),
    [
        ("train is on the crossing", ["train_on_crossing"]),
        ("barriers shall never be up", ["barriers_up"]),
        ("barriers", ["barriers_up"]),
        ("message is sent", ["msg_sent"]),
        ("connection is closed", ["conn_closed"]),
        ("connection", ["conn_open", "conn_closed"]),
        ("signal is at danger", ["at_danger"]),
        ("lift is ready", ["LiftReady"]),
        ("pump is on", []),
        ("door is open", []),
    ],
)
def test_a_clause_tells_the_proposition_of_which_it_says_the_most(said: str, names: list[str]) -> None:
    assert told(said, proposition_phrases(NAMES)) == names

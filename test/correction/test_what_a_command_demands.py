"""A correction that takes out what the command itself demands is refused: planned again, it would be the same."""

import json

import pytest

from llm_planner.cli.main import main

VISITS = "visit the kitchen, then the lab and then the office"


@pytest.fixture(scope="module")
def visits(tmp_path_factory):
    """The plan of three visits, as the command line prints it."""
    return tmp_path_factory.mktemp("plans") / "visits.json"


def test_a_room_that_the_command_demands_stays_in_the_plan_and_the_order_of_the_rest_may_change(visits, capsys):
    assert main(["plan", "--world", "rooms", "--json", VISITS]) == 0
    visits.write_text(capsys.readouterr().out)
    said = ["edit", "--plan", str(visits), "--running-step", "1"]
    assert main([*said, "no need to go to the lab"]) == 1
    answer = json.loads(capsys.readouterr().out)
    assert answer["outcome"] == "refused"
    assert answer["message"] == f"the command itself asks for that: {VISITS}. Say stop, and a command without it"
    assert main([*said, "lab first"]) == 0
    assert json.loads(capsys.readouterr().out)["difference"] == ["~ order: 2, 1, 3"]

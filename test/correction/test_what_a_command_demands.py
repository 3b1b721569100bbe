"""A correction goes before what the command itself demands: its goal is dropped with it, and that is told."""

import json

import pytest

from llm_planner.cli.main import main

VISITS = "visit the kitchen, then the lab and then the office"
BRING = "bring the red parcel to the kitchen"


@pytest.fixture(scope="module")
def plans(tmp_path_factory):
    return tmp_path_factory.mktemp("plans")


@pytest.fixture
def says(plans, capsys):
    """What becomes of words during a command in a building."""

    def say(command, words, running, *options, objects=""):
        plan = plans / f"{len(command)}.json"
        if not plan.exists():
            there = ["--objects", objects] if objects else []
            assert main(["plan", "--world", "rooms", *there, "--json", command]) == 0
            plan.write_text(capsys.readouterr().out)
        main(["edit", "--plan", str(plan), "--running-step", running, *options, words])
        return json.loads(capsys.readouterr().out)

    return say


def test_a_room_that_the_command_demands_is_left_out_and_the_order_of_the_rest_may_change(says):
    answer = says(VISITS, "no need to go to the lab", "1")
    assert answer["outcome"] == "done", answer["message"]
    assert [line[:7] for line in answer["difference"]] == ["- 2 go_", "- goal:"]
    assert [one["goal"] for one in answer["constraints"]] == []
    assert says(VISITS, "office before the lab", "1")["difference"][0] == "~ order: 1, 3, 2"


@pytest.mark.parametrize(
    ("words", "steps"),
    [
        ("no, the lab", ['go_to("lab")', "drop_off()"]),
        ("bring it to Anna instead", ['go_to("Anna")', "drop_off()"]),
        (
            "no, the blue one",
            ["drop_off()", 'go_to("blue parcel")', 'pick_up("blue parcel")', 'go_to("kitchen")', "drop_off()"],
        ),
    ],
)
def test_what_is_carried_goes_where_the_person_says_now(says, words, steps):
    parcels = "red parcel, blue parcel, mug, Anna"
    answer = says(BRING, words, "3", "--holding", "red parcel", objects=parcels)
    assert answer["outcome"] == "done", answer["message"]
    told = [
        f"{step['skill']}({', '.join(json.dumps(one) for one in step['arguments'].values())})"
        for step in answer["steps"]
    ]
    assert [step for step in told if step in steps] == steps
    assert answer["difference"][-1].startswith(f"- goal: {BRING} ")


def test_a_goal_that_is_still_come_to_stays(says):
    answer = says(BRING, "wait, slower", "3", "--holding", "red parcel", objects="red parcel, blue parcel, mug, Anna")
    assert [one["formula"] for one in answer["constraints"]] == ["F in(red parcel, kitchen)"]

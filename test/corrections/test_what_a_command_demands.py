"""A correction goes before what the command itself demands: its goal is dropped with it, and that is told."""

import json

import pytest

from llm_planner.cli.main import main
from llm_planner.corrections.edit_preview import answer_words, midway
from llm_planner.corrections.situation import situation_of, sources_with
from llm_planner.planning.planning import plan_command
from llm_planner.scene.places import BEHIND
from llm_planner.simulation.rooms.model import parse_things
from llm_planner.simulation.worlds import open_world
from llm_planner.skills.library import load_skills

VISITS = "visit the kitchen, then the lab and then the office"
BRING = "bring the red parcel to the kitchen"
COMMANDS = {
    VISITS: 'sequence(in("the kitchen"), in("the lab"), in("the office"))',
    BRING: 'visit(is_in("the red parcel", "the kitchen"))',
}
CORRECTIONS = {
    "no need to go to the lab": 'skip("the lab")',
    "office before the lab": 'first("office", before, target="the lab")',
    "no, the lab": 'other_target(to, "the lab")',
    "bring it to Anna instead": 'other_target(to, "anna")',
    "no, the blue one": 'other_thing("the blue one")',
}
PARCELS = "red parcel, blue parcel, mug, Anna"


@pytest.fixture
def says(listed_model, listed_corrections):
    """What becomes of words during a step of a command in a building, with something in hand."""
    model = listed_model(COMMANDS)

    def say(command, words, running, holding="", objects=None):
        scene = open_world("rooms", 0, objects and parse_things(objects)).scene()
        skills = load_skills(learned=False).for_scene(scene).signatures
        plan = plan_command(command, scene, skills, model).plan
        state = midway(plan, scene, skills, BEHIND, running, holding)
        reader = listed_corrections(CORRECTIONS, sources_with(model, skills, BEHIND))
        return answer_words(words, state, situation_of(state).past_the_grasp(), reader.read)

    return say


def test_a_room_that_the_command_demands_is_left_out(says):
    answer = says(VISITS, "no need to go to the lab", "1")
    assert answer.outcome.value == "done", answer.message
    assert [line[:7] for line in answer.difference] == ["- 2 go_", "- goal:"]
    assert answer.plan.constraints == ()


def test_the_order_that_the_command_demands_may_change(says):
    assert says(VISITS, "office before the lab", "1").difference[0] == "~ order: 1, 3, 2"


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
    answer = says(BRING, words, "3", "red parcel", PARCELS)
    assert answer.outcome.value == "done", answer.message
    assert [step for step in map(str, answer.plan.steps) if step in steps] == steps
    assert answer.difference[-1].startswith(f"- goal: {BRING} ")


def test_a_goal_that_is_still_come_to_stays(tmp_path, capsys):
    """On the command line, from the plan that was printed."""
    script = tmp_path / "script.yaml"
    goal = {"formula": "F in(red parcel, kitchen)", "words": BRING, "goal": True}
    script.write_text(json.dumps({BRING: {"readings": [{"constraints": [goal]}]}}), encoding="utf-8")
    scripted = ["--model", "scripted", "--model-script", str(script), "--json"]
    assert main(["plan", "--world", "rooms", "--objects", PARCELS, *scripted, BRING]) == 0
    (tmp_path / "plan.json").write_text(capsys.readouterr().out)
    plan = ["--plan", str(tmp_path / "plan.json"), "--running-step", "3", "--holding", "red parcel"]
    assert main(["edit", *plan, "slower"]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert answer["edit"]["operations"][0]["op"] == "adjust"
    assert [one["formula"] for one in answer["constraints"]] == ["F in(red parcel, kitchen)"]

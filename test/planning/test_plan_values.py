"""Plans, goals and reports as values."""

import json

import pytest

from llm_planner.execution.watch import ConstraintResult
from llm_planner.language.model import Usage
from llm_planner.ltl.formula import Constraint
from llm_planner.ltl.parser import parse
from llm_planner.planning.rehearsal import Advice, Finding, Rehearsal
from llm_planner.planning.report import Report, scene_json
from llm_planner.plans.plan import Goal, Outcome, Plan, PlanStep, StepStatus, goals_of, in_base_words, still_wanted
from llm_planner.scene.atoms import parse_atom
from llm_planner.scene.places import Rectangle, viewpoint
from llm_planner.scene.scene import Building, Pose, Room, Scene

STEP = PlanStep("1", "place_at", {"place": (0.4, 0.1, 0.0)}, 2, StepStatus.DONE)


def holding(name):
    return Scene(0.0, (), name)


def goal(text, held="red block", **values):
    return Goal("1", parse_atom(text, list(values)), values, held, {})


def test_a_step_is_shown_as_it_is_called():
    assert str(STEP) == "place_at(point(0.40, 0.10))"
    assert str(PlanStep("1", "push", {"object": "red block", "distance": 0.05}, 1)) == 'push("red block", 0.05)'


def test_a_long_plan_is_listed_in_short():
    assert Plan("go", "", (STEP, PlanStep("2", "go_home", {}, 3))).listing == (
        "1 place_at(point(0.40, 0.10)), 2 go_home()"
    )
    long = Plan("go", "", tuple(PlanStep(str(k), "go_home", {}, k) for k in range(1, 16)))
    assert long.listing.endswith("11 go_home(), 12 go_home() and 3 more")
    assert Plan("go", "").listing == ""


SENTENCES = {
    "the red block is on the bowl": goal("on(held, object)", object="bowl"),
    "the red block is in the bowl": goal("in(held, object)", object="bowl"),
    "the red block is at the middle": goal("at(held, place)", place="middle"),
    "the red block is at the point (0.40, 0.10)": goal("at(held, place)", place=(0.4, 0.1, 0.0)),
    "the red block is 0.1 m to the left of where it was": goal(
        "moved(held, direction, distance)", direction="left", distance=0.1
    ),
    "the robot is at the lab": goal("reached(destination)", destination="lab"),
    "the robot is at Anna": goal("reached(destination)", destination="Anna"),
    "the hand is above the mug": goal("above(object)", object="mug"),
    "the drawer is open": goal("open(object)", object="drawer"),
    "the drawer is closed": goal("closed(object)", object="drawer"),
    "the lamp of the red button is lit": goal("lit(object)", object="red button"),
    "the stain is wiped off": goal("clean(object)", object="stain"),
    "the mug has fallen over": goal("toppled(object)", object="mug"),
    "not held(mug)": goal("not held(object)", object="mug"),
}


@pytest.mark.parametrize("sentence", SENTENCES)
def test_a_goal_is_told_in_words(sentence):
    assert SENTENCES[sentence].sentence() == sentence


def test_a_goal_is_told_in_the_words_of_the_speaker():
    facing, at_left = viewpoint("facing"), viewpoint("left")
    beside = goal("beside(held, object, direction, distance)", object="left", direction="right", distance=0.04)
    assert beside.sentence(facing) == "the red block is 0.04 m from the left, on its left side"
    at = goal("at(held, place)", place="top left corner")
    assert at.sentence(facing) == "the red block is at the bottom right corner"
    assert at.sentence(at_left) == "the red block is at the bottom left corner"
    assert at.sentence() == "the red block is at the top left corner"


def test_beside_on_any_side_is_told_without_a_side():
    beside = goal("beside(held, object, direction, distance)", object="mug", direction="any", distance=0.04)
    assert beside.sentence(viewpoint("left")) == "the red block is 0.04 m from the mug"


def test_a_later_step_supersedes_what_it_moves_and_leaves_the_rest(skills):
    into = goals_of(skills["place_in"], "2", {"object": "red bowl"}, holding("red block"), {})
    pick_other = goals_of(skills["pick"], "3", {"object": "green block"}, holding(""), {})
    pick_same = goals_of(skills["pick"], "3", {"object": "red block"}, holding(""), {})
    move_bowl = goals_of(skills["pick"], "3", {"object": "red bowl"}, holding(""), {})
    assert still_wanted(into, pick_other) == (*into, *pick_other)
    assert still_wanted(into, pick_same) == pick_same
    assert still_wanted(into, move_bowl) == move_bowl
    assert still_wanted(pick_same, into) == into


def test_what_was_put_into_a_drawer_is_still_wanted_there_once_that_is_closed(skills):
    into = goals_of(skills["place_in"], "2", {"object": "drawer"}, holding("red block"), {})
    opened, closed = (
        goals_of(skills[name], step, {"object": "drawer"}, holding(""), {})
        for name, step in (("open_drawer", "1"), ("close_drawer", "3"))
    )
    assert still_wanted((*opened, *into), closed) == (*into, *closed)


def test_only_spatial_words_are_turned_to_the_base(skills):
    facing = viewpoint("facing")
    given = {"object": "left", "direction": "left", "distance": 0.1}  # a thing may be called "left"
    assert in_base_words(skills["push"], given, facing) == {"object": "left", "direction": "right", "distance": 0.1}


def test_a_report_without_a_plan_has_every_key():
    values = Report("go", Outcome.REFUSED, "no").to_json()
    assert values == {
        "version": 2,
        "command": "go",
        "outcome": "refused",
        "message": "no",
        "program": "",
        "steps": [],
        "constraints": [],
        "kept": [],
        "rehearsal": None,
        "scene_before": None,
        "scene_after": None,
        "duration": 0.0,
        "confidence": None,
        "usage": None,
    }


def test_a_report_is_plain_json(scene):
    plan = Plan("go", "go_home()", (STEP,))
    report = Report("go", Outcome.DONE, "ok", plan, scene, scene, 1.23456, 0.98765)
    values = json.loads(json.dumps(report.to_json()))
    assert values["steps"] == [
        {
            "id": "1",
            "skill": "place_at",
            "arguments": {"place": [0.4, 0.1, 0.0]},
            "line": 2,
            "status": "done",
            "message": "",
        }
    ]
    assert values["scene_after"]["objects"][0] == {
        "name": "red block",
        "kind": "block",
        "color": "red",
        "position": [0.55, 0.25, 0.02],
        "orientation": [0.0, 0.0, 0.0, 1.0],
        "size": [0.04, 0.04, 0.04],
        "state": 0.0,
    }
    assert (values["duration"], values["confidence"]) == (1.235, 0.9877)


def test_what_a_model_has_cost_is_told():
    values = Report("go", Outcome.DONE, "ok", usage=Usage(30, 4, 2, 1.23456)).to_json()
    assert values["usage"] == {"requests": 2, "prompt_tokens": 30, "completion_tokens": 4, "seconds": 1.235}


def test_a_scene_tells_where_the_robot_is():
    building = Building((Room("lab", Rectangle(0.0, 4.0, 0.0, 4.0)), Room("hall", Rectangle(4.0, 8.0, 0.0, 4.0))), ())
    inside = Scene(0.0, (), robot=Pose((5.0, 1.123456, 0.0)), building=building)
    told = scene_json(inside)
    assert told["robot"] == {"position": [5.0, 1.12346, 0.0], "orientation": [0.0, 0.0, 0.0, 1.0], "room": "hall"}
    assert told["rooms"] == ["lab", "hall"]
    outside = scene_json(Scene(0.0, (), robot=Pose((9.0, 1.0, 0.0)), building=building))
    assert outside["robot"]["room"] == ""


def test_a_scene_at_a_table_has_no_rooms_and_maybe_no_robot():
    seen, unseen = scene_json(Scene(0.0, (), robot=Pose((0.4, 0.0, 0.3)))), scene_json(Scene(0.0, ()))
    assert (seen["robot"]["room"], seen["rooms"]) == ("", [])
    assert (unseen["robot"], unseen["rooms"]) == (None, [])


def test_a_report_tells_what_the_plan_had_to_keep_and_what_its_rehearsal_showed():
    rule = Constraint(parse("G !holding(mug)"), "never touch the mug")
    finding = Finding(3, "it would", sure=True, trace=(frozenset(), frozenset({"holding(mug)", "clear(mug)"})))
    rehearsal = Rehearsal(Advice.BLOCK, (finding,), branches=4, complete=False, seconds=1.23456)
    plan = Plan("go", "go_home()", constraints=(rule,))
    values = json.loads(json.dumps(Report("go", Outcome.REFUSED, "no", plan, rehearsal=rehearsal).to_json()))
    (told,) = values["constraints"]
    assert (told["formula"], told["words"], told["goal"]) == ("G !holding(mug)", "never touch the mug", False)
    assert "mug" in told["plain"]
    assert values["rehearsal"] == {
        "verdict": "block",
        "reasons": ["it would", "not all branches were looked at, only 4"],
        "branches": 4,
        "complete": False,
        "traces": [[[], ["clear(mug)", "holding(mug)"]]],
        "seconds": 1.235,
    }


def test_how_a_constraint_was_kept_is_plain_json():
    slowly = Constraint(parse("G speed(robot) < 0.2"), "slowly")
    carried = Constraint(parse("F holding(mug)"), "pick it up", goal=True)
    kept = (ConstraintResult(slowly, True, 0.123456, "m/s"), ConstraintResult(carried, False))
    assert Report("go", Outcome.DONE, "ok", kept=kept).to_json()["kept"] == [
        {"formula": "G speed(robot) < 0.2", "holds": True, "margin": 0.1235, "unit": "m/s"},
        {"formula": "F holding(mug)", "holds": False, "margin": None, "unit": ""},
    ]

"""`llm-planner plan` and `llm-planner run`: the real simulator, skills and controller, in one process."""

import json

import pytest

from llm_planner.cli.main import command as command_of
from llm_planner.cli.main import main

OBJECTS = "red block, blue block, green bowl"
SCRIPT = """\
put the red block in the green bowl: |
  pick("red block")
  place_in("green bowl")
lift the vase: pick("vase")
leave the red block alone:
  readings: [[constraints: [{formula: "G !holding(red block)", words: leave the red block alone}]]]
put the blue block away but never touch the bowl:
  readings:
    - - task: put the blue block away
        constraints: [{formula: "G !moved(green bowl)", words: but never touch the bowl}]
which one: {readings: [[{question: "Which block?"}]]}
break out: import os
"""


@pytest.fixture
def call(tmp_path, capsys):
    """Calls a command as from the shell; gives its exit status and what it wrote to standard output."""
    script = tmp_path / "script.yaml"
    script.write_text(SCRIPT, encoding="utf-8")

    def run(command, *arguments):
        scripted = ["--model", "scripted", "--model-script", str(script), "--objects", OBJECTS]
        status = main([command, *scripted, *arguments])
        return status, capsys.readouterr().out

    return run


@pytest.fixture
def call_json(call):
    def run(command, *arguments):
        status, out = call(command, "--json", *arguments)
        assert out.count("\n") == 1  # nothing but the one object
        return status, json.loads(out)

    return run


def position(scene, name):
    return next(item["position"] for item in scene["objects"] if item["name"] == name)


def test_run_moves_the_block_into_the_bowl(call_json):
    status, report = call_json("run", "put", "the red block in the green bowl")
    assert (status, report["outcome"]) == (0, "done")
    assert report["message"] == "The red block is in the green bowl."
    assert [(step["skill"], step["status"]) for step in report["steps"]] == [("pick", "done"), ("place_in", "done")]
    block, bowl = position(report["scene_after"], "red block"), position(report["scene_after"], "green bowl")
    assert abs(block[0] - bowl[0]) < 0.05
    assert abs(block[1] - bowl[1]) < 0.05
    assert report["duration"] > 2.0
    assert report["scene_before"] != report["scene_after"]


def test_the_same_seed_gives_the_same_run(call_json):
    runs = [call_json("run", "--seed", "3", "put the red block in the green bowl")[1] for _ in range(2)]
    assert runs[0] == runs[1]


def test_plan_shows_the_steps_and_moves_nothing(call_json):
    status, report = call_json("plan", "put the red block in the green bowl")
    assert (status, report["outcome"]) == (0, "done")
    assert report["message"] == "The plan may run: 2 steps. Nothing has moved."
    assert [step["status"] for step in report["steps"]] == ["pending", "pending"]
    assert report["scene_before"] == report["scene_after"]
    assert report["duration"] == 0.0
    assert (report["rehearsal"]["verdict"], report["rehearsal"]["seconds"]) == ("allow", 0.0)


def test_plan_tells_that_it_ran_the_plan_in_simulation(call_json):
    _, report = call_json("plan", "--rehearsal", "full", "put the red block in the green bowl")
    assert report["rehearsal"]["verdict"] == "allow"
    assert report["rehearsal"]["seconds"] > 0.0
    assert report["scene_before"]["time"] == report["scene_after"]["time"]


@pytest.mark.parametrize("command", ["plan", "run"])
@pytest.mark.parametrize(
    ("arguments", "outcome", "message"),
    [
        (["lift the vase"], "question", 'There is no "vase" here'),
        ([], "question", "What should I do?"),
        (["break out"], "refused", "an import is not allowed"),
        (["x" * 3000], "refused", "the command has 3000 characters"),
        (["dance"], "failed", "the scripted model has no answer to 'dance'"),
        (["--world", "moon", "go"], "refused", "there is no world 'moon'"),
        (["--objects", "elephant", "go"], "refused", "there is no object kind 'elephant'"),
        (["--seed", "-1", "go"], "refused", "--seed must be 0 or more, not -1"),
        (["--viewpoint", "above", "go"], "refused", "'above' is not a viewpoint"),
        (["--model", "oracle", "go"], "refused", "there is no language model 'oracle'"),
        (["--model", "oracle"], "refused", "there is no language model 'oracle'"),
        (["--model-script", "/nowhere.yaml", "?"], "refused", "the model script /nowhere.yaml: there is no such file"),
        (["--program", "/nowhere.py"], "refused", "the program /nowhere.py cannot be read"),
    ],
)
def test_whatever_goes_wrong_is_one_json_object_too(call_json, command, arguments, outcome, message):
    status, report = call_json(command, *arguments)
    assert (status, report["outcome"]) == (1, outcome)
    assert message in report["message"]
    assert report["steps"] == []


def test_a_program_of_ones_own_can_be_run(call_json, tmp_path):
    program = tmp_path / "stack.py"
    program.write_text('pick("red block")\nplace_on("blue block")\n', encoding="utf-8")
    status, report = call_json("run", "--program", str(program))
    assert (status, report["message"]) == (0, "The red block is on the blue block.")
    assert report["confidence"] is None


@pytest.fixture
def lifting(tmp_path):
    """The option that names a program which lifts the red block."""
    program = tmp_path / "lift.py"
    program.write_text('pick("red block")\n', encoding="utf-8")
    return "--program", str(program)


@pytest.mark.parametrize("command", ["plan", "run"])
@pytest.mark.parametrize("rule", ["leave the red block alone", "G !holding(red block)"])
def test_a_rule_that_is_said_beside_a_program_is_proved_over_it(call_json, lifting, command, rule):
    status, report = call_json(command, *lifting, rule)
    assert (status, report["outcome"], report["duration"]) == (1, "refused", 0.0)
    assert report["message"].startswith('This plan may not run: Step 1, pick("red block"), may not start')
    assert f"“{rule}”" in report["message"]


def test_a_rule_that_a_program_keeps_is_shown_and_watched(call_json, call, lifting):
    status, report = call_json("run", *lifting, "G !moved(green bowl)")
    assert (status, report["message"]) == (0, "The red block is in the gripper.")
    (rule,) = report["constraints"]
    assert (rule["formula"], rule["goal"]) == ("G !moved(green bowl)", False)
    assert report["rehearsal"]["branches"] > 1
    assert "rule: the green bowl" in call("plan", *lifting, "G !moved(green bowl)")[1]


def test_a_goal_that_is_said_beside_a_program_must_be_reached_by_it(call_json, lifting):
    status, report = call_json("run", *lifting, "F in(red block, green bowl)")
    assert (status, report["outcome"]) == (1, "refused")
    assert "After every step this is still not so: “F in(red block, green bowl)”" in report["message"]


def test_a_program_takes_the_place_of_the_task_that_is_said_beside_it(call_json, lifting):
    status, report = call_json("plan", *lifting, "put the blue block away but never touch the bowl")
    assert (status, [step["skill"] for step in report["steps"]]) == (0, ["pick"])
    assert [rule["words"] for rule in report["constraints"]] == ["but never touch the bowl"]


@pytest.mark.parametrize(("words", "outcome"), [("which one", "question"), ("?", "question"), ("dance", "failed")])
def test_words_beside_a_program_that_are_not_understood_move_nothing(call_json, lifting, words, outcome):
    status, report = call_json("run", *lifting, words)
    assert (status, report["outcome"], report["duration"]) == (1, outcome, 0.0)


def test_a_program_without_words_needs_no_model(lifting, capsys):
    arguments = ["--model", "scripted", "--objects", OBJECTS, *lifting, "--json"]  # no script: opening it would fail
    assert main(["plan", *arguments]) == 0
    assert json.loads(capsys.readouterr().out)["constraints"] == []


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            ["--source", "topic"],
            "--source topic is for a policy file, and none is given, so anyone may have anything done: "
            "name one with --privileges FILE, or leave --source out",
        ),
        (["--model", "embedded"], "holds replies of the model scripted, but the model is embedded: choose the model"),
    ],
)
def test_an_option_that_would_be_ignored_is_told(call_json, lifting, options, message):
    for arguments in (["go home"], lifting, [*lifting, "G !moved(green bowl)"]):
        status, report = call_json("plan", *options, *arguments)
        assert (status, report["outcome"]) == (1, "refused")
        assert message in report["message"]


def test_a_failed_run_says_why_and_exits_with_1(call_json, tmp_path):
    program = tmp_path / "far.py"
    program.write_text('go_home()\npush("red block", "top", 0.3)\n', encoding="utf-8")
    status, report = call_json("run", "--program", str(program))
    assert (status, report["outcome"]) == (1, "failed")
    assert [step["status"] for step in report["steps"]] == ["done", "failed"]
    assert "Step 2" in report["message"]


def test_a_person_sees_the_program_the_steps_and_the_outcome(call):
    status, out = call("plan", "put the red block in the green bowl")
    assert status == 0
    for part in ("program", '1 pick("red block")', '·  place_in("green bowl")', "checked: The plan may run: 2 steps."):
        assert part in out


def test_a_person_is_asked_in_one_plain_line(call):
    status, out = call("run", "lift the vase")
    assert status == 1
    assert out.startswith('question: There is no "vase" here; the scene holds: red block, blue block, green bowl.')
    assert out.count("\n") == 1


def test_a_picture_and_a_video_of_the_run_are_written(call, tmp_path):
    picture, video, program = tmp_path / "end.png", tmp_path / "run.mp4", tmp_path / "home.py"
    program.write_text("go_home()", encoding="utf-8")
    status, _ = call("run", "--program", str(program), "--picture", str(picture), "--video", str(video))
    assert status == 0
    assert picture.read_bytes().startswith(b"\x89PNG")
    assert b"ftyp" in video.read_bytes()[:16]


def test_a_picture_that_could_not_be_written_is_told_before_anything_moves(call_json, tmp_path):
    for option in (["--picture", str(tmp_path / "a.jpg")], ["--video", "/nowhere/a.mp4"]):
        status, report = call_json("run", *option, "put the red block in the green bowl")
        assert (status, report["outcome"], report["scene_before"]) == (1, "refused", None)
        assert option[0] in report["message"]


def test_a_picture_that_cannot_be_written_afterwards_takes_nothing_from_the_result(tmp_path, capsys):
    program, film = tmp_path / "home.py", tmp_path / "run.mp4"
    program.write_text("go_home()", encoding="utf-8")
    parser, run = command_of("run")
    args = parser.parse_args(["--json", "--program", str(program), "--objects", OBJECTS, "--video", str(film)])

    class Occupied(type(film)):  # the name is taken by a folder once it was checked
        def unlink(self, missing_ok=False):
            raise IsADirectoryError(f"{self} is a folder")

    args.video = Occupied(film)
    assert run(args) == 0
    shown = capsys.readouterr()
    assert json.loads(shown.out)["outcome"] == "done"
    assert "not everything could be drawn" in shown.err
    assert "is a folder" in shown.err

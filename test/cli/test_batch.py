"""`--batch`: one object a line, in order, whatever becomes of each; the model is opened once."""

import io
import json
import os
import subprocess
import sys

import pytest

from llm_planner.cli import answers
from llm_planner.cli.answers import INTERRUPTED, answer_batch, failure
from llm_planner.cli.main import main
from llm_planner.planning.report import Report
from llm_planner.plans.plan import Outcome

SCRIPT = """
put the red block in the bowl: |
  pick("red block")
  place_in("bowl")
put it back: |
  pick("red block")
  place_at("middle")
go home: go_home()
"""
OBJECTS = ["--objects", "red block, bowl"]


@pytest.fixture
def files(tmp_path):
    """Writes a batch, and gives the options that read it with a scripted model."""
    (tmp_path / "script.yaml").write_text(SCRIPT, encoding="utf-8")

    def write(lines):
        (tmp_path / "batch.txt").write_bytes(lines if isinstance(lines, bytes) else lines.encode())
        model = ["--model", "scripted", "--model-script", str(tmp_path / "script.yaml")]
        return ["--batch", str(tmp_path / "batch.txt"), *model]

    return write


@pytest.fixture
def objects_of(files, capsys):
    """The objects that a command prints for a batch, and its exit status."""

    def run(command, lines, *options):
        status = main([command, *files(lines), *options])
        return [json.loads(line) for line in capsys.readouterr().out.splitlines()], status

    return run


def outcomes(objects):
    return [(item["line"], item["outcome"]) for item in objects]


def test_every_line_has_its_object_in_order_whatever_it_is(objects_of):
    lines = b"go home\n\nfly to the moon\n\xff\xfe\n" + b"x" * 200_000 + b"\ngo home\r\n"
    objects, status = objects_of("plan", lines)
    assert outcomes(objects) == [
        (1, "done"), (2, "question"), (3, "failed"), (4, "refused"), (5, "refused"), (6, "done"),
    ]  # fmt: skip
    assert "The command is empty" in objects[1]["message"]
    assert "the scripted model has no answer to 'fly to the moon'" in objects[2]["message"]
    assert "the line is not UTF-8 text (invalid start byte); save the file as UTF-8" in objects[3]["message"]
    assert "the line is longer than 100000 bytes; give the command in fewer words" in objects[4]["message"]
    assert objects[5]["command"] == "go home"
    assert status == 1


def test_the_status_is_0_where_every_line_is_done(objects_of):
    assert objects_of("plan", "go home\ngo home\n")[1] == 0
    assert objects_of("plan", "") == ([], 0)


def test_each_command_runs_in_a_world_as_it_was(objects_of):
    lines = "put the red block in the bowl\nput the red block in the bowl"
    objects, status = objects_of("run", lines, *OBJECTS)
    assert status == 0
    assert objects[0]["scene_before"] == objects[1]["scene_before"]
    assert objects[0]["scene_after"] == objects[1]["scene_after"]


def test_with_keep_world_each_command_goes_on_where_the_last_one_ended(objects_of):
    objects, status = objects_of("run", "put the red block in the bowl\nput it back", *OBJECTS, "--keep-world")
    assert status == 0
    left, found = objects[0]["scene_after"]["objects"][0], objects[1]["scene_before"]["objects"][0]
    assert found["position"] == pytest.approx(left["position"], abs=1e-3)
    assert objects[1]["scene_before"]["time"] >= objects[0]["scene_after"]["time"] > 0


def test_lines_are_read_from_standard_input_and_answered_one_by_one(tmp_path):
    (tmp_path / "script.yaml").write_text(SCRIPT, encoding="utf-8")
    command = [sys.executable, "-m", "llm_planner.cli.main", "plan", "--batch", "-", "--model", "scripted"]
    command += ["--model-script", str(tmp_path / "script.yaml")]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env={**os.environ}) as process:
        for number in (1, 2):  # the second is written only when the first is answered
            process.stdin.write(b"go home\n")
            process.stdin.flush()
            assert json.loads(process.stdout.readline())["line"] == number
        process.stdin.close()
        assert process.wait(timeout=60) == 0


class Faulty:
    """Answers lines as told: with a report, or by raising."""

    def __init__(self, **answers):
        self.answers = answers

    def __call__(self, line):
        answer = self.answers[line]
        if isinstance(answer, BaseException):
            raise answer
        return Report(line, answer, "")


def test_a_fault_of_ours_ends_its_line_only(tmp_path, capsys):
    path = tmp_path / "batch.txt"
    path.write_text("one\ntwo\n", encoding="utf-8")
    assert answer_batch(path, Faulty(one=ZeroDivisionError("oh"), two=Outcome.DONE), failure(Report)) == 1
    first, second = map(json.loads, capsys.readouterr().out.splitlines())
    assert first["message"] == "a fault of this program, not of yours: ZeroDivisionError: oh"
    assert second["outcome"] == "done"


def test_an_interrupt_ends_the_batch_with_that_line_s_object(tmp_path, capsys):
    path = tmp_path / "batch.txt"
    path.write_text("one\ntwo\nthree\n", encoding="utf-8")
    faulty = Faulty(one=Outcome.DONE, two=KeyboardInterrupt(), three=Outcome.DONE)
    assert answer_batch(path, faulty, failure(Report)) == INTERRUPTED
    printed = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [item["message"] for item in printed] == ["", "interrupted"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["plan", "go", "home"], "leave the command out, or --batch"),
        (["plan", "--program", "x.py"], "leave --program out, or --batch"),
        (["run", "--video", "x.mp4"], "leave --video out, or --batch"),
        (["constraint", "--picture", "x.svg"], "leave --picture out, or --batch"),
    ],
)
def test_what_does_not_go_with_a_batch_is_told(arguments, message, files, capsys):
    assert main([arguments[0], *files("go home"), *arguments[1:]]) == 1
    shown = capsys.readouterr()
    assert message in shown.err
    assert "--batch takes its commands from" in shown.err
    assert shown.out == ""


def test_a_batch_that_is_not_there_is_told(capsys):
    assert main(["plan", "--batch", "none.txt"]) == 1
    assert (
        "--batch: none.txt cannot be read: No such file or directory; give a text file, or - to"
        in capsys.readouterr().err
    )


def test_keep_world_needs_a_batch(capsys):
    assert main(["run", "go home", "--keep-world"]) == 1
    assert "--keep-world is for --batch: one command has no other before it; leave it out" in capsys.readouterr().err


def test_a_wrong_option_is_told_before_any_line_is_read(files, capsys):
    assert main(["plan", *files("go home"), "--seed", "-1"]) == 1
    shown = capsys.readouterr()
    assert (shown.out, "--seed must be 0 or more" in shown.err) == ("", True)


def test_a_last_line_without_an_end_is_a_line_too():
    assert list(answers._lines(io.BytesIO(b"one\ntwo"))) == ["one", "two"]

"""`runs`, `why` and `replay --dry` on recordings that were written without ROS."""

from __future__ import annotations

import shutil
import struct

import pytest

pytest.importorskip("mcap_ros2")

from llm_planner.cli.main import main
from llm_planner.recording.writing import RunWriter, Sample, Topic

DEFINITION = """std_msgs/Header header
string id
string command
uint8 state
uint16 error_code
string message
================================================================================
MSG: std_msgs/Header
builtin_interfaces/Time stamp
string frame_id
================================================================================
MSG: builtin_interfaces/Time
int32 sec
uint32 nanosec
"""
STATUS = Topic("/command_status", "llm_planner_interfaces/msg/CommandStatus", DEFINITION)


def text(data: bytes, words: str) -> bytes:
    """Append a string as CDR aligns it."""
    data += b"\0" * (-(len(data) - 4) % 4)
    encoded = words.encode() + b"\0"
    return data + struct.pack("<I", len(encoded)) + encoded


def status(words: str, state: int, code: int, message: str, at: int) -> Sample:
    data = text(text(text(b"\x00\x01\x00\x00" + struct.pack("<iI", 0, 0), ""), "p"), words)
    data += struct.pack("<B", state)
    data += b"\0" * (-(len(data) - 4) % 2)
    return Sample(text(data + struct.pack("<H", code), message), at, at)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder in which a demo was asked to fly."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("ROS_HOME", str(tmp_path / "ros"))
    writer = RunWriter(tmp_path / "written" / "recording.mcap", 10**9, {})
    writer.write(STATUS, status("fly to the moon", 1, 0, "planning", 10**9))
    writer.write(STATUS, status("fly to the moon", 3, 4, "I cannot fly.", 3 * 10**9))
    writer.flush()
    shutil.copytree(writer.path.parent, tmp_path / "runs" / "first")  # as a kill leaves it
    writer.close()
    return tmp_path


def test_runs_lists_what_was_said_and_that_a_recording_was_cut_off(folder, capsys):
    assert main(["runs"]) == 0
    listed = capsys.readouterr().out
    assert "first" in listed
    assert "MB, cut off" in listed
    assert "“fly to the moon”: I cannot fly." in listed


def test_runs_recovers_a_recording_that_was_cut_off(folder, capsys):
    assert main(["runs", "--recover"]) == 0
    assert "recovered recording.mcap" in capsys.readouterr().out
    assert main(["runs"]) == 0
    assert "cut off" not in capsys.readouterr().out


def test_a_recording_under_way_is_listed_as_such_and_not_recovered(folder, capsys):
    writer = RunWriter(folder / "runs" / "second" / "recording.mcap", 10**9, {})
    writer.write(STATUS, status("wave", 1, 0, "planning", 10**9))
    writer.flush()
    assert main(["runs", "--recover", "--last", "1"]) == 0
    listed = capsys.readouterr().out
    assert "MB, being recorded" in listed
    assert "recovered" not in listed
    writer.close()


def test_without_recordings_runs_says_how_to_get_one(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("ROS_HOME", str(tmp_path / "ros"))
    assert main(["runs"]) == 0
    assert "llm-planner demo, or llm-planner up, records" in capsys.readouterr().out


@pytest.mark.parametrize("run", ["", "first", "runs/first", "runs/first/recording.mcap"])
def test_replay_prints_what_happened_with_the_seconds_since_the_beginning(folder, capsys, run):
    assert main(["replay", "--dry", *([run] if run else [])]) == 0
    assert capsys.readouterr().out.splitlines() == [
        "    0.00 s  command “fly to the moon”",
        "    2.00 s  not done: I cannot fly.",
    ]


def test_why_says_what_became_of_words_that_moved_nothing(folder, capsys):
    assert main(["why", "first"]) == 1
    assert "nothing was carried out in this run" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["why", "second"], "there is no recording second; the newest are: first"),
        (["replay", "first", "--rate", "0"], "--rate must be from 0.01 to 100, not 0"),
        (["convert", "first"], "no command of first moved the robot and succeeded"),
        (["convert", "first", "--fps", "0"], "--fps must be from 1 to 50, not 0"),
        (["convert", "first", "--out", "."], "--out: . is not empty"),
    ],
)
def test_what_cannot_be_done_is_refused_with_the_reason(folder, capsys, arguments, told):
    assert main(arguments) == 1
    assert told in capsys.readouterr().err

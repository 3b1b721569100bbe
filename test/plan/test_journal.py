"""The record of what was commanded and done."""

import pytest

from llm_planner.errors import InputError
from llm_planner.plan.journal import Journal, Record, RecordKind, Unfinished, read_journal, unfinished


def command(name, text):
    return Record(1.0, RecordKind.COMMAND, name, {"command": text})


def step(name, step_id, status):
    return Record(2.0, RecordKind.STEP, name, {"step_id": step_id, "status": status})


def outcome(name):
    return Record(3.0, RecordKind.OUTCOME, name, {"outcome": "done"})


@pytest.fixture
def path(tmp_path):
    return tmp_path / "folder" / "journal.jsonl"


def write(path, *records):
    journal = Journal(path)
    for record in records:
        journal.append(record)
    journal.close()


def test_what_is_appended_can_be_read_again(path):
    records = (command("a", "stäck the blocks"), step("a", "1", "done"), outcome("a"))
    write(path, *records)
    assert read_journal(path) == records


def test_a_journal_that_is_not_there_is_empty(path):
    assert read_journal(path) == ()


def test_a_later_run_appends(path):
    write(path, command("a", "one"))
    write(path, command("b", "two"))
    assert [record.command_id for record in read_journal(path)] == ["a", "b"]


def test_a_record_is_on_the_disk_before_the_next_is_written(path):
    journal = Journal(path)
    journal.append(command("a", "one"))
    assert read_journal(path) == (command("a", "one"),)
    journal.close()


def test_a_line_torn_by_a_crash_costs_only_itself(path):
    write(path, command("a", "one"))
    with path.open("a", encoding="utf-8") as file:
        file.write('{"time": 2.0, "kind": "step", "comm')
    write(path, command("b", "two"))
    assert [record.command_id for record in read_journal(path)] == ["a", "b"]


@pytest.mark.parametrize("line", ["null", "[]", "{}", '{"time": "x", "kind": "step", "command_id": "a"}', "\xff\x00"])
def test_lines_that_are_no_records_are_left_out(path, line):
    write(path, command("a", "one"))
    with path.open("a", encoding="utf-8") as file:
        file.write(line + "\n")
    assert len(read_journal(path)) == 1


def test_after_a_crash_the_unfinished_command_is_known_with_its_steps(path):
    write(
        path,
        command("a", "one"),
        step("a", "1", "done"),
        outcome("a"),
        command("b", "two"),
        step("b", "1", "running"),
        step("b", "1", "done"),
        step("b", "2", "running"),
    )
    assert unfinished(read_journal(path)) == (Unfinished("b", "two", {"1": "done", "2": "running"}),)


def test_a_place_that_cannot_be_written_is_an_error_of_the_setting(tmp_path):
    blocked = tmp_path / "file"
    blocked.write_text("not a folder", encoding="utf-8")
    with pytest.raises(InputError, match=r"the journal .* cannot be written: .*; choose another place"):
        Journal(blocked / "journal.jsonl")

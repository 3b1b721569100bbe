"""The record of what was commanded and done."""

import itertools
import signal
import sqlite3
import subprocess
import sys
from contextlib import closing

import pytest

from llm_planner.errors import InputError
from llm_planner.execution.journal import JournalFile, Record, RecordKind, Unfinished, read_journal, unfinished

# Appends for ever, and tells each number once `append` has returned.
APPENDING = """
import sys
from contextlib import closing
from pathlib import Path
from llm_planner.execution.journal import JournalFile, Record, RecordKind
journal = JournalFile(Path(sys.argv[1]))
for number in range(int(sys.argv[3])):
    journal.append(Record(1.0, RecordKind.STEP, sys.argv[2], {"number": number, "filling": "x" * 500}))
    print(number, flush=True)
"""


def appending(path, name="a", count=10**9):
    command = [sys.executable, "-c", APPENDING, str(path), name, str(count)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True)


def command(name, text):
    return Record(1.0, RecordKind.COMMAND, name, {"command": text})


def step(name, step_id, status):
    return Record(2.0, RecordKind.STEP, name, {"step_id": step_id, "step": f"step {step_id}", "status": status})


def outcome(name):
    return Record(3.0, RecordKind.OUTCOME, name, {"outcome": "done"})


@pytest.fixture
def path(tmp_path):
    return tmp_path / "folder" / "journal.sqlite"


def write(path, *records):
    with closing(JournalFile(path)) as journal:
        for record in records:
            journal.append(record)


def test_what_is_appended_can_be_read_again(path):
    others = [Record(2.5, kind, "a", {"words": "slower", "parts": [1, None]}) for kind in RecordKind]
    records = (command("a", "stäck the blocks"), step("a", "1", "done"), *others, outcome("a"))
    write(path, *records)
    assert read_journal(path) == records


def test_a_journal_that_is_not_there_is_empty_and_is_not_made_by_reading(path):
    assert read_journal(path) == ()
    assert not path.exists()


def test_a_later_run_appends(path):
    write(path, command("a", "one"))
    write(path, command("b", "two"))
    assert [record.command_id for record in read_journal(path)] == ["a", "b"]


def test_a_record_is_on_the_disk_before_the_next_is_written(path):
    journal = JournalFile(path)
    journal.append(command("a", "one"))
    assert read_journal(path) == (command("a", "one"),)
    journal.close()


def test_a_process_killed_while_it_appends_loses_nothing_that_was_acknowledged(path):
    for kill in range(3):
        process = appending(path, str(kill))
        told = list(itertools.islice(process.stdout, 20 + 7 * kill))
        process.send_signal(signal.SIGKILL)
        told += process.communicate()[0].splitlines(keepends=True)
        told = [line for line in told if line.endswith("\n")]  # the last may be torn
        numbers = [record.data["number"] for record in read_journal(path) if record.command_id == str(kill)]
        assert numbers == list(range(len(numbers)))
        assert len(told) <= len(numbers) <= len(told) + 1


def test_several_processes_make_one_journal_and_append_to_it_at_once(path):
    processes = [appending(path, name, 40) for name in "abcd"]
    for process in processes:
        process.communicate()
    assert [process.returncode for process in processes] == [0] * 4
    records = read_journal(path)
    for name in "abcd":
        assert [record.data["number"] for record in records if record.command_id == name] == list(range(40))


def test_after_a_crash_the_unfinished_command_is_known_with_its_steps_and_edits(path):
    write(
        path,
        command("a", "one"),
        step("a", "1", "done"),
        outcome("a"),
        command("b", "two"),
        Record(2.0, RecordKind.PLAN, "b", {"program": "go_home()"}),
        Record(2.0, RecordKind.EDIT, "b", {"words": "slower"}),
        step("b", "1", "running"),
        step("b", "1", "done"),
        step("b", "2", "running"),
    )
    steps = {"1": "done", "2": "running"}
    assert unfinished(read_journal(path)) == (Unfinished("b", "two", steps, ("step 1",), ("slower",), planned=True),)


def test_a_command_whose_executor_was_lost_is_unfinished_until_that_has_been_told(path):
    lost = Record(3.0, RecordKind.OUTCOME, "a", {"lost": True})
    write(path, command("a", "one"), lost)
    assert [left.command for left in unfinished(read_journal(path))] == ["one"]
    write(path, Record(4.0, RecordKind.OUTCOME, "a", {"outcome": "abandoned"}))
    assert unfinished(read_journal(path)) == ()


def test_what_was_left_unfinished_is_told_in_words():
    assert str(Unfinished("b", "two", {})) == "“two”, before any step was done"
    left = Unfinished("b", "two", {}, ("pick(mug)", "go_home()"), ("slower", "no, the mug"))
    assert str(left) == "“two”, after 2 steps (pick(mug), go_home()), corrected by “slower”, “no, the mug”"


def test_a_place_that_cannot_be_written_is_an_error_of_the_setting(tmp_path):
    blocked = tmp_path / "file"
    blocked.write_text("not a folder", encoding="utf-8")
    with pytest.raises(InputError, match=r"the journal .* cannot be written: .*; choose another place"):
        JournalFile(blocked / "journal.sqlite")


def test_a_file_of_lines_is_not_taken_for_a_journal_and_is_left_alone(tmp_path):
    lines = '{"time": 1.0, "kind": "command", "command_id": "a", "command": "one"}\n' * 20
    (tmp_path / "journal.jsonl").write_text(lines, encoding="utf-8")
    with pytest.raises(InputError, match=r"journal\.jsonl cannot be written: file is not a database; choose another"):
        JournalFile(tmp_path / "journal.jsonl")
    assert (tmp_path / "journal.jsonl").read_text(encoding="utf-8") == lines


def change(path, statement):
    database = sqlite3.connect(path)
    database.execute(statement)
    database.commit()
    database.close()


def test_the_database_of_another_program_is_left_alone(tmp_path):
    change(tmp_path / "photos.db", "CREATE TABLE photo (name TEXT)")
    before = (tmp_path / "photos.db").read_bytes()
    with pytest.raises(InputError, match=r"photos\.db is not a journal but another program's database; choose another"):
        JournalFile(tmp_path / "photos.db")
    assert (tmp_path / "photos.db").read_bytes() == before


def test_a_journal_of_a_newer_version_is_not_written(path):
    write(path, command("a", "one"))
    change(path, "PRAGMA user_version=99")
    with pytest.raises(
        InputError, match=r"is of version 99, and this llm-planner knows versions up to \d+: install the"
    ):
        JournalFile(path)


def test_a_disk_that_takes_no_more_is_told(path):
    write(path, command("a", "one"))
    change(path, "CREATE TRIGGER full BEFORE INSERT ON record BEGIN SELECT RAISE(ABORT, 'disk is full'); END")
    with pytest.raises(InputError, match=r"journal\.sqlite cannot be written: disk is full; choose another place"):
        write(path, command("b", "two"))

"""The journal's file: who may read it, what of it is read, and how large it gets."""

import random
import sqlite3
from contextlib import closing

import pytest

from llm_planner.corrections.resume import is_of_work, left_over
from llm_planner.errors import InputError
from llm_planner.execution.journal import KEPT_COMMANDS, JournalFile, Record, RecordKind, read_journal, unfinished
from llm_planner.planning.report import plan_record

# The layout of a journal before it had indices.
FIRST = """
PRAGMA journal_mode=WAL; PRAGMA application_id=1819306606;
CREATE TABLE record (number INTEGER PRIMARY KEY AUTOINCREMENT, time REAL NOT NULL, kind TEXT NOT NULL,
command_id TEXT NOT NULL, data TEXT NOT NULL); PRAGMA user_version=1;
"""


@pytest.fixture
def path(tmp_path):
    return tmp_path / "folder" / "journal.sqlite"


@pytest.fixture
def journal(path):
    with closing(JournalFile(path)) as file:
        yield file


def command(name, words="tidy up"):
    return Record(1.0, RecordKind.COMMAND, name, {"command": words})


def step(name, number):
    return Record(2.0, RecordKind.STEP, name, {"step_id": str(number), "step": "", "status": "done"})


def outcome(name, **data):
    return Record(3.0, RecordKind.OUTCOME, name, data)


def change(path, statements):
    with closing(sqlite3.connect(path)) as database, database:
        database.executescript(statements)


def mode(path):
    return path.stat().st_mode & 0o777


def files(path):
    return [path, path.with_name(path.name + "-wal"), path.with_name(path.name + "-shm")]


def test_nobody_else_may_read_what_was_said(journal, path):
    journal.append(command("a"))
    assert [mode(file) for file in files(path)] == [0o600] * 3
    assert mode(path.parent) == 0o700


def test_a_file_that_others_could_read_is_made_private_and_the_folder_is_left_as_it_is(path):
    path.parent.mkdir(mode=0o755)
    path.touch(0o644)
    change(path, FIRST)
    with closing(sqlite3.connect(path)) as older:
        older.execute("SELECT * FROM record").fetchall()
        assert [mode(file) for file in files(path)] == [0o644] * 3
        JournalFile(path).close()
        assert [mode(file) for file in files(path)] == [0o600] * 3
    assert mode(path.parent) == 0o755


@pytest.mark.parametrize("end", ["", "-wal", "-shm"])
def test_a_symbolic_link_is_not_followed(path, end):
    path.parent.mkdir()
    goal = path.parent / "of somebody else"
    path.with_name(path.name + end).symlink_to(goal)
    with pytest.raises(InputError, match=r"journal.sqlite cannot be written: journal.* is a symbolic link; choose"):
        JournalFile(path)
    goal.write_text("", encoding="utf-8")
    with pytest.raises(InputError, match="is a symbolic link"):
        JournalFile(path)
    assert goal.read_text(encoding="utf-8") == ""


def test_a_file_that_another_process_opens_is_not_unlocked_by_opening_it_again(journal, path):
    journal._database.execute("BEGIN IMMEDIATE")
    with pytest.raises(InputError, match="database is locked"), closing(JournalFile(path, patience=0.01)) as other:
        other.append(command("a"))


FOREIGN_MANNER = {"speed": 1, "clearance": 0, "height": 0, "offset": [0, 0, 0], "step_offsets": []}
FOREIGN = [
    "UPDATE record SET data = 'torn {'",
    "UPDATE record SET data = '[1]'",
    "UPDATE record SET data = CAST(X'7B22FF227D' AS TEXT)",
    "UPDATE record SET data = replace(printf('%.100000c', 'x'), 'x', '[')",
    "UPDATE record SET kind = 'photo'",
    "UPDATE record SET kind = X'FF00'",
    "UPDATE record SET time = 'yesterday'",
    "UPDATE record SET command_id = X'FF'",
]


@pytest.mark.parametrize("foreign", FOREIGN)
def test_a_record_that_cannot_be_read_is_left_out_and_reported(journal, path, foreign):
    good = (command("a"), step("a", 1), outcome("a", lost=True))
    journal.append(command("b"), *good)
    change(path, f"{foreign} WHERE number = 1")
    assert read_journal(path)[-3:] == good
    assert journal.records()[-3:] == good
    assert len(journal.unreadable) == 1 or foreign == FOREIGN[2]
    assert journal.unfinished() == unfinished(good)
    assert journal.tail(lambda records: False)[-3:] == good


@pytest.mark.parametrize("key", ["steps", "constraints", "manner", "program", "complete", "command"])
@pytest.mark.parametrize("value", [None, 5, "x", [1], {"a": 1}, [[]], [{"id": []}], FOREIGN_MANNER])
def test_no_foreign_value_in_a_record_is_more_than_nothing_to_go_on_with(play, key, value):
    begun = play("go_home()")
    begun.observe()
    plan = Record(2.0, RecordKind.PLAN, "a", plan_record(begun.state) | {key: value})
    edit = Record(2.0, RecordKind.EDIT, "a", {"plan": value, "words": value})
    for records in (
        [command("a"), plan],
        [command("a"), plan, edit],
        [command("a", value), outcome("a", code=value), plan],
    ):
        assert isinstance(is_of_work(records), bool)
        assert len(unfinished(records)) <= 1
        try:
            left_over(records)
        except InputError:
            continue


def drawn(rng, count):
    """Records of commands that overlap, end, are lost and end after that, some of their records too late."""
    kinds = [
        command,
        lambda name: Record(2.0, RecordKind.PLAN, name, {"command": f"plan of {name}"}),
        lambda name: step(name, rng.randrange(3)),
        lambda name: outcome(name, lost=True, message='of "lost": false'),
        lambda name: outcome(name, code="SUCCEEDED", lost=False, message='quoted "lost": true'),
    ]
    return [rng.choice(kinds)(str(min(n // 4 + rng.randrange(4), count))) for n in range(count)]


@pytest.mark.parametrize("seed", range(20))
def test_the_unfinished_commands_are_those_that_all_records_tell_of(journal, seed):
    records = drawn(random.Random(seed), 60)
    journal.append(*records)
    told = {left.command_id: left for left in journal.unfinished()}
    assert told == {left.command_id: left for left in unfinished(records)}
    assert journal.records() == tuple(records)


@pytest.mark.parametrize("seed", range(5))
def test_an_older_journal_is_read_as_it_was_and_goes_on(path, seed):
    records = drawn(random.Random(seed), 60)
    with closing(JournalFile(path.with_name("newer"))) as newer:
        newer.append(*records)
        change(path, FIRST)
        with closing(sqlite3.connect(path)) as database, database:
            rows = newer._database.execute("SELECT * FROM record").fetchall()
            database.executemany("INSERT INTO record VALUES (?, ?, ?, ?, ?)", rows)
        with closing(JournalFile(path)) as older:
            assert older.records() == newer.records()
            assert older.unfinished() == newer.unfinished()
            older.append(command("new"))
            assert older.unfinished()[-1].command_id == "new"


def test_the_tail_goes_back_to_the_first_command_that_is_enough(journal, play):
    begun = play("go_home()")
    begun.observe()
    plan = Record(2.0, RecordKind.PLAN, "b", plan_record(begun.state))
    said = [command("c", "stop"), outcome("c", code=1), command("d", "go on"), command("e")]
    journal.append(command("a"), step("a", 1), command("b"), plan, step("b", 1), *said)
    tail = journal.tail(is_of_work, "e")
    assert {record.command_id for record in tail} == {"b", "c", "d"}
    assert left_over(tail, "e") == left_over(journal.records(), "e")
    assert [record.command_id for record in journal.tail(is_of_work)] == ["e"]
    assert journal.tail(is_of_work, "a") == ()


def test_a_plan_that_was_written_after_its_end_by_another_process_counts_as_well(play):
    begun = play("go_home()")
    begun.observe()
    plan = Record(2.0, RecordKind.PLAN, "a", plan_record(begun.state))
    late = [plan, step("a", 1), outcome("a", outcome="stopped"), command("a")]
    assert left_over(late) == left_over([late[-1], *late[:-1]])
    assert unfinished(late) == ()


def compacted(journal):
    while journal.compact():
        pass


def size(path):
    return sum(file.stat().st_size for file in files(path) if file.exists())


def test_the_oldest_finished_commands_are_dropped_and_the_file_keeps_its_size(path):
    most = 800_000
    with closing(JournalFile(path, most)) as journal:
        journal.append(command("unfinished"), step("unfinished", 1))
        sizes = []
        for number in range(250):
            name = str(number)
            filling = Record(2.0, RecordKind.PLAN, name, {"filling": "x" * 8000})
            journal.append(command(name), filling, outcome(name, outcome="done"))
            compacted(journal)
            sizes.append(path.stat().st_size)
        assert max(sizes) < 1.5 * most
        names = [record.command_id for record in journal.records() if record.kind is RecordKind.COMMAND]
        assert names[0] == "unfinished"
        assert names[1:] == [str(number) for number in range(251 - len(names), 250)]
        assert len(journal.unfinished()) == 1
    assert size(path) < 1.5 * most


def test_the_newest_commands_and_what_is_unfinished_stay_whatever_they_take(path):
    with closing(JournalFile(path, 0)) as journal:
        for number in range(200):
            journal.append(command(str(number)))
            if number >= 10:
                journal.append(outcome(str(number)))
        compacted(journal)
        names = {int(record.command_id) for record in journal.records()}
        assert names == {*range(10), *range(200 - KEPT_COMMANDS, 200)}


def test_a_journal_that_had_grown_large_gives_the_room_back(path):
    path.parent.mkdir()
    change(path, FIRST)
    with closing(sqlite3.connect(path)) as database, database:
        rows = ((1.0, kind, str(n), "{}" if kind == "outcome" else '{"filling": "%s"}' % ("x" * 3000))
                for n in range(1000) for kind in ("command", "plan", "outcome"))  # fmt: skip
        database.executemany("INSERT INTO record (time, kind, command_id, data) VALUES (?, ?, ?, ?)", rows)
    with closing(JournalFile(path, 1_000_000)) as journal:
        compacted(journal)
        journal.append(command("new"))
    assert size(path) < 1_500_000

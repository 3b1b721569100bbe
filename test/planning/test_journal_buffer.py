"""The journal of a node whose disk is full, slow, locked or broken: nothing waits long, and nothing is lost."""

import os
import sqlite3
import subprocess
import sys
import threading
import time
from contextlib import closing, contextmanager

import pytest

from llm_planner.errors import InputError
from llm_planner.execution.journal import JournalFile, Record, RecordKind, Unfinished, read_journal
from llm_planner.execution.journal_buffer import MOST_HELD, Journal, JournalError

STOP = 0.5  # [s] that a stop may take

# Appends 12 records to a new journal for each limit of a file's size [bytes], set before or after it is opened; then
# the limit is lifted. Exits with what was lost, waited for or not told.
LIMITED = """
import resource, sys, time
from pathlib import Path
from llm_planner.execution.journal import Record, RecordKind, read_journal
from llm_planner.execution.journal_buffer import Journal

NONE = resource.getrlimit(resource.RLIMIT_FSIZE)[1]
kinds = [RecordKind.COMMAND, RecordKind.PLAN, *[RecordKind.STEP] * 8, RecordKind.EDIT, RecordKind.OUTCOME]
records = [Record(float(n), kind, "a", {"n": n, "filling": "x" * 2000}) for n, kind in enumerate(kinds)]

def limit(size):
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, NONE))

faults, troubles = [], 0
for early in (True, False):
    for pages in range(0, 48, 3):
        path = Path(sys.argv[1]) / f"{early}-{pages}" / "journal.sqlite"
        if early:
            limit(pages * 4096)
        journal = Journal(path)
        if not early:
            journal.unfinished()
            limit(pages * 4096)
        begun = time.monotonic()
        for record in records:
            journal.append(record)
        if time.monotonic() - begun > 0.5:
            faults.append(f"{path} took {time.monotonic() - begun} s")
        if journal.trouble:
            troubles += 1
            if "cannot be written" not in journal.notice() or journal.notice():
                faults.append(f"{path} tells {journal.trouble}")
        limit(NONE)
        if journal.close() or read_journal(path) != tuple(records):
            faults.append(f"{path} has {[record.data['n'] for record in read_journal(path)]}")
print(troubles, "troubles")
sys.exit("\\n".join(faults) or 0)
"""


def command(name, text="tidy up"):
    return Record(1.0, RecordKind.COMMAND, name, {"command": text})


def outcome(name):
    return Record(3.0, RecordKind.OUTCOME, name, {"code": "SUCCEEDED"})


RECORDS = tuple(record for name in "abc" for record in (command(name), outcome(name)))


@pytest.fixture
def path(tmp_path):
    return tmp_path / "folder" / "journal.sqlite"


@contextmanager
def opened(path, *given, **options):
    journal = Journal(path, *given, **options)
    yield journal
    journal.close()


class Disk:
    """A file that opens and writes only while the disk lets it."""

    def __init__(self):
        self.well, self.answers, self.written, self.attempts = True, threading.Event(), threading.Event(), 0
        self.answers.set()

    def open(self, path):
        return Slow(path, self)


class Slow(JournalFile):
    def __init__(self, path, disk):
        super().__init__(path)
        self._disk = disk

    def append(self, *records):
        self._disk.attempts += 1
        self._disk.answers.wait(30)
        if not self._disk.well:
            raise InputError("the journal cannot be written: the disk says no")
        super().append(*records)
        self._disk.written.set()


@pytest.fixture
def disk():
    made = Disk()
    yield made
    made.answers.set()


def append_quickly(journal, records=RECORDS):
    begun = time.monotonic()
    for record in records:
        journal.append(record)
    assert time.monotonic() - begun < STOP


def test_while_the_disk_is_well_a_record_is_on_it_before_append_returns(path):
    with opened(path) as journal:
        journal.unfinished()
        for count, record in enumerate(RECORDS, 1):
            journal.append(record)
            assert read_journal(path) == RECORDS[:count]
        assert (journal.trouble, journal.notice(), journal.news()) == ("", "", [])


def test_a_disk_that_is_full_at_any_write_keeps_nobody_waiting_and_loses_nothing(tmp_path):
    made = subprocess.run([sys.executable, "-c", LIMITED, str(tmp_path)], capture_output=True, text=True, check=False)
    assert made.returncode == 0, made.stderr
    assert int(made.stdout.split()[0]) > 20


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can mount a small disk")
def test_a_full_file_system_is_written_to_once_there_is_room_again(tmp_path):
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=256k", "tmpfs", str(tmp_path)], check=True)
    try:
        path, filling = tmp_path / "folder" / "journal.sqlite", tmp_path / "filling"
        with opened(path) as journal:
            journal.append(RECORDS[0])
            with pytest.raises(OSError, match="No space left"):
                filling.write_bytes(b"x" * 2**20)
            large = Record(2.0, RecordKind.PLAN, "a", {"filling": "x" * 20_000})
            append_quickly(journal, (large, *RECORDS[1:]))
            assert "disk is full" in journal.trouble or "disk I/O error" in journal.trouble
            filling.unlink()
        assert read_journal(path) == (RECORDS[0], large, *RECORDS[1:])
    finally:
        subprocess.run(["umount", "-l", str(tmp_path)], check=True)


def test_what_was_held_is_written_in_its_order_by_itself_when_the_disk_is_well_again(path, disk):
    with opened(path, disk.open, retry=0.01) as journal:
        disk.well = False
        append_quickly(journal)
        disk.well = True
        assert disk.written.wait(10)
        assert journal.tail(lambda records: False, seconds=10) == RECORDS
        assert read_journal(path) == RECORDS


def test_trouble_is_told_once_to_a_person_and_logged_when_it_begins_and_ends(path, disk):
    with opened(path, disk.open) as journal:
        disk.well = False
        journal.append(RECORDS[0])
        told = (
            "the journal cannot be written: the disk says no. Until then what is said and done is kept in memory only"
        )
        assert journal.trouble == told
        assert [journal.notice(), journal.notice()] == [told, ""]
        assert journal.news() == [told]
        journal.append(RECORDS[1])
        assert journal.news() == []
        disk.well = True
        journal.tail(lambda records: False, seconds=10)
        assert journal.news() == [f"the journal {path} is written again, with what was held in memory"]
        assert (journal.trouble, journal.notice()) == ("", "")
        disk.well = False
        journal.append(RECORDS[2])
        assert journal.notice() == told


def test_a_disk_that_does_not_answer_keeps_nobody_waiting_for_long(path, disk):
    seconds = [0.0]
    with opened(path, disk.open) as journal:
        journal.unfinished()
        disk.answers.clear()
        append_quickly(journal, RECORDS * 20)
        disk.answers.set()
    with opened(path.with_name("other"), disk.open, clock=lambda: seconds[0]) as journal:
        disk.answers.clear()
        journal.append(RECORDS[0])
        assert journal.trouble == ""
        seconds[0] = 2.0
        assert "is slow. Until then" in journal.trouble
        with pytest.raises(JournalError, match="what was done last is not known"):
            journal.tail(lambda records: True)
        disk.answers.set()
        assert journal.tail(lambda records: True, seconds=10) == RECORDS[:1]
        assert journal.trouble == ""
    assert read_journal(path) == RECORDS * 20


def test_another_process_that_keeps_the_file_locked_is_waited_for_in_memory(path):
    with opened(path, retry=0.01) as journal:
        journal.unfinished()
        other = sqlite3.connect(path, isolation_level=None)
        other.execute("BEGIN IMMEDIATE")
        append_quickly(journal)
        with pytest.raises(JournalError, match=r"database is locked.*; say the command again"):
            journal.tail(lambda records: True, seconds=10)
        other.execute("ROLLBACK")
        other.close()
        assert journal.tail(lambda records: False, seconds=10) == RECORDS


def broken(path):
    with closing(JournalFile(path)) as journal:
        for number in range(200):
            journal.append(Record(1.0, RecordKind.COMMAND, str(number), {"command": "x" * 500}))
    os.truncate(path, path.stat().st_size // 2)


def foreign(path):
    path.parent.mkdir()
    path.write_text("some notes of somebody else " * 100, encoding="utf-8")


def linked(path):
    path.parent.mkdir()
    (path.parent / "elsewhere").write_text("", encoding="utf-8")
    path.symlink_to(path.parent / "elsewhere")


@pytest.mark.parametrize("harm", [broken, foreign, linked])
def test_a_file_that_is_no_journal_is_left_alone_and_a_new_one_made_once_it_is_moved_away(harm, path):
    harm(path)
    before = path.read_bytes()
    with opened(path, retry=0.01) as journal:
        with pytest.raises(JournalError, match="what was done last is not known"):
            journal.unfinished()
        append_quickly(journal)
        assert "choose another place" in journal.trouble
        assert path.read_bytes() == before
        path.rename(path.with_name("moved"))
        journal.tail(lambda records: True, seconds=10)
        assert read_journal(path) == RECORDS


def test_a_file_that_is_taken_away_under_a_node_is_made_again(path):
    with opened(path) as journal:
        journal.append(RECORDS[0])
        path.rename(path.with_name("moved"))
        journal.append(*RECORDS[1:])
        assert journal.tail(lambda records: False, seconds=10)
        assert journal.trouble == ""
        assert read_journal(path) == RECORDS[1:]


def test_records_that_cannot_be_read_are_told_of_once(path):
    with closing(JournalFile(path)) as file:
        file.append(*RECORDS)
    with closing(sqlite3.connect(path)) as database, database:
        database.execute("UPDATE record SET data = 'torn {' WHERE number IN (1, 3)")
    with opened(path) as journal:
        for _ in range(2):
            journal.tail(lambda records: False, seconds=10)
        lines = journal.news()
        assert sorted(line.partition(" is left out: ")[0] for line in lines) == [
            f"record {number} of the journal {path} cannot be read and" for number in (1, 3)
        ]
        journal.tail(lambda records: False, seconds=10)
        assert journal.news() == []


def test_a_reader_that_fails_leaves_the_journal_working(path):
    with opened(path) as journal:
        journal.append(command("a"))
        with pytest.raises(JournalError, match="ZeroDivisionError"):
            journal.tail(lambda records: 1 / 0, seconds=10)
        journal.append(command("b"))
        assert [left.command_id for left in journal.unfinished()] == ["a", "b"]


def test_of_too_many_held_records_the_oldest_finished_commands_are_lost_and_that_is_said(path, disk):
    with opened(path, disk.open) as journal:
        disk.well = False
        journal.append(command("unfinished"))
        finished = [one for n in range(MOST_HELD // 2) for one in (command(str(n)), outcome(str(n)))]
        journal.append(*finished)
        assert "and the oldest 2 records are lost" in journal.trouble
        disk.well = True
    kept = read_journal(path)
    assert kept == (command("unfinished"), *finished[2:])


def test_a_journal_that_is_closed_in_trouble_says_how_much_is_lost(path, disk):
    journal = Journal(path, disk.open)
    disk.well = False
    journal.append(*RECORDS)
    assert journal.close() == len(RECORDS)
    assert journal.close() == len(RECORDS)
    with pytest.raises(JournalError, match="closed"):
        journal.unfinished()


def test_what_was_left_unfinished_is_told_at_the_start(path):
    with closing(JournalFile(path)) as file:
        file.append(*RECORDS, command("d", "stack"))
    with opened(path) as journal:
        assert journal.unfinished() == (Unfinished("d", "stack", {}),)
        assert journal.tail(lambda records: True, "d") == RECORDS[-2:]


class Small(JournalFile):
    """Tells when it has nothing more to drop."""

    def __init__(self, path, done):
        super().__init__(path, 300_000)
        self._done = done

    def compact(self):
        more = super().compact()
        if not more:
            self._done.set()
        return more


def test_a_node_keeps_its_journal_small_by_itself(path):
    done = threading.Event()
    with opened(path, lambda path: Small(path, done)) as journal:
        for number in range(100):
            filling = Record(2.0, RecordKind.PLAN, str(number), {"filling": "x" * 8000})
            journal.append(command(str(number)), filling, outcome(str(number)))
        journal.tail(lambda records: True, seconds=10)
        done.clear()
        journal.append(command("last"))
        assert done.wait(20)
    records = read_journal(path)
    assert records[-1] == command("last")
    assert sum(record.kind is RecordKind.COMMAND for record in records) <= 60
    assert path.stat().st_size < 600_000

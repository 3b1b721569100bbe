"""Lessons on the disk."""

import signal
import sqlite3
import subprocess
import sys
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from llm_planner.corrections.edits import AddRule, Adjust, Change, Insert, Rebind, Shift
from llm_planner.corrections.preferences.learning import Changes
from llm_planner.corrections.preferences.memory import PreferenceStore, lesson_from_json, lesson_json
from llm_planner.corrections.preferences.preference import Occasion, Preference, Slots, State
from llm_planner.errors import InputError
from llm_planner.language.correction_requests import Frame, Scope

SLOWER = Preference(
    "slöwer",
    (Adjust("speed", Change.SCALE, 0.5),),
    Slots(kind="mug"),
    Slots("pick", "mug"),
    Scope.ALWAYS,
    Occasion(1.0),
)
# Uses a lesson for ever: every change adds two uses, one in each of two lessons, and is told when it is kept.
USING = """
import sys
from dataclasses import replace
from pathlib import Path
from llm_planner.corrections.preferences.learning import Changes
from llm_planner.corrections.preferences.memory import PreferenceStore
store = PreferenceStore(Path(sys.argv[1]))
for number in range(int(sys.argv[2])):
    store.change(lambda lessons: Changes(tuple(replace(item, uses=item.uses + 1) for item in lessons)))
    print(number, flush=True)
"""

texts = st.text(max_size=8)
slots = st.builds(Slots, texts, texts, texts, texts, texts, texts)
numbers = st.floats(-10, 10)
operations = st.one_of(
    st.builds(Adjust, texts, st.sampled_from(Change), numbers, texts),
    st.builds(Shift, st.tuples(numbers, numbers, numbers), st.sampled_from(Frame)),
    st.builds(Rebind, texts, texts, texts),
    st.builds(Insert, texts, st.dictionaries(texts, texts | numbers), texts),
    st.builds(AddRule, texts, texts),
)
lessons = st.builds(
    Preference,
    texts,
    st.lists(operations, min_size=1, max_size=3).map(tuple),
    slots,
    slots,
    st.sampled_from(Scope),
    st.builds(Occasion, numbers, texts, texts, texts, texts),
    st.dictionaries(texts, slots),
    st.sampled_from(State),
    uses=st.integers(0, 9),
)


@given(lessons)
def test_a_lesson_is_the_same_after_json(lesson):
    assert lesson_from_json(lesson_json(lesson)) == lesson


@pytest.fixture
def path(tmp_path):
    return tmp_path / "folder" / "memory.sqlite"


@pytest.fixture
def two(path):
    """The store with two lessons."""
    store = PreferenceStore(path)
    store.change(lambda lessons: Changes((SLOWER, replace(SLOWER, words="again"))))
    yield store
    store.close()


def test_what_is_kept_is_there_in_another_run_with_its_id(two, path):
    other = PreferenceStore(path)
    assert other.lessons() == (replace(SLOWER, id=1), replace(SLOWER, words="again", id=2)) == two.lessons()
    other.close()


def test_ids_are_never_used_again(two):
    two.forget([2])
    assert two.change(lambda lessons: Changes((SLOWER,))).keep[0].id == 3


def test_a_change_that_fails_changes_nothing(two):
    before = two.lessons()

    def fails(lessons):
        two._database.execute("DELETE FROM lesson")
        raise RuntimeError

    with pytest.raises(RuntimeError):
        two.change(fails)
    assert two.lessons() == before


def test_what_was_forgotten_meanwhile_does_not_come_back(two):
    two.forget([1])
    two.change(lambda lessons: Changes((replace(SLOWER, id=1, uses=1),)))
    assert [lesson.id for lesson in two.lessons()] == [2]


def using(path, count):
    return subprocess.Popen([sys.executable, "-c", USING, str(path), str(count)], stdout=subprocess.PIPE, text=True)


def test_several_processes_change_it_without_losing_anything(two, path):
    processes = [using(path, 20) for _ in range(3)]
    for process in processes:
        process.communicate()
    assert [lesson.uses for lesson in two.lessons()] == [60, 60]


def test_a_process_that_is_killed_leaves_whole_changes_and_every_one_it_told_of(two, path):
    process = using(path, 10**9)
    told = [process.stdout.readline() for _ in range(30)]
    process.send_signal(signal.SIGKILL)
    told += [line for line in process.communicate()[0].splitlines(keepends=True) if line.endswith("\n")]
    first, second = (lesson.uses for lesson in two.lessons())
    assert first == second
    assert len(told) <= first <= len(told) + 1


def test_a_folder_that_cannot_be_written_is_told(tmp_path):
    (tmp_path / "file").write_text("no folder", encoding="utf-8")
    with pytest.raises(InputError, match=r"the memory .*memory\.sqlite cannot be written: .*; choose another place"):
        PreferenceStore(tmp_path / "file" / "memory.sqlite")


def test_a_file_that_is_no_database_is_told(path):
    path.parent.mkdir()
    path.write_text("some notes of somebody else " * 100, encoding="utf-8")
    with pytest.raises(InputError, match=r"the memory .* cannot be written: file is not a database; choose another"):
        PreferenceStore(path)


@pytest.mark.parametrize(
    ("pragma", "words"),
    [
        ("user_version=9", r"is of version 9, and this llm-planner knows versions up to 1: install the newer one"),
        ("application_id=1", r"is not a memory but another program's database; choose another place"),
    ],
)
def test_a_memory_of_a_newer_version_or_another_program_is_left_alone(pragma, words, two, path):
    database = sqlite3.connect(path)
    database.execute(f"PRAGMA {pragma}")
    database.close()
    with pytest.raises(InputError, match=words):
        PreferenceStore(path)


@pytest.mark.parametrize("foreign", ["torn {", "[]", "{}", '{"operations": 5}', '{"operations": [{"kind": "fly"}]}'])
def test_a_lesson_that_cannot_be_read_is_left_out_told_of_and_kept(two, path, foreign):
    database = sqlite3.connect(path)
    with database:
        database.execute("UPDATE lesson SET lesson = ? WHERE id = 1", (foreign,))
    assert [lesson.id for lesson in two.lessons()] == [2]
    assert two.unreadable[1].startswith(f"lesson 1 of {path} cannot be read and is left out (")
    two.change(lambda lessons: Changes((SLOWER,)))
    assert database.execute("SELECT lesson FROM lesson WHERE id = 1").fetchone() == (foreign,)
    database.close()


def test_nobody_else_may_read_the_lessons(two, path):
    files = [path, path.with_name("memory.sqlite-wal"), path.with_name("memory.sqlite-shm")]
    assert [file.stat().st_mode & 0o777 for file in files] == [0o600] * 3

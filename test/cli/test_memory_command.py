"""`llm-planner memory`, with no node running."""

import json
import subprocess
import sys
from dataclasses import replace

import pytest

from llm_planner.cli.main import main
from llm_planner.corrections.edits import Adjust, Change
from llm_planner.corrections.preferences.learning import Changes
from llm_planner.corrections.preferences.memory import PreferenceStore
from llm_planner.corrections.preferences.preference import Occasion, Preference, Slots, State
from llm_planner.language.correction_requests import Scope

SLOWER = Preference(
    "always slower with mugs\x1b[31m",
    (Adjust("speed", Change.SCALE, 0.5),),
    Slots(kind="mug", user="Anna"),
    Slots("pick", "mug", "red"),
    Scope.ALWAYS,
    Occasion(1_700_000_000.0, "Anna"),
    state=State.LEARNED,
    uses=3,
    failures=1,
)
HIGHER = replace(SLOWER, operations=(Adjust("height", Change.SHIFT, 0.05),), slots=Slots(kind="vase"), words="higher")
ONCE = replace(SLOWER, scope=Scope.ONCE, state=State.PROPOSED, slots=Slots(kind="block"), words="slower")


@pytest.fixture
def path(tmp_path):
    """A memory of two lessons, and of what was told once."""
    store = PreferenceStore(tmp_path / "memory.sqlite")
    store.change(lambda lessons: Changes((SLOWER, HIGHER, ONCE)))
    store.close()
    return tmp_path / "memory.sqlite"


def ids(path):
    store = PreferenceStore(path)
    left = [lesson.id for lesson in store.lessons()]
    store.close()
    return left


@pytest.fixture
def memory(path, capsys):
    """A function that runs the command; its exit status and what it printed."""

    def run(*arguments):
        status = main(["memory", *arguments, "--memory", str(path)])
        shown = capsys.readouterr()
        return status, shown.out + shown.err

    return run


def test_what_was_learned_is_listed(memory):
    status, shown = memory()
    assert status == 0
    rows = [line.split() for line in shown.splitlines()[1:]]
    assert [(row[0], row[1], row[2]) for row in rows] == [("1", "3", "1"), ("2", "3", "1")]
    assert "slower with mugs" in shown
    assert "by Anna" in shown
    assert "blocks" not in shown


def test_what_is_not_used_is_listed_too_where_all_is_asked_for(memory):
    assert "slower with blocks" in memory("--all")[1]


def test_a_lesson_is_explained_without_what_a_terminal_would_act_on(memory):
    status, shown = memory("explain", "1")
    assert status == 0
    assert "1: slower with mugs\n" in shown
    assert "“always slower with mugs”" in shown
    assert "It holds: with mugs, always, when Anna commands" in shown


def test_all_is_exported_as_json(memory, tmp_path):
    values = json.loads(memory("export")[1])
    assert [lesson["id"] for lesson in values["lessons"]] == [1, 2, 3]
    assert values["lessons"][0]["operations"] == [
        {"op": "adjust", "quantity": "speed", "change": "scale", "value": 0.5, "step": ""}
    ]
    assert memory("export", str(tmp_path / "lessons.json"))[1].startswith("3 lessons: ")
    assert json.loads((tmp_path / "lessons.json").read_text(encoding="utf-8")) == values


@pytest.mark.parametrize(
    ("what", "left"), [(["1"], [2, 3]), (["slower", "with", "mugs"], [2, 3]), (["vases"], [1, 3]), (["--all"], [])]
)
def test_what_is_named_is_forgotten(what, left, memory, path):
    assert memory("forget", *what, "--yes")[0] == 0
    assert ids(path) == left


@pytest.mark.parametrize(("answer", "status", "left"), [("y\n", 0, [2, 3]), ("n\n", 1, [1, 2, 3]), ("", 1, [1, 2, 3])])
def test_it_asks_before_it_forgets(answer, status, left, path):
    command = [sys.executable, "-m", "llm_planner.cli.main", "memory", "forget", "1", "--memory", str(path)]
    done = subprocess.run(command, input=answer, capture_output=True, text=True, timeout=60, check=False)
    assert (done.returncode, ids(path)) == (status, left)
    assert done.stdout.startswith("1  slower with mugs\nForget it for good? [y/N] ")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["list", "mugs"], "`memory list` takes no 'mugs'; to see one lesson: llm-planner memory explain ID"),
        (["explain"], "`memory explain` takes the id of one lesson, not ''; see: llm-planner memory --all"),
        (["explain", "mugs"], "`memory explain` takes the id of one lesson, not 'mugs'"),
        (["explain", "7"], "there is no lesson 7 in "),
        (["export", "a.json", "b.json"], "`memory export` writes one file, not 2: a.json, b.json"),
        (["export", "lessons.txt"], "memory export writes a .json file, but lessons.txt does not end in .json"),
        (["forget"], "`memory forget` takes the id of a lesson, or words that name some, or --all"),
        (["forget", "1", "--all"], "`memory forget` takes the id of a lesson, or words that name some, or --all"),
        (["forget", "9"], "there is no lesson 9 in "),
        (["forget", "bowls"], "is about 'bowls'; see: llm-planner memory --all"),
    ],
)
def test_what_is_wrong_is_told_and_nothing_is_changed(arguments, words, memory, path):
    status, shown = memory(*arguments)
    assert status == 1
    assert words in shown
    assert ids(path) == [1, 2, 3]


def test_a_memory_that_is_not_there_is_told_and_not_made(tmp_path, capsys):
    assert main(["memory", "--memory", str(tmp_path / "none.sqlite")]) == 1
    assert "there is no memory " in capsys.readouterr().err
    assert not (tmp_path / "none.sqlite").exists()


def test_nothing_learned_yet_is_no_error(tmp_path):
    command = [sys.executable, "-m", "llm_planner.cli.main", "memory"]
    environment = {"ROS_HOME": str(tmp_path), "PYTHONPATH": ":".join(sys.path)}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=60, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("Nothing was learned yet (")


def test_an_empty_memory_says_so(memory):
    memory("forget", "--all", "--yes")
    assert memory()[1].startswith("Nothing is remembered in ")
    assert "is about 'anything'" in memory("forget", "--all", "--yes")[1]

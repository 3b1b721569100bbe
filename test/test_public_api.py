"""The public Python API: every name is there, documented, and loaded only when it is used."""

from __future__ import annotations

import inspect
import subprocess
import sys
from pathlib import Path

import pytest

import llm_planner

EXAMPLES = sorted((Path(__file__).parents[1] / "examples").glob("[01]*.py"))


@pytest.mark.parametrize("name", llm_planner.__all__)
def test_every_public_name_is_documented(name):
    if name in {"Client", "Script"}:  # needs ROS; an alias of a type
        return
    assert inspect.getdoc(getattr(llm_planner, name))


def test_an_unknown_name_is_refused_with_the_names_there_are():
    with pytest.raises(AttributeError, match="no public name 'Robots'; its names are: "):
        llm_planner.Robots  # noqa: B018


def test_importing_the_package_imports_nothing_slow():
    code = "import sys, llm_planner; print(sorted({'numpy', 'mujoco', 'torch', 'rclpy'} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True)
    assert done.stdout.strip() == "[]"


@pytest.mark.parametrize("example", [one for one in EXAMPLES if "ros" not in one.name], ids=lambda path: path.stem)
def test_every_example_runs(example):
    done = subprocess.run([sys.executable, str(example)], capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr
    assert not {"failed", "question", "refused"} & set(done.stdout.replace(":", " ").split()), done.stdout


@pytest.fixture
def session():
    with llm_planner.Session("tabletop", objects="red block, green bowl") as opened:
        yield opened


def test_a_session_runs_one_command_at_a_time(session):
    refused = []

    def again(state):
        with pytest.raises(llm_planner.InputError, match="runs a command already") as caught:
            session.run("pick up the red block")
        refused.append(caught)

    assert session.run("put the red block in the green bowl", on_change=again).outcome.value == "done"
    assert refused


def test_a_correction_gives_its_answer_and_needs_something_that_runs(session):
    with pytest.raises(llm_planner.InputError, match="nothing is running that 'slower' could correct"):
        session.correct("slower")
    answers = []

    def watch(state):
        if state.phase.value == "running" and not answers:
            answers.append(session.correct("slower"))

    session.run("put the red block in the green bowl", on_change=watch)
    assert "speed" in answers[0].result(timeout=0).message


def test_a_closed_session_says_so(session):
    session.close()
    with pytest.raises(llm_planner.InputError, match="this session is closed; open a new one"):
        session.run("pick up the red block")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"world": 3}, "world must be a name, a file or an open world, not 3"),
        ({"objects": ["red block"]}, "objects must be a text"),
        ({"seed": -1}, "seed must be a whole number from 0, not -1"),
    ],
)
def test_wrong_arguments_are_refused(arguments, message):
    with pytest.raises(llm_planner.InputError, match=message):
        llm_planner.Session(**arguments)


def test_a_monitor_keeps_no_set_of_its_caller():
    monitor, letter = llm_planner.Monitor(llm_planner.parse_ltl("G !a")), set()
    monitor.observe(letter, 0.0)
    letter.add("a")
    assert monitor.observe(letter, 1.0).lost
    with pytest.raises(llm_planner.InputError, match="a letter is a set of propositions"):
        monitor.observe("a", 2.0)
    with pytest.raises(llm_planner.InputError, match="give updates in order"):
        monitor.observe({"a"}, float("nan"))

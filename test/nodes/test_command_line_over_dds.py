"""`llm-planner say` and `stop` as a person runs them, against the running system."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

MAIN = [sys.executable, "-m", "llm_planner.cli.main"]


def llm_planner(system, *words: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, **system.environment}
    return subprocess.run([*MAIN, *words], env=environment, capture_output=True, text=True, timeout=90, check=False)


def test_say_follows_a_command_to_its_end(fresh):
    done = llm_planner(fresh, "say", "put the red block", "in the green bowl")
    assert (done.returncode, done.stderr) == (0, ""), done.stdout
    assert 'pick("red block")' in done.stdout
    assert "done" in done.stdout
    assert "The red block is in the green bowl." in done.stdout


def test_say_tells_a_question_and_does_not_claim_success(fresh):
    done = llm_planner(fresh, "say", "pick up the purple vase")
    assert done.returncode == 1
    assert "The robot asks: " in done.stdout
    assert "Traceback" not in done.stdout + done.stderr


def test_stop_stops_a_running_command(fresh):
    running = fresh.start("tour")
    done = llm_planner(fresh, "stop")
    assert (done.returncode, done.stdout) == (0, "Stopped.\n")
    assert not fresh.finish(running).succeeded


def test_stop_with_nothing_running_says_so(fresh):
    assert "Nothing to stop" in llm_planner(fresh, "stop").stdout


@pytest.mark.parametrize("words", [("say", "hello"), ("stop",)])
def test_without_a_running_system_one_paragraph_says_how_to_start_it(system, words):
    nobody = {"ROS_DOMAIN_ID": "101"}
    environment = {**os.environ, **nobody}
    done = subprocess.run([*MAIN, *words], env=environment, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 1
    assert "Start one with: llm-planner up" in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1

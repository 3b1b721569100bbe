"""`llm-planner say` and `stop` as a person runs them, against the running system."""

from __future__ import annotations

import os
import subprocess
import sys

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
    running = fresh.start("to and fro")
    done = llm_planner(fresh, "stop")
    assert (done.returncode, done.stdout) == (0, "Stopped.\n")
    assert not fresh.finish(running).succeeded


def test_stop_with_nothing_running_says_so(fresh):
    assert "Nothing to stop" in llm_planner(fresh, "stop").stdout


def test_without_a_running_system_one_paragraph_says_how_to_start_it(system):
    environment = {**os.environ, "ROS_DOMAIN_ID": "101"}  # where nobody is
    asked = [
        subprocess.Popen([*MAIN, *words], env=environment, stderr=subprocess.PIPE, text=True)
        for words in (("say", "hello"), ("stop",))
    ]
    for process in asked:
        _, told = process.communicate(timeout=60)
        assert process.returncode == 1
        assert "Start one with: llm-planner up" in told
        assert len(told.strip().splitlines()) == 1


def test_a_second_system_on_the_same_network_is_not_started(system):
    done = llm_planner(system, "up")
    assert done.returncode == 1
    assert "a node camera runs here already (process " in done.stderr
    assert "and two would both move the robot: end it first, or give this one a namespace of its own" in done.stderr

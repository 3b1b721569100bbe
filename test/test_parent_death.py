"""Commands that live no longer than their parent; that a child dies with it is shown in test/cli/test_processes.py."""

from __future__ import annotations

import os
import subprocess
import sys

from llm_planner.ros.processes import dies_with


def run(parent: int) -> subprocess.CompletedProcess[str]:
    command = dies_with(parent, [sys.executable, "-c", "print('here')"])
    return subprocess.run(command, capture_output=True, text=True, check=False)


def test_the_command_runs_as_it_is_while_its_parent_lives():
    done = run(os.getpid())
    assert (done.returncode, done.stdout, done.stderr) == (0, "here\n", "")


def test_nothing_runs_where_the_parent_had_died_before():
    done = run(os.getppid())  # which did not start it: so it looks to a child whose parent has died
    assert (done.returncode, done.stdout) == (1, "")
    assert f"is not started: the process {os.getppid()}, which wanted it, has ended" in done.stderr

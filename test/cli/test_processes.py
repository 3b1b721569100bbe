"""Child processes: ended together, started again when they die."""

from __future__ import annotations

import queue
import threading
from dataclasses import dataclass

import pytest

from llm_planner.cli.processes import NodeOptions, NodeProcesses


@dataclass(frozen=True)
class Program:
    """A row of the node table whose module ends at once, or goes on."""

    name: str
    module: str


ENDS = Program("ender", "this")  # prints and exits with 0
FAILS = Program("failer", "no_such_module")


def test_a_process_that_dies_is_started_again_and_that_is_said(tmp_path):
    notices: queue.SimpleQueue[str] = queue.SimpleQueue()
    with NodeProcesses([ENDS], NodeOptions(), tmp_path / "log") as processes:
        threading.Thread(target=processes.supervise, args=(notices.put,), daemon=True).start()
        first, second = notices.get(timeout=30), notices.get(timeout=30)
    assert first == "the node ender ended (exit status 0); starting it again in 0.5 s"
    assert second == "the node ender ended (exit status 0); starting it again in 1 s"


def test_a_process_that_dies_is_told_of_where_none_is_started_again(tmp_path):
    log = tmp_path / "log"
    with NodeProcesses([FAILS], NodeOptions(), log) as processes:
        told = processes.wait_for_death(timeout=30)
    assert told == ["the node failer ended (exit status 1)"]
    assert "No module named no_such_module" in log.read_text(encoding="utf-8")


def test_closing_ends_what_still_runs(tmp_path):
    lives = Program("server", "http.server")
    with NodeProcesses([lives], NodeOptions(), tmp_path / "log") as processes:
        process = processes.process("server")
    assert process.poll() is not None


@pytest.mark.parametrize("count", [1, 3])
def test_all_entries_are_started(count, tmp_path):
    entries = [Program(f"server{k}", "http.server") for k in range(count)]
    with NodeProcesses(entries, NodeOptions(), tmp_path / "log") as processes:
        assert len({processes.pid(entry.name) for entry in entries}) == count

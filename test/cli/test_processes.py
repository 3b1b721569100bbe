"""Child processes: ended together, started again when they die, and given up where they cannot start."""

from __future__ import annotations

import os
import queue
import select
import signal
import subprocess
import sys
import threading
from dataclasses import dataclass
from pathlib import Path

import pytest

from llm_planner.cli.processes import NodeOptions, NodeProcesses
from llm_planner.errors import InputError


@dataclass(frozen=True)
class Program:
    """A row of the node table whose function main ends at once, or goes on."""

    name: str
    module: str
    namespace = ""
    on_request: bool = False

    @property
    def label(self) -> str:
        return self.name


ENDS = Program("ender", "site")  # its function main returns at once
FAILS = Program("failer", "no_such_module")
LIVES = "import os, signal\nprint(os.getpid(), flush=True)\nsignal.pause()\n"
REFUSES = "from llm_planner.ros.processes import end_unstarted\nend_unstarted('the parameter rate is 0')\n"
SUPERVISOR = """
from test_processes import Program
from llm_planner.cli.processes import NodeOptions, NodeProcesses
with NodeProcesses([Program("liver", "lives")], NodeOptions()) as processes:
    processes.supervise(lambda text: None)
"""
TIMEOUT = 30.0  # [s]


@pytest.fixture
def modules(tmp_path: Path) -> dict[str, str]:
    """Environment in which the modules `lives` and `refuses` are found."""
    (tmp_path / "lives.py").write_text(LIVES, encoding="utf-8")
    (tmp_path / "refuses.py").write_text(REFUSES, encoding="utf-8")
    return {
        "PYTHONPATH": os.pathsep.join([str(tmp_path), str(Path(__file__).parent), os.environ.get("PYTHONPATH", "")])
    }


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
    assert "No module named 'no_such_module'" in log.read_text(encoding="utf-8")


def test_closing_ends_what_still_runs(modules, tmp_path):
    with NodeProcesses([Program("liver", "lives")], NodeOptions(), tmp_path / "log", modules) as processes:
        process = processes.process("liver")
        assert process.poll() is None
    assert process.poll() is not None


@pytest.mark.parametrize("count", [1, 3])
def test_all_entries_are_started(count, modules, tmp_path):
    entries = [Program(f"liver{k}", "lives") for k in range(count)]
    with NodeProcesses(entries, NodeOptions(), tmp_path / "log", modules) as processes:
        assert len({processes.pid(entry.name) for entry in entries}) == count


def has_ended(watched: int, within: float) -> bool:
    """Whether the process of the file descriptor `watched` ends in time [s]."""
    poll = select.poll()
    poll.register(watched, select.POLLIN)
    return bool(poll.poll(1000.0 * within))


def test_children_first_started_or_started_again_die_with_their_parent(modules):
    command = [sys.executable, "-c", SUPERVISOR]
    with subprocess.Popen(command, env={**os.environ, **modules}, stdout=subprocess.PIPE, text=True) as parent:
        os.kill(int(parent.stdout.readline()), signal.SIGKILL)
        again = os.pidfd_open(int(parent.stdout.readline()))
        assert not has_ended(again, within=0.0)
        parent.kill()
        assert has_ended(again, within=3.0)
        os.close(again)


def test_children_outlive_the_thread_that_had_them_started(modules, tmp_path):
    """To the kernel the parent is a thread."""
    log, started, seen = tmp_path / "log", queue.SimpleQueue[NodeProcesses](), threading.Event()
    os.mkfifo(log)

    def start() -> None:
        started.put(NodeProcesses([Program("liver", "lives")], NodeOptions(), log, modules))
        seen.wait()

    thread = threading.Thread(target=start)
    thread.start()
    with log.open(encoding="utf-8") as lines:
        child = os.pidfd_open(int(lines.readline()))  # it runs, and is bound to its parent
        seen.set()
        thread.join()
        with started.get():
            assert not has_ended(child, within=0.5)
        os.close(child)


def test_a_node_that_cannot_start_is_given_up_after_three_times_with_its_own_reason(modules, tmp_path):
    notices: list[str] = []
    match = "the node refuser could not start 3 times in a row"
    refuser = NodeProcesses([Program("refuser", "refuses")], NodeOptions(), tmp_path / "log", modules)
    with refuser as processes, pytest.raises(InputError, match=match) as raised:
        processes.supervise(notices.append)
    assert "It said: the parameter rate is 0. Mend that" in str(raised.value)
    assert notices[0] == "the node refuser ended (exit status 78): the parameter rate is 0; starting it again in 0.5 s"
    assert len(notices) == 2


def test_a_reason_is_told_where_no_node_is_started_again_too(modules, tmp_path):
    with NodeProcesses([Program("refuser", "refuses")], NodeOptions(), tmp_path / "log", modules) as processes:
        told = processes.wait_for_death(timeout=TIMEOUT)
    assert told == ["the node refuser ended (exit status 78): the parameter rate is 0"]


def test_a_node_on_request_that_cannot_start_is_given_up_and_the_others_go_on(modules, tmp_path):
    notices: queue.SimpleQueue[str] = queue.SimpleQueue()
    entries = [Program("refuser", "refuses", on_request=True), Program("liver", "lives")]
    with NodeProcesses(entries, NodeOptions(), tmp_path / "log", modules) as processes:
        threading.Thread(target=processes.supervise, args=(notices.put,), daemon=True).start()
        told = [notices.get(timeout=TIMEOUT) for _ in range(3)]
        assert told[-1].startswith("the node refuser could not start 3 times in a row; everything else goes on.")
        assert processes.process("liver").poll() is None
        assert processes.dead() == []

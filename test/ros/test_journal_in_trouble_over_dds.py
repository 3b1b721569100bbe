"""The whole system while nothing can be written into the journal: it moves, stops and says so, and nothing is lost."""

from __future__ import annotations

import os
import sqlite3
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest
from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus
from llm_planner_interfaces.action import ExecuteCommand
from llm_planner_interfaces.srv import StopRobot

from llm_planner.execution.journal import RecordKind, read_journal

STOP = 0.5  # [s]
PROGRAMS = """
put the red block in the green bowl: |
  pick("red block")
  place_in("green bowl")
wave: go_home()
"""
NODES = ("/plan_executor", "/language_planner")


@contextmanager
def small_disk(folder: Path) -> Iterator[Path]:
    folder.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", str(folder)], check=True)
    try:
        yield folder
    finally:
        subprocess.run(["umount", "-l", str(folder)], check=True)


@contextmanager
def folder_of_its_own(folder: Path) -> Iterator[Path]:
    yield folder


@contextmanager
def full(path: Path) -> Iterator[None]:
    filling = path.with_name("filling")
    with pytest.raises(OSError, match="No space left"):
        filling.write_bytes(b"x" * 2**21)
    yield
    filling.unlink()


@contextmanager
def locked(path: Path) -> Iterator[None]:
    with closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        yield
        other.execute("ROLLBACK")


ROOT = pytest.mark.skipif(os.geteuid() != 0, reason="only root can mount a small disk")
DISKS = [pytest.param(small_disk, full, id="full", marks=ROOT), pytest.param(folder_of_its_own, locked, id="locked")]


@pytest.mark.parametrize(("disk", "harmed"), DISKS)
def test_a_journal_that_cannot_be_written_stops_nothing_but_the_robot_when_it_is_told_to(
    tmp_path: Path, start_system: Callable, disk: Callable, harmed: Callable
) -> None:
    (tmp_path / "programs.yaml").write_text(PROGRAMS, encoding="utf-8")
    planner, levels = {"model": "scripted", "model_script": str(tmp_path / "programs.yaml")}, dict[str, bytes]()

    def on_diagnostics(message: DiagnosticArray) -> None:
        levels.update({status.name: (status.level, status.message) for status in message.status})

    def are(level: bytes, words: str) -> bool:
        return all(levels.get(node, (None, ""))[0] == level and words in levels[node][1] for node in NODES)

    with disk(tmp_path / "disk") as folder:
        path = folder / "journal.sqlite"
        with start_system(tmp_path, planner, journal_file=path) as system:
            stop = system.client.node.create_client(StopRobot, "stop")
            system.client.node.create_subscription(DiagnosticArray, "/diagnostics", on_diagnostics, 10)
            assert system.say("wave").succeeded
            with harmed(path):
                delays = []
                for told in (1, 0):  # the first of the answers tells of the journal
                    running, begun = system.start("put the red block in the green bowl"), time.monotonic()
                    answered = stop.call_async(StopRobot.Request(reason="test"))
                    system.wait(answered.done)
                    delays.append(time.monotonic() - begun)
                    result = system.finish(running)
                    assert result.code == ExecuteCommand.Result.STOPPED
                    assert result.message.count("cannot be written") == told
                assert min(delays) < STOP  # of a machine that may be busy with something else for a moment

                running = system.start("put the red block in the green bowl")
                begun, stopped = time.monotonic(), system.client.submit("stop")
                system.wait(lambda: running.is_done)
                assert time.monotonic() - begun < 2 * STOP  # the plan's end, and two nodes that tell of it
                system.finish(stopped)
                assert "journal" not in running.result.message

                left = system.say("go on")
                assert "what was done last is not known" in left.message
                assert system.say("wave").succeeded
                system.wait(lambda: are(DiagnosticStatus.WARN, "is kept in memory only"))
            system.wait(lambda: are(DiagnosticStatus.OK, ""))
            assert system.notices == []  # no node has died
            assert system.say("wave").succeeded
        records = read_journal(path)
    said = [(one.data["command"], one.command_id) for one in records if one.kind is RecordKind.COMMAND]
    red = "put the red block in the green bowl"
    assert [words for words, _ in said] == ["wave", red, red, red, "stop", "go on", "wave", "wave"]
    for words, name in said:
        kinds = [one.kind for one in records if one.command_id == name]
        assert kinds.count(RecordKind.OUTCOME) == (1 if words in ("stop", "go on") else 2)
        if words == red:
            ours = [one.data["status"] for one in records if one.command_id == name and one.kind is RecordKind.STEP]
            assert ours[0] == "running"


def test_a_system_starts_and_works_where_its_journal_is_another_file(tmp_path: Path, start_system: Callable) -> None:
    (tmp_path / "programs.yaml").write_text(PROGRAMS, encoding="utf-8")
    planner = {"model": "scripted", "model_script": str(tmp_path / "programs.yaml")}
    notes = tmp_path / "notes.txt"
    notes.write_text("buy milk " * 1000, encoding="utf-8")
    with start_system(tmp_path, planner, journal_file=notes) as system:
        first, second = system.say("wave"), system.say("wave")
        assert first.succeeded
        assert second.succeeded
        assert "file is not a database; choose another place" in first.message
        assert "journal" not in second.message
        assert system.notices == []
    assert notes.read_text(encoding="utf-8") == "buy milk " * 1000

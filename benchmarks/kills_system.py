"""`llm-planner up` as a person runs it, for the kill benchmark: its processes are found, killed, and looked for."""

from __future__ import annotations

import os
import select
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

from llm_planner.execution.journal import read_journal, unfinished
from llm_planner.ros.node_table import NODES_IN_SIMULATION

UP = "up"  # the supervisor of all nodes
NAMES = (*(entry.name for entry in NODES_IN_SIMULATION if entry.name != "camera"), UP)  # that may be killed


class RunningUp:
    """One `llm-planner up` at a time, with all its files in `folder`."""

    def __init__(self, folder: Path, programs: str, objects: str, seed: int, speed: float) -> None:
        self.journal, self.memory = (folder / "llm_planner" / f"{name}.sqlite" for name in ("journal", "memory"))
        self._log = folder / "up.log"
        script, parameters = folder / "programs.yaml", folder / "parameters.yaml"
        script.write_text(programs, encoding="utf-8")
        parameters.write_text(f"/**/simulator:\n  ros__parameters: {{real_time_factor: {speed}}}\n", encoding="utf-8")
        self._command = [
            sys.executable, "-m", "llm_planner.cli.main", "up", "--model", "scripted", "--model-script", str(script),
            "--objects", objects, "--seed", str(seed), "--params-file", str(parameters),
        ]  # fmt: skip
        self._environment = {**os.environ, "ROS_HOME": str(folder)}
        self._process = self._started()

    def _started(self) -> subprocess.Popen[bytes]:
        with self._log.open("ab") as log:
            return subprocess.Popen(
                self._command, env=self._environment, stdin=subprocess.DEVNULL, stdout=log, stderr=log
            )

    def start(self) -> None:
        """Run another one, after the last was killed."""
        self._process = self._started()

    @property
    def is_running(self) -> bool:
        """Whether it has not ended by itself."""
        return self._process.poll() is None

    def kill(self, name: str) -> None:
        """End a process of `NAMES` at once; where it is the supervisor, it is waited for."""
        if name == UP:
            self._process.kill()
            self._process.wait()
            return
        while name not in (pids := dict(self._nodes())):  # it is being started again
            time.sleep(0.01)
        os.kill(pids[name], signal.SIGKILL)

    def watched(self) -> Orphans:
        """The nodes that run now, to be seen ending."""
        return Orphans({name: os.pidfd_open(pid) for name, pid in self._nodes()})

    def left_unfinished(self) -> bool:
        """Whether the journal knows of a plan that was begun and has not ended."""
        return any(left.planned for left in unfinished(read_journal(self.journal)))

    def last_words(self, lines: int = 15) -> str:
        """The end of what was printed."""
        return "\n".join(self._log.read_text(encoding="utf-8", errors="replace").splitlines()[-lines:])

    def close(self) -> None:
        """End it; an interrupt it would ignore where this program runs in the background of a shell."""
        self._process.terminate()
        self._process.wait()

    def _nodes(self) -> Iterator[tuple[str, int]]:
        """Name and number of every node process."""
        for task in Path(f"/proc/{self._process.pid}/task").iterdir():
            for pid in (task / "children").read_text(encoding="ascii").split():
                words = Path(f"/proc/{pid}/cmdline").read_bytes().decode().split("\0")
                yield from ((entry.name, int(pid)) for entry in NODES_IN_SIMULATION if entry.module in words)


class Orphans:
    """Processes, by name and process file descriptor, whose parent was killed."""

    def __init__(self, processes: dict[str, int]) -> None:
        self._processes = processes

    def alive(self) -> list[str]:
        """Those that run still."""
        alive = []
        for name, process in self._processes.items():
            poll = select.poll()
            poll.register(process, select.POLLIN)
            if not poll.poll(0):
                alive.append(name)
        return alive

    def close(self) -> None:
        """Look at them no more."""
        for process in self._processes.values():
            os.close(process)

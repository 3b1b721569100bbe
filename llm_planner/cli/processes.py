"""The nodes as child processes: started together, started again when they die, and ended together."""

from __future__ import annotations

import os
import queue
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType

from llm_planner.nodes.node_table import NodeEntry

BACKOFF = (0.5, 1.0, 2.0, 4.0, 8.0)  # [s] before the first, second, ... start in a row of a node that dies
STABLE = 30.0  # [s] of life after which a death counts as the first again
GRACE = 3.0  # [s] for a node to end by itself

Say = Callable[[str], None]


def end_like_an_interrupt() -> None:
    """Being terminated, or losing the terminal, ends the nodes too, as Ctrl-C does; call it in the main thread."""
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.default_int_handler)


@dataclass(frozen=True)
class NodeOptions:
    """What all nodes are started with; `parameters` are by node name, as text."""

    parameters: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    params_file: Path | None = None
    namespace: str = ""
    use_sim_time: bool = False
    log_level: str = "info"


def command_line(entry: NodeEntry, options: NodeOptions) -> list[str]:
    """How the node is started."""
    words = [sys.executable, "-m", entry.module, "--ros-args", "--log-level", options.log_level]
    if options.namespace:
        words += ["-r", f"__ns:=/{options.namespace.strip('/')}"]
    if options.params_file is not None:
        words += ["--params-file", str(options.params_file)]
    if options.use_sim_time:
        words += ["-p", "use_sim_time:=true"]
    for name, value in options.parameters.get(entry.name, {}).items():
        words += ["-p", f"{name}:={value}"]
    return words


@dataclass
class _Child:
    entry: NodeEntry
    process: subprocess.Popen[bytes]
    started: float
    deaths: int = 0


class NodeProcesses:
    """Runs nodes until closed. `log` takes the children's own output, standard error where None."""

    def __init__(
        self,
        entries: Iterable[NodeEntry],
        options: NodeOptions,
        log: Path | None = None,
        environment: Mapping[str, str] | None = None,
    ) -> None:
        self._options = options
        self._environment = {"OMP_NUM_THREADS": "1", **os.environ, **(environment or {})}
        self._log = None if log is None else log.open("ab")
        self._deaths: queue.SimpleQueue[tuple[_Child, int]] = queue.SimpleQueue()
        self._closing = False
        self._children = {entry.name: self._start(entry) for entry in entries}

    def __enter__(self) -> NodeProcesses:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def process(self, name: str) -> subprocess.Popen[bytes]:
        """The present process of a node."""
        return self._children[name].process

    def pid(self, name: str) -> int:
        """Its number."""
        return self.process(name).pid

    def supervise(self, say: Say) -> None:
        """Start dead nodes again, until interrupted."""
        while True:
            child, status = self._deaths.get()
            self._revive(child, status, say)

    def dead(self) -> list[str]:
        """What to tell of nodes that have died since the last call; they stay dead."""
        told = []
        while not self._deaths.empty():
            told.append(_death(*self._deaths.get()))
        return told

    def wait_for_death(self, timeout: float) -> list[str]:
        """As `dead`, once there is one; raises queue.Empty after `timeout` [s]."""
        return [_death(*self._deaths.get(timeout=timeout)), *self.dead()]

    def close(self) -> None:
        """End all nodes, by force where asking does not help."""
        self._closing = True
        for child in self._children.values():
            if child.process.poll() is None:
                child.process.send_signal(signal.SIGINT)
        deadline = time.monotonic() + GRACE
        for child in self._children.values():
            try:
                child.process.wait(max(0.0, deadline - time.monotonic()))
            except subprocess.TimeoutExpired:
                child.process.kill()
                child.process.wait()
        if self._log is not None:
            self._log.close()

    def _start(self, entry: NodeEntry, deaths: int = 0) -> _Child:
        process = subprocess.Popen(
            command_line(entry, self._options),
            env=self._environment,
            stdin=subprocess.DEVNULL,
            stdout=self._log,
            stderr=self._log,
            start_new_session=True,  # an interrupt at the terminal reaches us, and we end them in order
        )
        child = _Child(entry, process, time.monotonic(), deaths)
        threading.Thread(target=self._wait, args=(child,), daemon=True).start()
        return child

    def _wait(self, child: _Child) -> None:
        status = child.process.wait()
        if not self._closing:
            self._deaths.put((child, status))

    def _revive(self, child: _Child, status: int, say: Say) -> None:
        lived = time.monotonic() - child.started
        deaths = 1 if lived > STABLE else child.deaths + 1
        pause = BACKOFF[min(deaths, len(BACKOFF)) - 1]
        say(f"{_death(child, status)}; starting it again in {pause:g} s")
        timer = threading.Timer(pause, self._restart, (child.entry, deaths))
        timer.daemon = True
        timer.start()

    def _restart(self, entry: NodeEntry, deaths: int) -> None:
        if not self._closing:
            self._children[entry.name] = self._start(entry, deaths)


def _death(child: _Child, status: int) -> str:
    how = f"exit status {status}" if status >= 0 else f"by {signal.Signals(-status).name}"
    return f"the node {child.entry.name} ended ({how})"

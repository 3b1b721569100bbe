"""Nodes as child processes that start, restart and end together, and the choice of a free ROS domain for them.

The children end with this process, even when it is killed.
"""

from __future__ import annotations

import os
import queue
import random
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType

from llm_planner.errors import InputError, LlmPlannerError
from llm_planner.ros.node_table import NodeEntry, enclave
from llm_planner.ros.processes import REASON_PIPE, RestartLimit, dies_with, read_reason

BACKOFF = (0.5, 1.0, 2.0, 4.0, 8.0)  # [s] before the first, second, ... restart in a row
GRACE = 3.0  # [s] for a node to end after SIGTERM

Say = Callable[[str], None]


def end_like_an_interrupt() -> None:
    """Let SIGTERM and SIGHUP raise KeyboardInterrupt, so that the nodes end too; call it in the main thread."""
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.default_int_handler)


@dataclass(frozen=True)
class NodeOptions:
    """Start options of all nodes; `parameters` maps name or label of a node to parameter name to value as text."""

    parameters: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    params_file: Path | None = None
    namespace: str = ""
    use_sim_time: bool = False
    log_level: str = "info"

    def namespace_of(self, entry: NodeEntry) -> str:
        """Return the namespace of a node, without slashes around it."""
        return "/".join(filter(None, (self.namespace.strip("/"), entry.namespace)))


def command_line(entry: NodeEntry, options: NodeOptions) -> list[str]:
    """Return the command line that starts a node."""
    namespace = options.namespace_of(entry)
    names = ["-r", f"__ns:=/{namespace}"] if namespace else []
    return [sys.executable, "-m", entry.module, *ros_arguments(entry, options), *names]


def ros_arguments(entry: NodeEntry, options: NodeOptions) -> list[str]:
    """Return the arguments of a node from `--ros-args` on, without its name and namespace."""
    words = ["--ros-args", "--log-level", options.log_level, "--enclave"]
    words.append(enclave(options.namespace_of(entry), entry.name))
    if options.params_file is not None:
        words += ["--params-file", str(options.params_file)]
    if options.use_sim_time:
        words += ["-p", "use_sim_time:=true"]
    given = {**options.parameters.get(entry.name, {}), **options.parameters.get(entry.label, {})}
    for name, value in given.items():
        words += ["-p", f"{name}:={value}"]
    return words


@dataclass(frozen=True)
class _Child:
    entry: NodeEntry
    process: subprocess.Popen[bytes]
    reason: int  # read end of the pipe for the reason why it cannot start
    limit: RestartLimit  # of this node, also of its earlier processes


@dataclass(frozen=True)
class _Death:
    child: _Child
    status: int
    reason: str  # why it could not start; "" if not given

    def __str__(self) -> str:
        how = f"exit status {self.status}" if self.status >= 0 else f"by {signal.Signals(-self.status).name}"
        return f"the node {self.child.entry.label} ended ({how}){self.reason and f': {self.reason}'}"


class NodeProcesses:
    """Runs nodes until closed; `log` receives their output (None: standard error)."""

    def __init__(
        self,
        entries: Iterable[NodeEntry],
        options: NodeOptions,
        log: Path | None = None,
        environment: Mapping[str, str] | None = None,
    ) -> None:
        self._options = options
        # MUJOCO_GL keeps each process from searching for a display when it imports MuJoCo.
        own = {"OMP_NUM_THREADS": "1", "MUJOCO_GL": "disable"}
        self._environment = {**own, **os.environ, **(environment or {})}
        self._log = None if log is None else log.open("ab")
        self._deaths: queue.SimpleQueue[_Death] = queue.SimpleQueue()
        self._due: list[tuple[float, _Child]] = []  # time of restart [s, monotonic], and the dead child
        self._closing, self._lock = False, threading.Lock()
        self._starter = ThreadPoolExecutor(
            1
        )  # one lasting thread, since the kernel ends a child with the thread that started it
        self._children = {entry.label: self._start(entry, RestartLimit()) for entry in entries}

    def __enter__(self) -> NodeProcesses:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def process(self, name: str) -> subprocess.Popen[bytes]:
        """Return the newest process of a node, by its label."""
        return self._children[name].process

    def pid(self, name: str) -> int:
        """Return the process id of a node."""
        return self.process(name).pid

    def supervise(self, say: Say) -> None:
        """Restart dead nodes until interrupted or closed; `say` receives a sentence about each death.

        Raises:
            InputError: A node ended too often (`RestartLimit`); the message gives the reason.
        """
        while not self._closing:
            self._start_what_is_due()
            until = min((at for at, _ in self._due), default=float("inf")) - time.monotonic()
            with suppress(queue.Empty):
                self._revive(self._deaths.get(timeout=min(max(until, 0.0), 1.0)), say)

    def dead(self) -> list[str]:
        """Describe the nodes that have died since the last call, one sentence each; does not restart them.

        Those that run on request do not count.
        """
        deaths = []
        while not self._deaths.empty():
            deaths.append(self._deaths.get())
        return [str(death) for death in deaths if not death.child.entry.on_request]

    def wait_for_death(self, timeout: float) -> list[str]:
        """Wait for a death and return as `dead`; raise queue.Empty after `timeout` [s]."""
        return [str(self._deaths.get(timeout=timeout)), *self.dead()]

    def close(self) -> None:
        """End all nodes, with SIGKILL after `GRACE`."""
        with self._lock:
            self._closing = True
        for child in self._children.values():
            if child.process.poll() is None:
                child.process.terminate()  # SIGINT would print a traceback while it still imports
        deadline = time.monotonic() + GRACE
        for child in self._children.values():
            try:
                child.process.wait(max(0.0, deadline - time.monotonic()))
            except subprocess.TimeoutExpired:
                child.process.kill()
                child.process.wait()
        self._starter.shutdown()
        if self._log is not None:
            self._log.close()

    def _start(self, entry: NodeEntry, limit: RestartLimit) -> _Child:
        reason, writing = os.pipe()
        try:
            process = self._starter.submit(
                subprocess.Popen,
                dies_with(os.getpid(), command_line(entry, self._options)),
                env={**self._environment, REASON_PIPE: str(writing)},
                pass_fds=(writing,),
                stdin=subprocess.DEVNULL,
                stdout=self._log,
                stderr=self._log,
                start_new_session=True,  # Ctrl-C reaches this process only, which ends the nodes in order
            ).result()
        finally:
            os.close(writing)
        child = _Child(entry, process, reason, limit)
        threading.Thread(target=self._wait, args=(child,), daemon=True).start()
        return child

    def _wait(self, child: _Child) -> None:
        status = child.process.wait()
        reason = read_reason(child.reason)
        if not self._closing:
            self._deaths.put(_Death(child, status, reason))

    def _revive(self, death: _Death, say: Say) -> None:
        child = death.child
        given_up = child.limit.ended(death.status, time.monotonic())
        if given_up and child.entry.on_request:
            said = f" It said: {death.reason}" if death.reason else ""
            say(f"the node {child.entry.label} {given_up}; everything else goes on.{said}")
            return
        if given_up:
            raise InputError(
                f"the node {child.entry.label} {given_up}, so everything was ended. "
                f"It said: {death.reason or 'nothing; look at its last lines'}. Mend that and start again"
            )
        pause = BACKOFF[min(child.limit.deaths, len(BACKOFF)) - 1]
        say(f"{death}; starting it again in {pause:g} s")
        self._due.append((time.monotonic() + pause, child))

    def _start_what_is_due(self) -> None:
        now = time.monotonic()
        due, self._due = [one for at, one in self._due if at <= now], [two for two in self._due if two[0] > now]
        for dead in due:
            with self._lock:
                if not self._closing:
                    self._children[dead.entry.label] = self._start(dead.entry, dead.limit)


DOMAINS = range(1, 101)  # higher ones overlap with Linux's ephemeral ports
PARTICIPANTS = 16  # whose ports are checked


class NoFreeDomainError(LlmPlannerError):
    """Every ROS domain of this machine is in use."""


def domain_ports(domain: int) -> list[int]:
    """Return the UDP ports of a domain: multicast discovery, then discovery and data of the first participants.

    The numbers follow DDSI-RTPS 2.5, section 9.6.2.3.
    """
    base = 7400 + 250 * domain
    return [base, *(base + 10 + k for k in range(2 * PARTICIPANTS))]


def is_free(domain: int) -> bool:
    """Return whether no process on this machine uses the ports of `domain`."""
    for port in domain_ports(domain):
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as trial:
            try:
                trial.bind(("", port))
            except OSError:
                return False
    return True


def own_network(rng: random.Random) -> dict[str, str]:
    """Return environment variables for a free ROS domain on this machine only.

    SROS 2 is off there, since permissions apply to the robot's domain.

    Args:
        rng: Draws the order in which domains are tried.

    Raises:
        NoFreeDomainError: All domains are in use.
    """
    for domain in rng.sample(DOMAINS, len(DOMAINS)):
        if is_free(domain):
            return {
                "ROS_DOMAIN_ID": str(domain),
                "ROS_AUTOMATIC_DISCOVERY_RANGE": "LOCALHOST",
                "ROS_SECURITY_ENABLE": "false",
            }
    raise NoFreeDomainError(
        f"all ROS domains from {DOMAINS[0]} to {DOMAINS[-1]} are in use here; end some ROS processes and try again"
    )


def join_own_network() -> None:
    """Put this process and its future children into a free domain."""
    os.environ.update(own_network(random.Random()))

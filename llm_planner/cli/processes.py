"""Nodes as child processes that start, restart and end together, and the choice of a free ROS domain for them.

The children end with this process, even when it is killed.
"""

from __future__ import annotations

import ctypes
import multiprocessing
import os
import queue
import random
import signal
import socket
import sys
import threading
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import Future
from contextlib import suppress
from dataclasses import dataclass, field
from importlib import import_module
from multiprocessing import forkserver
from multiprocessing.connection import Connection
from pathlib import Path
from types import TracebackType

from llm_planner.errors import InputError, LlmPlannerError
from llm_planner.ros.node_table import NodeEntry, enclave
from llm_planner.ros.processes import NODE_ENVIRONMENT, REASON_PIPE, RestartLimit, die_with_parent, read_reason
from llm_planner.ros.transport import socket_transport

PRELOADED = ["llm_planner.ros.preloaded"]
PR_SET_NAME = 15  # of <linux/prctl.h>
BACKOFF = (0.5, 1.0, 2.0, 4.0, 8.0)  # [s] before the first, second, ... restart in a row
GRACE = 3.0  # [s] for a node to end after SIGTERM

Say = Callable[[str], None]


def begin_imports() -> None:
    """Start the process from which nodes are forked; its imports take a second, while this process does other work."""
    multiprocessing.get_context("forkserver").set_forkserver_preload(PRELOADED)
    forkserver.ensure_running()


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


def node_arguments(entry: NodeEntry, options: NodeOptions) -> list[str]:
    """Return the arguments of a node, with its namespace."""
    namespace = options.namespace_of(entry)
    names = ["-r", f"__ns:=/{namespace}"] if namespace else []
    return [*ros_arguments(entry, options), *names]


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


class NodeProcess:
    """Process of a node, forked from one that has imported what all nodes need (`ros.preloaded`).

    The processes of nodes share the time and the memory that these imports take. They die with this process.
    """

    def __init__(
        self, entry: NodeEntry, arguments: Sequence[str], environment: Mapping[str, str], log: Path | None
    ) -> None:
        """Call `main` of the node's module; its output goes to `log`, or to that of this process."""
        begin_imports()
        context = multiprocessing.get_context("forkserver")
        reason, writing = context.Pipe(duplex=False)
        about = (entry.name, entry.module, arguments, environment, log and str(log), writing)
        process = context.Process(target=_run_node, args=about, name=entry.label, daemon=True)
        process.start()
        writing.close()
        self.pid, self.ended = process.pid or 0, Future[tuple[int, str]]()  # exit status, reason
        threading.Thread(target=self._wait, args=(process, reason), daemon=True).start()

    def _wait(self, process: multiprocessing.process.BaseProcess, reason: Connection) -> None:
        process.join()
        self.ended.set_result((process.exitcode or 0, read_reason(os.dup(reason.fileno()))))
        reason.close()

    def wait(self, timeout: float | None = None) -> tuple[int, str]:
        """Return the exit status, and why the node could not start, "" if it does not say; raise TimeoutError."""
        return self.ended.result(timeout)

    def poll(self) -> int | None:
        """Return the exit status, None while the node runs."""
        return self.wait()[0] if self.ended.done() else None

    def send_signal(self, number: signal.Signals) -> None:
        if not self.ended.done():
            with suppress(ProcessLookupError):
                os.kill(self.pid, number)


def _run_node(
    name: str,
    module: str,
    arguments: Sequence[str],
    environment: Mapping[str, str],
    log: str | None,
    reason: Connection,
) -> None:
    """Become a node, in a process that was just forked."""
    from llm_planner.ros.preloaded import SERVER

    os.setsid()  # Ctrl-C reaches the process that started the nodes only, which ends them in order
    die_with_parent(SERVER, name)
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(PR_SET_NAME, name.encode(), 0, 0, 0)
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_DFL)
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    if log is not None:
        output = os.open(log, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
        os.dup2(output, 1)
        os.dup2(output, 2)
    pipe = reason.fileno()
    os.closerange(3, pipe)  # among them that by which the fork server knows that it is needed
    os.closerange(pipe + 1, 1024)
    here, environment = dict(os.environ), {**environment, REASON_PIPE: str(pipe)}
    if any(here.get(key) != environment.get(key) for key in {*here, *environment} if key.startswith(("PYTHON", "LD_"))):
        os.set_inheritable(pipe, True)  # Python reads these when it starts
        os.execve(sys.executable, [sys.executable, "-m", module, *arguments], environment)
    os.environ.clear()
    os.environ.update(environment)
    sys.argv = [name, *arguments]
    import_module(module).main()


@dataclass(frozen=True)
class _Child:
    entry: NodeEntry
    process: NodeProcess
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
        self._environment, self._log = {**NODE_ENVIRONMENT, **os.environ, **(environment or {})}, log
        if log is not None:
            log.touch()  # raises here where it cannot be written
        self._deaths: queue.SimpleQueue[_Death] = queue.SimpleQueue()
        self._due: list[tuple[float, _Child]] = []  # time of restart [s, monotonic], and the dead child
        self._closing, self._lock = False, threading.Lock()
        self._children = {entry.label: self._start(entry, RestartLimit()) for entry in entries}

    def __enter__(self) -> NodeProcesses:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def process(self, name: str) -> NodeProcess:
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

    def check_alive(self, what: str) -> None:
        """Raise InputError that says why `what` ends, if a node has died since the last call."""
        if dead := self.dead():
            raise InputError(f"{what} ends, because {'; '.join(dead)}. What the nodes printed is in {self._log}")

    def wait_for_death(self, timeout: float) -> list[str]:
        """Wait for a death and return as `dead`; raise queue.Empty after `timeout` [s]."""
        return [str(self._deaths.get(timeout=timeout)), *self.dead()]

    def close(self) -> None:
        """End all nodes, with SIGKILL after `GRACE`."""
        with self._lock:
            self._closing = True
        for child in self._children.values():
            child.process.send_signal(signal.SIGTERM)  # SIGINT would print a traceback while it still imports
        deadline = time.monotonic() + GRACE
        for child in self._children.values():
            try:
                child.process.wait(max(0.0, deadline - time.monotonic()))
            except TimeoutError:
                child.process.send_signal(signal.SIGKILL)
                child.process.wait()

    def _start(self, entry: NodeEntry, limit: RestartLimit) -> _Child:
        process = NodeProcess(entry, node_arguments(entry, self._options), self._environment, self._log)
        child = _Child(entry, process, limit)
        process.ended.add_done_callback(lambda ended: self._on_end(child, *ended.result()))
        return child

    def _on_end(self, child: _Child, status: int, reason: str) -> None:
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
            local = {**os.environ, "ROS_AUTOMATIC_DISCOVERY_RANGE": "LOCALHOST"}
            return {
                "ROS_DOMAIN_ID": str(domain),
                "ROS_AUTOMATIC_DISCOVERY_RANGE": "LOCALHOST",
                "ROS_SECURITY_ENABLE": "false",
                **socket_transport(local),
            }
    raise NoFreeDomainError(
        f"all ROS domains from {DOMAINS[0]} to {DOMAINS[-1]} are in use here; end some ROS processes and try again"
    )


def join_own_network() -> None:
    """Put this process and its future children into a free domain."""
    os.environ.update(own_network(random.Random()))

"""Work over cores and machines: the same function and jobs on processes of this machine or on a Ray cluster.

A pool of processes of this machine.

A pool of the cores of every machine of a Ray cluster. Each of them needs llm_planner installed.
"""

from __future__ import annotations

import logging
import multiprocessing
import os
import pickle
import signal
import socket
import traceback
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from multiprocessing.connection import Connection, wait
from types import ModuleType
from typing import Any, Generic, Protocol, TypeVar

from llm_planner.errors import InputError, LlmPlannerError

Job = TypeVar("Job")
Result = TypeVar("Result")

TRIES = 2  # a job whose worker dies is given to another worker, once


class JobError(LlmPlannerError):
    """A job of a pool raised, or lost its workers; the message names the job, with its seed, and the error."""


class Pool(Protocol):
    """Where work is done."""

    def results(self, function: Callable[[Job], Result], jobs: Iterable[Job]) -> Iterator[tuple[int, Result]]:
        """`function(job)` for each of `jobs`, with the job's position, in the order in which they are done.

        Function, jobs and results are pickled; a job has one thread. Raises JobError as soon as a job raises or has
        lost `TRIES` workers. Then, and when the iterator is closed, whatever is not done yet is given up.
        """
        ...


@dataclass(frozen=True)
class Outcome(Generic[Result]):
    """What a worker sends back: the result, or in `error` what went wrong and in `trace` where."""

    result: Result | None = None
    error: str = ""
    trace: str = ""


def attempt(function: Callable[[Job], Result], job: Job) -> Outcome[Result]:
    """The job done by a worker, whose errors are to reach the one who asked."""
    try:
        return Outcome(function(job))
    except LlmPlannerError as error:
        return Outcome(error=str(error), trace=traceback.format_exc())
    except Exception as error:
        return Outcome(error=f"{type(error).__name__}: {error}", trace=traceback.format_exc())


def result_of(outcome: Outcome[Result], position: int, job: Job) -> Result:
    """Raises JobError where there is none."""
    if outcome.error:
        raise JobError(f"{outcome.error} (in {named(position, job)})") from RuntimeError(outcome.trace)
    return outcome.result  # type: ignore[return-value]  # None where the function returns None


def named(position: int, job: object) -> str:
    """Jobs are values whose text has their seed in it."""
    text = repr(job)
    return f"job {position} ({text if len(text) <= 200 else text[:200] + '…'})"


_THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")


@dataclass(frozen=True)
class LocalPool:
    """`processes` of this machine, started for the work and ended with it, also by Ctrl-C."""

    processes: int

    def __post_init__(self) -> None:
        if self.processes < 1:
            raise InputError(f"the number of processes must be at least 1, not {self.processes}")

    def results(self, function: Callable[[Job], Result], jobs: Iterable[Job]) -> Iterator[tuple[int, Result]]:
        """See `Pool`."""
        waiting = deque(_Task(position, job) for position, job in enumerate(jobs))
        idle: list[_Worker] = []
        busy: dict[Any, tuple[_Worker, _Task]] = {}
        try:
            while waiting or busy:
                while waiting and len(busy) < self.processes:
                    worker = idle.pop() if idle else _Worker()
                    task = waiting.popleft()
                    busy[worker.connection] = worker, task
                    worker.give(function, task.job)
                for connection in wait(list(busy)):
                    worker, task = busy.pop(connection)
                    try:
                        outcome = worker.outcome()
                    except (EOFError, OSError):
                        waiting.appendleft(task.again(worker.end()))
                        continue
                    idle.append(worker)
                    yield task.position, pickle.loads(result_of(outcome, task.position, task.job))
        finally:
            for worker in (*idle, *(worker for worker, _ in busy.values())):
                worker.end()


@dataclass(frozen=True)
class _Task:
    position: int
    job: Any
    tries: int = TRIES

    def again(self, exit_code: int | None) -> _Task:
        """The same after a worker died of it; raises JobError when that was the last try."""
        if self.tries == 1:
            raise JobError(
                f"{named(self.position, self.job)} lost {TRIES} workers, the last with exit code {exit_code}; "
                "if memory ran out, work with fewer processes"
            )
        return _Task(self.position, self.job, self.tries - 1)


class _Worker:
    """A process, and the end of the pipe to it."""

    def __init__(self) -> None:
        context = multiprocessing.get_context("spawn")
        self.connection, theirs = context.Pipe()
        self._process = context.Process(target=_serve, args=(theirs,), daemon=True)
        with _one_thread_each():
            self._process.start()
        theirs.close()  # so that this end reads the end of the file when the process dies

    def give(self, function: Callable[[Job], Result], job: Job) -> None:
        message = pickle.dumps((function, job))
        with suppress(BrokenPipeError):  # a dead process is noticed when its outcome is read
            self.connection.send_bytes(message)

    def outcome(self) -> Outcome[bytes]:
        """Raises EOFError when the process has died."""
        outcome: Outcome[bytes] = self.connection.recv()
        return outcome

    def end(self) -> int | None:
        """End the process at once; its exit code, which is minus the signal that killed it."""
        self._process.terminate()
        self._process.join()
        self.connection.close()
        return self._process.exitcode


def _serve(connection: Connection) -> None:
    """Do jobs until the other end is closed. Ctrl-C is for the one who hands them out."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    with suppress(EOFError, OSError):
        while True:
            connection.send(attempt(_pickled, connection.recv_bytes()))


def _pickled(message: bytes) -> bytes:
    """Here, so that what cannot be pickled, either way, is an error of the job."""
    function, job = pickle.loads(message)
    return pickle.dumps(function(job))


@contextmanager
def _one_thread_each() -> Iterator[None]:
    """What a process started inside inherits; numpy and torch read it when they are imported."""
    before = {name: os.environ.get(name) for name in _THREADS}
    os.environ.update(dict.fromkeys(_THREADS, "1"))
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value


@dataclass(frozen=True)
class RayPool:
    """The cluster whose head is at `address` ("10.0.0.5:6379"), or the one of this machine ("auto")."""

    address: str

    def results(self, function: Callable[[Job], Result], jobs: Iterable[Job]) -> Iterator[tuple[int, Result]]:
        """See `Pool`. Raises InputError when ray is not installed or no cluster answers."""
        with _connected(self.address) as ray:
            remote = ray.remote(num_cpus=1, max_retries=TRIES - 1)(attempt)
            tasks = {remote.remote(function, job): (position, job) for position, job in enumerate(jobs)}
            while tasks:
                (done,), _ = ray.wait(list(tasks), num_returns=1)
                position, job = tasks.pop(done)
                try:
                    outcome = ray.get(done)
                except ray.exceptions.RayError as error:
                    reason = str(error).strip().splitlines()[0]
                    raise JobError(
                        f"{named(position, job)} came back from no node of {self.address}: {reason}"
                    ) from error
                yield position, result_of(outcome, position, job)


@contextmanager
def _connected(address: str) -> Iterator[ModuleType]:
    """ray, connected; what is not done at the end is given up by the cluster."""
    try:
        import ray
    except ImportError as error:
        raise InputError(
            "work on a Ray cluster needs ray, which is not installed; pip install 'llm_planner[ray]'"
        ) from error
    try:
        _knock(address)
        ray.init(address, log_to_driver=False, logging_level=logging.ERROR)
    except (OSError, RuntimeError, ValueError) as error:
        raise InputError(
            f"no Ray cluster can be used at {address!r}: {str(error).strip()}. Start one with: ray start --head, "
            "and on every other machine: ray start --address=HEAD:6379"
        ) from error
    try:
        yield ray
    finally:
        ray.shutdown()


def _knock(address: str) -> None:
    """Raise OSError where nobody listens, which ray itself takes minutes to say."""
    host, _, port = address.removeprefix("ray://").rpartition(":")
    if host and port.isdigit():
        socket.create_connection((host, int(port)), timeout=10.0).close()

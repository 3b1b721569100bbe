"""Worker pools that apply a function to jobs, on processes of this machine or on a Ray cluster.

Every machine of a Ray cluster needs llm_planner installed.
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

TRIES = 2  # attempts per job; a job whose worker dies is retried once


class JobError(LlmPlannerError):
    """Failure of a job or its workers; the message names the job with its seed, and the error."""


class Pool(Protocol):
    """Pool of workers."""

    def results(self, function: Callable[[Job], Result], jobs: Iterable[Job]) -> Iterator[tuple[int, Result]]:
        """Apply `function` to the jobs, one thread per job; function, jobs and results are pickled.

        Args:
            function: Function of a job.
            jobs: Jobs to run.

        Yields:
            The job's position and its result, in the order of completion.

        Raises:
            JobError: A job raised or lost `TRIES` workers. Unfinished jobs are abandoned, also when the iterator is
                closed.
        """
        ...


@dataclass(frozen=True)
class Outcome(Generic[Result]):
    """Response of a worker: the result, or `error` with its traceback in `trace`."""

    result: Result | None = None
    error: str = ""
    trace: str = ""


def attempt(function: Callable[[Job], Result], job: Job) -> Outcome[Result]:
    """Run a job in a worker and capture its errors."""
    try:
        return Outcome(function(job))
    except LlmPlannerError as error:
        return Outcome(error=str(error), trace=traceback.format_exc())
    except Exception as error:
        return Outcome(error=f"{type(error).__name__}: {error}", trace=traceback.format_exc())


def result_of(outcome: Outcome[Result], position: int, job: Job) -> Result:
    """Return the result of an outcome; raise JobError if the job failed."""
    if outcome.error:
        raise JobError(f"{outcome.error} (in {named(position, job)})") from RuntimeError(outcome.trace)
    return outcome.result  # type: ignore[return-value]  # None if the function returns None


def named(position: int, job: object) -> str:
    """Describe a job by its position and repr, which contains its seed."""
    text = repr(job)
    return f"job {position} ({text if len(text) <= 200 else text[:200] + '…'})"


_THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")


@dataclass(frozen=True)
class LocalPool:
    """Pool of `processes` on this machine, started for the work and ended with it, also on Ctrl-C."""

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
        """Return the task for another attempt; raise JobError if none is left."""
        if self.tries == 1:
            raise JobError(
                f"{named(self.position, self.job)} lost {TRIES} workers, the last with exit code {exit_code}; "
                "if memory ran out, work with fewer processes"
            )
        return _Task(self.position, self.job, self.tries - 1)


class _Worker:
    """Worker process and the local end of its pipe."""

    def __init__(self) -> None:
        context = multiprocessing.get_context("spawn")
        self.connection, theirs = context.Pipe()
        self._process = context.Process(target=_serve, args=(theirs,), daemon=True)
        with _one_thread_each():
            self._process.start()
        theirs.close()  # so that this end reads EOF when the process dies

    def give(self, function: Callable[[Job], Result], job: Job) -> None:
        message = pickle.dumps((function, job))
        with suppress(BrokenPipeError):  # reading the outcome detects a dead process
            self.connection.send_bytes(message)

    def outcome(self) -> Outcome[bytes]:
        """Receive an outcome; raise EOFError if the process has died."""
        outcome: Outcome[bytes] = self.connection.recv()
        return outcome

    def end(self) -> int | None:
        """Terminate the process and return its exit code (minus the signal that killed it)."""
        self._process.terminate()
        self._process.join()
        self.connection.close()
        return self._process.exitcode


def _serve(connection: Connection) -> None:
    """Run jobs until the pipe closes; the parent process handles Ctrl-C."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    with suppress(EOFError, OSError):
        while True:
            connection.send(attempt(_pickled, connection.recv_bytes()))


def _pickled(message: bytes) -> bytes:
    """Run a pickled job in the worker, so that pickling errors count as errors of the job."""
    function, job = pickle.loads(message)
    return pickle.dumps(function(job))


@contextmanager
def _one_thread_each() -> Iterator[None]:
    """Limit numpy and torch to one thread in processes started inside; they read the variables on import."""
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
    """Pool of all cores of a Ray cluster, at the head's address ("10.0.0.5:6379") or on this machine ("auto")."""

    address: str

    def results(self, function: Callable[[Job], Result], jobs: Iterable[Job]) -> Iterator[tuple[int, Result]]:
        """See `Pool`; also raise InputError if ray is not installed or the cluster does not respond."""
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
    """Connect to a Ray cluster; on exit the cluster abandons unfinished tasks."""
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
    """Raise OSError if the port is closed, which ray itself reports only after minutes."""
    host, _, port = address.removeprefix("ray://").rpartition(":")
    if host and port.isdigit():
        socket.create_connection((host, int(port)), timeout=10.0).close()

"""A pool of processes of this machine."""

from __future__ import annotations

import multiprocessing
import os
import pickle
import signal
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from multiprocessing.connection import Connection, wait
from typing import Any

from llm_planner.errors import InputError
from llm_planner.skills.learning.pool import TRIES, Job, JobError, Outcome, Result, attempt, named, result_of

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

"""Worker pools that apply a function to jobs, on processes of this machine or on a Ray cluster.

Every machine of a Ray cluster needs llm_planner installed.
"""

from __future__ import annotations

import logging
import multiprocessing
import os
import signal
import socket
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from dataclasses import dataclass
from types import ModuleType
from typing import Protocol, TypeVar

from llm_planner.errors import InputError, LlmPlannerError

Job = TypeVar("Job")
Result = TypeVar("Result")

TRIES = 2  # attempts: a job whose worker dies is retried once


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
            JobError: A job raised, or workers died `TRIES` times. Unfinished jobs are abandoned, also when the iterator
                is closed.
        """
        ...


def _attempt(function: Callable[[Job], Result], number: int, job: Job) -> Result:
    """Run a job in a worker; any error becomes a JobError that names the job, and can be pickled."""
    try:
        return function(job)
    except Exception as error:
        told = str(error) if isinstance(error, LlmPlannerError) else f"{type(error).__name__}: {error}"
        raise JobError(f"{told} (in {_named(number, job)})") from error


def _named(number: int, job: object) -> str:
    """Describe a job by its position and repr, which contains its seed."""
    text = repr(job)
    return f"job {number} ({text if len(text) <= 200 else text[:200] + '…'})"


_THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")


@dataclass(frozen=True)
class LocalPool:
    """Pool of `processes` on this machine, started for the work and ended with it, also on Ctrl-C."""

    processes: int

    def __post_init__(self) -> None:
        if self.processes < 1:
            raise InputError(f"the number of processes must be at least 1, not {self.processes}")

    def results(self, function: Callable[[Job], Result], jobs: Iterable[Job]) -> Iterator[tuple[int, Result]]:
        left = dict(enumerate(jobs))
        for _ in range(TRIES):
            try:
                with _workers(self.processes) as workers:
                    with _one_thread_each():
                        futures = {
                            workers.submit(_attempt, function, number, job): number for number, job in left.items()
                        }
                    for future in as_completed(futures):
                        number = futures[future]
                        yield number, future.result()
                        del left[number]
                    return
            except BrokenProcessPool:  # one worker's death ends the pool; what is left starts again
                pass
        number, job = next(iter(left.items()))
        raise JobError(
            f"workers died {TRIES} times, {len(left)} jobs are left, the first is {_named(number, job)}; if memory ran "
            "out, work with fewer processes"
        )


@contextmanager
def _workers(processes: int) -> Iterator[ProcessPoolExecutor]:
    """Start processes that leave Ctrl-C to this one; on exit they end at once, whatever they do."""
    workers = ProcessPoolExecutor(
        processes, multiprocessing.get_context("spawn"), signal.signal, (signal.SIGINT, signal.SIG_IGN)
    )
    try:
        yield workers
    finally:
        for process in list((workers._processes or {}).values()):  # Python 3.14 has `kill_workers`
            process.kill()
        workers.shutdown(cancel_futures=True)


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
            remote = ray.remote(num_cpus=1, max_retries=TRIES - 1)(_attempt)
            tasks = {remote.remote(function, number, job): (number, job) for number, job in enumerate(jobs)}
            while tasks:
                (done,), _ = ray.wait(list(tasks), num_returns=1)
                number, job = tasks.pop(done)
                try:
                    yield number, ray.get(done)
                except ray.exceptions.RayTaskError as error:
                    raise error.cause from error
                except ray.exceptions.RayError as error:
                    reason = str(error).strip().splitlines()[0]
                    raise JobError(
                        f"{_named(number, job)} came back from no node of {self.address}: {reason}"
                    ) from error


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

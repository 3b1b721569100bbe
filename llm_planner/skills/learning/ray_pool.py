"""A pool of the cores of every machine of a Ray cluster. Each of them needs llm_planner installed."""

from __future__ import annotations

import logging
import socket
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from types import ModuleType

from llm_planner.errors import InputError
from llm_planner.skills.learning.pool import TRIES, Job, JobError, Result, attempt, named, result_of


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

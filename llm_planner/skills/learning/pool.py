"""Work over cores and machines: the same function and jobs on processes of this machine or on a Ray cluster."""

from __future__ import annotations

import traceback
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Generic, Protocol, TypeVar

from llm_planner.errors import LlmPlannerError

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

"""Bars with the time that is left, for what takes minutes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

Advance = Callable[[int, str], None]  # how much is done altogether, and what there is to say of it


@contextmanager
def bar(words: str, total: int) -> Iterator[Advance]:
    """Of `total` things that are done."""
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )

    columns = (
        TextColumn(words),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
        TextColumn("{task.description}"),
    )
    with Progress(*columns) as progress:
        task = progress.add_task("", total=total)
        yield lambda done, told: progress.update(task, completed=done, description=told)


@contextmanager
def counted(words: str, total: int) -> Iterator[Callable[[int], None]]:
    """As `bar`, for one who is told how many more are done."""
    done = 0
    with bar(words, total) as advance:

        def more(count: int) -> None:
            nonlocal done
            done += count
            advance(done, "")

        yield more

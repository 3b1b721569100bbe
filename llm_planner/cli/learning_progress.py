"""Bars with the time that is left, for what takes minutes; a line now and then where there is no terminal."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.console import Console

SILENCE = 10.0  # s between two lines where there is no terminal

Advance = Callable[[int, str], None]  # how much is done altogether, and what there is to say of it


@contextmanager
def bar(
    words: str, total: int, console: Console | None = None, clock: Callable[[], float] = time.monotonic
) -> Iterator[Advance]:
    """Of `total` things that are done."""
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )

    console = console or Console(highlight=False)
    if not console.is_terminal:
        yield _lines(words, total, console, clock)
        return
    columns = (
        TextColumn(words),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
        TextColumn("{task.description}"),
    )
    with Progress(*columns, console=console) as progress:
        task = progress.add_task("", total=total)
        yield lambda done, told: progress.update(task, completed=done, description=told)


def _lines(words: str, total: int, console: Console, clock: Callable[[], float]) -> Advance:
    """Prints at most one line in `SILENCE`, and one for the last thing."""
    begin = printed = clock()

    def advance(done: int, told: str) -> None:
        nonlocal printed
        now = clock()
        if done < total and now - printed < SILENCE:
            return
        printed = now
        left = (now - begin) * (total - done) / max(done, 1)
        parts = (f"{words} {done}/{total}", f"{now - begin:.0f} s", f"{left:.0f} s left" if done < total else "", told)
        console.print(", ".join(filter(None, parts)), soft_wrap=True)

    return advance


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

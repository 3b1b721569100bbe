"""What the commands that learn skills have in common: which skill of which library, where work is kept, who does it.

Bars with the time that is left, for what takes minutes; a line now and then where there is no terminal.

How trials of a skill are told to a person at a terminal.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from rich.console import Console
from rich.table import Table
from rich.text import Text

from llm_planner.cli.planning_options import add_library_argument
from llm_planner.learning.report import Tally, told
from llm_planner.learning.report_page import by_reason, named

if TYPE_CHECKING:
    from llm_planner.learning.pool import Pool
    from llm_planner.learning.training_task import TrainingTask


SEEDS = 900  # the episodes of later ones would meet those of trials
EPISODES_MAX = 1_000_000
TRIALS, TRIALS_MAX = 200, 10_000  # of each kind
COMMANDS = 100  # drawn, each carried out by policy and script, left alone and shoved
WORK = Path("runs/skills")


def add_lesson_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("skill", help="name of the skill, e.g. pick; `llm-planner skills` lists them")
    add_library_argument(parser)
    parser.add_argument("--work", type=Path, default=WORK, help=f"folder of what is not finished yet (default {WORK})")
    parser.add_argument("--seed", type=int, default=0, help="what everything random is drawn from (default 0)")


def add_commands_argument(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--commands",
        type=int,
        default=COMMANDS,
        help=f"to try it on, beside its script, which decides what moves it (default {COMMANDS}; 0 leaves that out)",
    )


def add_pool_arguments(parser: argparse.ArgumentParser) -> None:
    cores = len(os.sched_getaffinity(0))
    parser.add_argument(
        "--processes", type=int, default=cores, help=f"that work at the same time (default: the cores, {cores})"
    )
    parser.add_argument("--ray", metavar="ADDRESS", help='a Ray cluster to work on instead; "auto" finds a running one')


def library_folder(args: argparse.Namespace) -> Path:
    """Raises InputError where the folder holds no skills."""
    from llm_planner.errors import InputError
    from llm_planner.share import share_folder

    folder: Path = args.skills or share_folder("skills")
    if not any(folder.glob("*/skill.yaml")):
        raise InputError(f"--skills: {folder} holds no skill; a skill is a folder with a skill.yaml")
    return folder


def requested_lesson(args: argparse.Namespace, episodes: int | None = None, steps: int | None = None) -> TrainingTask:
    """The lesson, with as many of these as the manifest says unless they are given; raises InputError."""
    from llm_planner.learning.training_task import open_lesson

    check_number("--seed", args.seed, 0, SEEDS - 1)
    lesson = open_lesson(library_folder(args), args.work, args.skill)
    episodes = lesson.contract.episodes if episodes is None else episodes
    steps = lesson.contract.steps if steps is None else steps
    check_number("--episodes", episodes, 1, EPISODES_MAX)
    check_number("--steps", steps, 1)
    return lesson.with_amounts(episodes, steps)


def check_number(option: str, number: int, least: int, most: int | None = None) -> None:
    """Raises InputError unless it is within these."""
    from llm_planner.errors import InputError

    if most is not None and not least <= number <= most:
        raise InputError(f"{option} must be {least} to {most}, not {number}")
    if number < least:
        raise InputError(f"{option} must be at least {least}, not {number}")


def requested_pool(args: argparse.Namespace) -> Pool:
    """Raises InputError for a number of processes that cannot be, or a cluster that cannot be reached."""
    if args.ray is not None:
        from llm_planner.learning.pool import RayPool

        return RayPool(args.ray)
    from llm_planner.learning.pool import LocalPool

    return LocalPool(args.processes)


@contextmanager
def going_on(words: str) -> Iterator[None]:
    """Says, to one who interrupts it (Ctrl-C, SIGTERM), how to go on."""
    from llm_planner.cli.answer import terminated_as_interrupted

    try:
        with terminated_as_interrupted():
            yield
    except KeyboardInterrupt:
        print(f"What is finished is kept; this goes on from there: {words}", file=sys.stderr)
        raise


def same_command() -> str:
    """As it was typed, but that it begins nothing anew."""
    import shlex

    return shlex.join(["llm-planner", *(word for word in sys.argv[1:] if word != "--anew")])


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


def show_tallies(plain: Tally, perturbed: Tally) -> None:
    """Successes with their intervals, then the failures by reason, with their seeds."""
    console, table = Console(highlight=False), Table(box=None, pad_edge=False)
    for column in ("trials", "success", "95 % interval", "of"):
        table.add_column(column, justify="left" if column == "trials" else "right")
    for words, tally in (("left alone", plain), ("shoved", perturbed)):
        low, high = tally.interval
        table.add_row(words, f"{tally.rate:.1%}", f"{low:.1%} to {high:.1%}", str(tally.trials))
    console.print(table)
    for reason, failures in by_reason((*plain.failures, *perturbed.failures)):
        console.print(Text(f"{len(failures)} {told(reason)}: ", "bold red") + Text(named(failures)), soft_wrap=True)

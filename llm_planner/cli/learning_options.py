"""Options, progress bars and result tables that the commands for learning skills share."""

from __future__ import annotations

import argparse
import os
import shlex
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from rich.console import Console
from rich.table import Table
from rich.text import Text

from llm_planner.cli.answers import terminated_as_interrupted
from llm_planner.cli.planning_options import add_library_argument
from llm_planner.errors import InputError
from llm_planner.learning.report import Tally
from llm_planner.learning.report_page import by_reason, named
from llm_planner.robots.robot_folders import listed

if TYPE_CHECKING:
    from llm_planner.learning.pool import Pool
    from llm_planner.learning.training_task import TrainingTask


SEEDS = 900  # training episodes of larger seeds would coincide with those of trials
EPISODES_MAX = 1_000_000
TRIALS, TRIALS_MAX = 200, 10_000  # of each kind
COMMANDS = 100  # drawn commands; policy and script execute each, undisturbed and shoved
WORK = Path("runs/skills")


def add_task_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("skill", help="name of the skill, e.g. pick; `llm-planner skills` lists them")
    add_library_argument(parser, "the library (default: the one that ships)")
    parser.add_argument("--robot", metavar="NAME", default="arm", help=f"arm: {listed()}, or the folder of your own")
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
    """Return the folder of the skill library; raise InputError if it holds no skills."""
    from llm_planner.share import share_folder

    folder: Path = args.skills or share_folder("skills")
    if not any(folder.glob("*/skill.yaml")):
        raise InputError(f"--skills: {folder} holds no skill; a skill is a folder with a skill.yaml")
    return folder


def requested_task(args: argparse.Namespace, episodes: int | None = None, steps: int | None = None) -> TrainingTask:
    """Open the training task of the requested skill; raise InputError for wrong options.

    Args:
        args: Parsed command line.
        episodes: Number of demonstrations; None for that in the skill.yaml.
        steps: Number of training steps; None for that in the skill.yaml.
    """
    from llm_planner.learning.training_task import open_training_task

    check_number("--seed", args.seed, 0, SEEDS - 1)
    task = open_training_task(library_folder(args), args.work, args.skill, args.robot)
    episodes = task.contract.episodes if episodes is None else episodes
    steps = task.contract.steps if steps is None else steps
    check_number("--episodes", episodes, 1, EPISODES_MAX)
    check_number("--steps", steps, 1)
    return task.with_amounts(episodes, steps)


def check_number(option: str, number: int, least: int, most: int | None = None) -> None:
    """Raise InputError unless `number` lies between `least` and `most`."""
    if most is not None and not least <= number <= most:
        raise InputError(f"{option} must be {least} to {most}, not {number}")
    if number < least:
        raise InputError(f"{option} must be at least {least}, not {number}")


def requested_pool(args: argparse.Namespace) -> Pool:
    """Open the pool of workers; raise InputError for a wrong number of processes or an unreachable cluster."""
    if args.ray is not None:
        from llm_planner.learning.pool import RayPool

        return RayPool(args.ray)
    from llm_planner.learning.pool import LocalPool

    return LocalPool(args.processes)


@contextmanager
def resumable() -> Iterator[None]:
    """Print the command that continues, as typed but without `--anew`, if the body is interrupted (Ctrl-C, SIGTERM)."""
    try:
        with terminated_as_interrupted():
            yield
    except KeyboardInterrupt:
        command = shlex.join(["llm-planner", *(word for word in sys.argv[1:] if word != "--anew")])
        print(f"What is finished is kept; this goes on from there: {command}", file=sys.stderr)
        raise


SILENCE = 10.0  # [s] between two lines without a terminal

Advance = Callable[[int, str], None]  # takes the number done so far, and a remark


@contextmanager
def bar(
    words: str, total: int, console: Console | None = None, clock: Callable[[], float] = time.monotonic
) -> Iterator[Advance]:
    """Show a progress bar, or a line every `SILENCE` seconds without a terminal.

    Args:
        words: Label of the bar.
        total: Number of items.
        console: Console to print on; None for standard output.
        clock: Time [s].

    Yields:
        Function that takes the number of finished items and a remark.
    """
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
    """Return a function that prints at most one line every `SILENCE` seconds, and one at the end."""
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
    """Show a bar as `bar`; the yielded function takes the number of newly finished items."""
    done = 0
    with bar(words, total) as advance:

        def more(count: int) -> None:
            nonlocal done
            done += count
            advance(done, "")

        yield more


def show_tallies(plain: Tally, perturbed: Tally) -> None:
    """Print success rates with intervals, then the failures by reason with their seeds."""
    console, table = Console(highlight=False), Table(box=None, pad_edge=False)
    for column in ("trials", "success", "95 % interval", "of"):
        table.add_column(column, justify="left" if column == "trials" else "right")
    for words, tally in (("left alone", plain), ("shoved", perturbed)):
        low, high = tally.interval
        table.add_row(words, f"{tally.rate:.1%}", f"{low:.1%} to {high:.1%}", str(tally.trials))
    console.print(table)
    for failures in by_reason((*plain.failures, *perturbed.failures)):
        console.print(
            Text(f"{len(failures)} {failures[0].reason_in_words}: ", "bold red") + Text(named(failures)), soft_wrap=True
        )

"""What the commands that learn skills have in common: which skill of which library, where work is kept, who does it."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from llm_planner.cli.skill_options import add_library_argument

if TYPE_CHECKING:
    from llm_planner.skills.learning.lesson import Lesson
    from llm_planner.skills.learning.pool import Pool

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


def requested_lesson(args: argparse.Namespace, episodes: int | None = None, steps: int | None = None) -> Lesson:
    """The lesson, with as many of these as the manifest says unless they are given; raises InputError."""
    from llm_planner.skills.learning.lesson import open_lesson

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
        from llm_planner.skills.learning.ray_pool import RayPool

        return RayPool(args.ray)
    from llm_planner.skills.learning.local_pool import LocalPool

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

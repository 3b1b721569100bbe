"""`llm-planner demonstrate SKILL`: record demonstrations of a skill's script under disturbances as a data set."""

from __future__ import annotations

import argparse
import time
from typing import TYPE_CHECKING

from llm_planner.cli.learning_options import (
    add_lesson_arguments,
    add_pool_arguments,
    going_on,
    requested_lesson,
    requested_pool,
    same_command,
)

if TYPE_CHECKING:
    from llm_planner.learning.pool import Pool
    from llm_planner.learning.recording import Recording
    from llm_planner.learning.sight_data import Album
    from llm_planner.learning.training_task import TrainingTask


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_lesson_arguments(parser)
    add_pool_arguments(parser)
    parser.add_argument("--episodes", type=int, help="how many (default: as the skill.yaml says)")
    parser.add_argument("--anew", action="store_true", help="throw away what was demonstrated before")


def run(args: argparse.Namespace) -> int:
    """Make the missing demonstrations."""
    from llm_planner.cli.answer import check_folder

    lesson, pool = requested_lesson(args, episodes=args.episodes), requested_pool(args)
    check_folder("--work", args.work)
    if args.anew:
        import shutil

        for folder in (lesson.demonstrations, lesson.pictures):
            shutil.rmtree(folder, ignore_errors=True)
    with going_on(same_command()):
        (drawn_pictures if lesson.contract.by_sight else demonstrations)(lesson, args.seed, pool)
    return 0


def drawn_pictures(lesson: TrainingTask, seed: int, pool: Pool) -> Album:
    """Draw the missing training pictures of a vision policy, and print where they are and how long it took."""
    from llm_planner.cli.learning_options import counted
    from llm_planner.learning.teaching import pictures

    began = time.monotonic()
    with counted("drawing pictures of cases", lesson.contract.episodes) as more:
        album = pictures(lesson, seed, pool, more)
    print(
        f"{len(album)} pictures show {len(album.shown)} things that can be taken; {time.monotonic() - began:.0f} s. "
        f"They are in {lesson.pictures}."
    )
    return album


def demonstrations(lesson: TrainingTask, seed: int, pool: Pool) -> list[Recording]:
    """Make the missing demonstrations, print where they are and how long it took, and return all of them."""
    from llm_planner.cli.learning_options import counted
    from llm_planner.learning.training_task import collect, collected

    episodes, began = lesson.contract.episodes, time.monotonic()
    with counted("demonstrating", episodes) as more:
        collect(lesson, episodes, seed, pool, more)
    recordings = collected(lesson, episodes, seed)
    succeeded, moments = len({recording.seed for recording in recordings}), sum(map(len, recordings))
    print(
        f"{succeeded} of {episodes} episodes show how it is done, {moments} moments in {len(recordings)} pieces; "
        f"{time.monotonic() - began:.0f} s. They are in {lesson.demonstrations}."
    )
    return recordings

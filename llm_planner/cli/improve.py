"""`llm-planner improve SKILL`: improve a policy by corrections or by its own rollouts."""

from __future__ import annotations

import argparse
import shutil
from pathlib import Path
from typing import TYPE_CHECKING

from llm_planner.cli.learning_options import (
    TRIALS,
    TRIALS_MAX,
    add_lesson_arguments,
    add_pool_arguments,
    check_number,
    requested_lesson,
    requested_pool,
)

if TYPE_CHECKING:
    from llm_planner.learning.pool import Pool
    from llm_planner.learning.report import Evaluated, Trained
    from llm_planner.learning.training_task import TrainingTask


SOURCES = ("corrections", "rollouts")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_lesson_arguments(parser)
    add_pool_arguments(parser)
    parser.add_argument(
        "--from",
        dest="source",
        choices=SOURCES,
        required=True,
        help="corrections: train again, on those too; rollouts: choose among chunks by what came of others",
    )
    parser.add_argument(
        "--recordings", type=Path, metavar="FOLDER", help="data set of corrections (default: corrections in --work)"
    )
    parser.add_argument("--episodes", type=int, default=TRIALS, help=f"rollouts, and trials of each kind ({TRIALS})")


def run(args: argparse.Namespace) -> int:
    """Train a candidate, print success before and after, and adopt the candidate if it is no worse."""
    from llm_planner.cli.answer import check_folder, terminated_as_interrupted
    from llm_planner.learning.improving import adopt, candidate_of, is_no_worse

    check_number("--episodes", args.episodes, 1, TRIALS_MAX)
    lesson, pool = requested_lesson(args), requested_pool(args)
    check_folder("--work", args.work)
    check_folder("--skills", lesson.folder)
    _check_moves(lesson)
    trained = _trained(lesson)
    lesson = lesson.with_amounts(trained.contract.episodes, trained.contract.steps)
    with terminated_as_interrupted():
        candidate = candidate_of(lesson)
        if args.source == "corrections":
            _learn_from_corrections(candidate, lesson, trained, args.recordings, pool)
        else:
            _learn_from_rollouts(candidate, args.episodes, args.seed, pool)
        before = _measured("before", lesson, args.episodes, args.seed, pool)
        after = _measured("after", candidate, args.episodes, args.seed, pool)
        if is_no_worse(after, before):
            adopt(lesson, candidate)
            print(f"{lesson.folder} has the new one; its script moves it until commands have shown that it may:")
            print(lesson.command("evaluate"))
        else:
            print(f"It succeeds less often than before, so {lesson.folder} stays as it was.")
        shutil.rmtree(candidate.skills.parent)
    return 0


def _check_moves(lesson: TrainingTask) -> None:
    """Raise InputError for a vision policy, which has no action chunks to improve."""
    from llm_planner.errors import InputError

    if lesson.contract.by_sight:
        more = str(2 * lesson.contract.episodes)
        raise InputError(
            f"{lesson.name} sees where to act, and neither corrections nor rollouts show it that; train it on more "
            f"pictures: {lesson.command('train', '--anew', '--episodes', more)}"
        )


def _trained(lesson: TrainingTask) -> Trained:
    """Return the record of the policy's training; raise InputError if it is missing."""
    from llm_planner.errors import InputError
    from llm_planner.learning.teaching import report_of

    trained = report_of(lesson).trained
    if trained is None:
        anew = lesson.command("train", "--anew")
        raise InputError(f"it is not known how {lesson.policy} was trained; train it: {anew}")
    return trained


def _learn_from_corrections(
    candidate: TrainingTask, lesson: TrainingTask, trained: Trained, folder: Path | None, pool: Pool
) -> None:  # fmt: skip
    from llm_planner.cli.demonstrate import demonstrations
    from llm_planner.cli.train import train_on
    from llm_planner.learning.improving import read_corrections

    corrections = read_corrections(lesson, folder or lesson.drafts / "corrections")
    shown = demonstrations(lesson, trained.seed, pool)
    train_on(candidate, trained.seed, trained.objective, [*shown, *corrections])


def _learn_from_rollouts(candidate: TrainingTask, episodes: int, seed: int, pool: Pool) -> None:
    from llm_planner.cli.learning_options import counted
    from llm_planner.learning.improving import criticise, roll_out
    from llm_planner.learning.teaching import require_torch

    require_torch()
    from llm_planner.learning.policy_training import CriticSettings

    with counted("rolling out", episodes) as more:
        rollouts = roll_out(candidate, episodes, seed, pool, more)
    criticise(candidate, rollouts, seed, CriticSettings())
    succeeded = sum(rollout.succeeded for rollout in rollouts)
    print(f"A critic has learned from {len(rollouts)} rollouts; {succeeded} of them succeeded.")


def _measured(words: str, lesson: TrainingTask, episodes: int, seed: int, pool: Pool) -> Evaluated:
    """Evaluate a policy with the same seeds each time, and print the results."""
    from llm_planner.cli.learning_options import counted, show_tallies
    from llm_planner.learning.improving import examine

    with counted(f"trying out, {words}", 2 * episodes) as more:
        evaluated = examine(lesson, episodes, seed, pool, more).evaluated
    assert evaluated is not None
    show_tallies(evaluated.plain, evaluated.perturbed)
    return evaluated

"""`llm-planner train SKILL`: demonstrate, train and evaluate a policy, kept beside the skill.yaml."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from llm_planner.cli.learning_options import (
    TRIALS,
    TRIALS_MAX,
    add_commands_argument,
    add_lesson_arguments,
    add_pool_arguments,
    check_number,
    going_on,
    requested_lesson,
    requested_pool,
    same_command,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from llm_planner.learning.pool import Pool
    from llm_planner.learning.recording import Recording
    from llm_planner.learning.report import SkillReport
    from llm_planner.learning.training_task import TrainingTask


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_lesson_arguments(parser)
    add_pool_arguments(parser)
    parser.add_argument("--episodes", type=int, help="demonstrations (default: as the skill.yaml says)")
    parser.add_argument("--steps", type=int, help="of training (default: as the skill.yaml says)")
    parser.add_argument(
        "--objective",
        choices=("flow", "regression"),
        default="flow",
        help="flow matching (default), or the mean of what was shown",
    )
    parser.add_argument("--trials", type=int, default=TRIALS, help=f"of each kind, afterwards (default {TRIALS})")
    add_commands_argument(parser)
    parser.add_argument("--no-evaluate", action="store_true", help="leave out the trials")
    parser.add_argument("--anew", action="store_true", help="train again, from the demonstrations that are there")


def run(args: argparse.Namespace) -> int:
    """Run the missing parts of demonstrations, training and trials."""
    from llm_planner.cli.answer import check_folder
    from llm_planner.learning.teaching import SIGHT_OBJECTIVE, begin, is_taught

    check_number("--trials", args.trials, 1, TRIALS_MAX)
    check_number("--commands", args.commands, 0, TRIALS_MAX)
    lesson, pool = requested_lesson(args, episodes=args.episodes, steps=args.steps), requested_pool(args)
    check_folder("--work", args.work)
    check_folder("--skills", lesson.folder)
    objective = SIGHT_OBJECTIVE if lesson.contract.by_sight else args.objective
    with going_on(same_command()):
        if not args.anew and is_taught(lesson, args.seed, objective):
            print(f"{lesson.policy} was trained so already; --anew trains it again.")
        else:
            begin(lesson, args.seed, objective, args.anew)
            _train(lesson, args.seed, objective, pool)
        if not args.no_evaluate:
            _evaluate(lesson, args.trials, args.commands, args.seed, pool)
    return 0


def _train(lesson: TrainingTask, seed: int, objective: str, pool: Pool) -> None:
    from llm_planner.cli.demonstrate import demonstrations, drawn_pictures
    from llm_planner.learning.teaching import teach_sight

    if not lesson.contract.by_sight:
        train_on(lesson, seed, objective, demonstrations(lesson, seed, pool))
        return
    album = drawn_pictures(lesson, seed, pool)
    _with_bar(lesson, lambda told: teach_sight(lesson, seed, album, told))


def train_on(lesson: TrainingTask, seed: int, objective: str, recordings: Sequence[Recording]) -> None:
    """Train a policy with a progress bar, and print the result."""
    from llm_planner.learning.teaching import teach

    _with_bar(lesson, lambda told: teach(lesson, seed, objective, recordings, told))


def _with_bar(lesson: TrainingTask, teach: Callable[[Callable[[int, float], None]], SkillReport]) -> None:
    from llm_planner.cli.learning_options import bar

    with bar("training", lesson.contract.steps) as advance:
        report = teach(lambda step, loss: advance(step, f"loss {loss:.4f}"))
    assert report.trained is not None
    print(f"{report.trained.seconds:.0f} s of training; the policy is {lesson.policy} ({report.size / 1000:.0f} kB).")


def _evaluate(lesson: TrainingTask, trials: int, commands: int, seed: int, pool: Pool) -> None:
    from llm_planner.cli.evaluate import evaluate_on_commands, evaluate_policy, show_evaluated
    from llm_planner.learning.teaching import report_of

    report = report_of(lesson)
    evaluated = report.evaluated
    if evaluated is not None and min(evaluated.plain.asked, evaluated.perturbed.asked) >= trials:
        show_evaluated(lesson, report)
    else:
        evaluate_policy(lesson, trials, seed, pool)
    evaluate_on_commands(lesson, commands, seed, pool)

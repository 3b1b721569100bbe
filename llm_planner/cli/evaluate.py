"""`llm-planner evaluate SKILL`: measure the success rate of a learned skill, undisturbed and shoved midway."""

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
    requested_lesson,
    requested_pool,
)

if TYPE_CHECKING:
    from llm_planner.learning.pool import Pool
    from llm_planner.learning.report import SkillReport
    from llm_planner.learning.training_task import TrainingTask


FIRST_COMMANDS = 10_000  # offset between the scene seeds of one --seed and the next


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_lesson_arguments(parser)
    add_pool_arguments(parser)
    parser.add_argument("--episodes", type=int, default=TRIALS, help=f"trials of each kind (default {TRIALS})")
    add_commands_argument(parser)
    parser.add_argument("--scripted", action="store_true", help="try its demonstrator instead; nothing is written")


def run(args: argparse.Namespace) -> int:
    """Run the trials, print the results, and write them beside the policy."""
    from llm_planner.cli.answer import check_folder, terminated_as_interrupted

    check_number("--episodes", args.episodes, 1, TRIALS_MAX)
    check_number("--commands", args.commands, 0, TRIALS_MAX)
    lesson, pool = requested_lesson(args), requested_pool(args)
    if not args.scripted:
        check_folder("--skills", lesson.folder)
    with terminated_as_interrupted():
        if args.scripted:
            _evaluate_script(lesson, args.episodes, args.seed, pool)
        else:
            evaluate_policy(lesson, args.episodes, args.seed, pool)
            evaluate_on_commands(lesson, args.commands, args.seed, pool)
    return 0


def evaluate_policy(lesson: TrainingTask, episodes: int, seed: int, pool: Pool) -> None:
    """Evaluate a policy with a progress bar, and write and print the report."""
    from llm_planner.cli.learning_options import counted
    from llm_planner.learning.improving import examine

    with counted("trying out", 2 * episodes) as more:
        report = examine(lesson, episodes, seed, pool, more)
    show_evaluated(lesson, report)


def evaluate_on_commands(lesson: TrainingTask, commands: int, seed: int, pool: Pool) -> None:
    """Compare policy and script on drawn commands, and record in the report which one is to move the skill.

    Vision policies are skipped, since they have no comparable script.
    """
    from llm_planner.cli.learning_options import counted
    from llm_planner.learning.command_trials import try_out_commands
    from llm_planner.learning.improving import examine_on_commands
    from llm_planner.learning.report_page import why

    if not commands or lesson.contract.by_sight:
        return
    seeds = range(FIRST_COMMANDS * seed, FIRST_COMMANDS * seed + commands)
    results = lesson.drafts / "commands.jsonl"
    with counted("trying out on commands", commands) as more:
        trials = try_out_commands(
            lesson.skills, [lesson.name], seeds, pool, results, lambda trial: more(1), lesson.robot
        )
    report = examine_on_commands(lesson, trials)
    assert report.commands is not None
    print(f"{lesson.name}: {why(report.commands)}.")


def show_evaluated(lesson: TrainingTask, report: SkillReport) -> None:
    """Print the results of a report and where it is."""
    from llm_planner.cli.learning_options import show_tallies

    assert report.evaluated is not None
    show_tallies(report.evaluated.plain, report.evaluated.perturbed)
    latency = report.evaluated.latency
    print(f"A {report.answer} takes {latency.median:.2f} ms on the CPU, 99 % at most {latency.p99:.2f} ms.")
    print(f"The report with its pictures is {lesson.folder / 'report.md'}.")


def _evaluate_script(lesson: TrainingTask, episodes: int, seed: int, pool: Pool) -> None:
    from llm_planner.cli.learning_options import counted, show_tallies
    from llm_planner.learning.evaluating import try_out

    with counted("trying out the script", 2 * episodes) as more:
        plain, perturbed = try_out(lesson, episodes, seed, pool, more, scripted=True)
    show_tallies(plain, perturbed)

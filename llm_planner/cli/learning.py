"""`llm-planner demonstrate`, `train`, `evaluate` and `improve`: teach a skill a policy, kept beside its skill.yaml."""

from __future__ import annotations

import argparse
import shutil
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from llm_planner.cli.answers import check_folder, terminated_as_interrupted
from llm_planner.cli.learning_options import (
    TRIALS,
    TRIALS_MAX,
    add_commands_argument,
    add_pool_arguments,
    add_task_arguments,
    bar,
    check_number,
    counted,
    requested_pool,
    requested_task,
    resumable,
    show_tallies,
)
from llm_planner.errors import InputError

if TYPE_CHECKING:
    from llm_planner.learning.pool import Pool
    from llm_planner.learning.recording import Recording
    from llm_planner.learning.report import SkillReport
    from llm_planner.learning.sight_data import Album
    from llm_planner.learning.training_task import TrainingTask

FIRST_COMMANDS = 10_000  # offset between the scene seeds of one --seed and the next


def add_demonstrate_arguments(parser: argparse.ArgumentParser) -> None:
    add_task_arguments(parser)
    add_pool_arguments(parser)
    parser.add_argument("--episodes", type=int, help="how many (default: as the skill.yaml says)")
    parser.add_argument("--anew", action="store_true", help="throw away what was demonstrated before")


def run_demonstrate(args: argparse.Namespace) -> int:
    """Make the missing demonstrations."""

    task, pool = requested_task(args, episodes=args.episodes), requested_pool(args)
    check_folder("--work", args.work)
    if args.anew:
        for folder in (task.demonstrations, task.pictures):
            shutil.rmtree(folder, ignore_errors=True)
    with resumable():
        (_drawn_pictures if task.contract.by_sight else _demonstrations)(task, args.seed, pool)
    return 0


def _drawn_pictures(task: TrainingTask, seed: int, pool: Pool) -> Album:
    """Draw the missing training pictures of a vision policy, and print where they are and how long it took."""
    from llm_planner.learning.sight_data import pictures

    began = time.monotonic()
    with counted("drawing pictures of cases", task.contract.episodes) as more:
        album = pictures(task, seed, pool, more)
    print(
        f"{len(album)} pictures show {len(album.shown)} things that can be taken; {time.monotonic() - began:.0f} s. "
        f"They are in {task.pictures}."
    )
    return album


def _demonstrations(task: TrainingTask, seed: int, pool: Pool) -> list[Recording]:
    """Make the missing demonstrations, print where they are and how long it took, and return all of them."""
    from llm_planner.learning.demonstrations import collect, collected

    episodes, began = task.contract.episodes, time.monotonic()
    with counted("demonstrating", episodes) as more:
        collect(task, episodes, seed, pool, more)
    recordings = collected(task, episodes, seed)
    succeeded, moments = len({recording.seed for recording in recordings}), sum(map(len, recordings))
    print(
        f"{succeeded} of {episodes} episodes show how it is done, {moments} moments in {len(recordings)} pieces; "
        f"{time.monotonic() - began:.0f} s. They are in {task.demonstrations}."
    )
    return recordings


def add_train_arguments(parser: argparse.ArgumentParser) -> None:
    add_task_arguments(parser)
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


def run_train(args: argparse.Namespace) -> int:
    """Run the missing parts of demonstrations, training and trials."""
    from llm_planner.learning.skill_training import SIGHT_OBJECTIVE, begin, is_trained, report_of, train_sight_skill

    check_number("--trials", args.trials, 1, TRIALS_MAX)
    check_number("--commands", args.commands, 0, TRIALS_MAX)
    task, pool = requested_task(args, episodes=args.episodes, steps=args.steps), requested_pool(args)
    check_folder("--work", args.work)
    check_folder("--skills", task.folder)
    objective = SIGHT_OBJECTIVE if task.contract.by_sight else args.objective
    with resumable():
        if not args.anew and is_trained(task, args.seed, objective):
            print(f"{task.policy} was trained so already; --anew trains it again.")
        else:
            begin(task, args.seed, objective, args.anew)
            if task.contract.by_sight:
                album = _drawn_pictures(task, args.seed, pool)
                _train_with_bar(task, lambda told: train_sight_skill(task, args.seed, album, told))
            else:
                _train_on(task, args.seed, objective, _demonstrations(task, args.seed, pool))
        if not args.no_evaluate:
            report = report_of(task)
            known = report.evaluated
            if known is None or min(known.plain.asked, known.perturbed.asked) < args.trials:
                report = _examined("trying out", task, args.trials, args.seed, pool)
            _show_evaluated(task, report)
            _evaluate_on_commands(task, args.commands, args.seed, pool)
    return 0


def _train_on(task: TrainingTask, seed: int, objective: str, recordings: Sequence[Recording]) -> None:
    """Train a policy with a progress bar, and print the result."""
    from llm_planner.learning.skill_training import train_skill

    _train_with_bar(task, lambda told: train_skill(task, seed, objective, recordings, told))


def _train_with_bar(task: TrainingTask, train: Callable[[Callable[[int, float], None]], SkillReport]) -> None:
    with bar("training", task.contract.steps) as advance:
        report = train(lambda step, loss: advance(step, f"loss {loss:.4f}"))
    assert report.trained is not None
    print(f"{report.trained.seconds:.0f} s of training; the policy is {task.policy} ({report.size / 1000:.0f} kB).")


def add_evaluate_arguments(parser: argparse.ArgumentParser) -> None:
    add_task_arguments(parser)
    add_pool_arguments(parser)
    parser.add_argument("--episodes", type=int, default=TRIALS, help=f"trials of each kind (default {TRIALS})")
    add_commands_argument(parser)
    parser.add_argument("--scripted", action="store_true", help="try its demonstrator instead; nothing is written")


def run_evaluate(args: argparse.Namespace) -> int:
    """Run the trials, print the results, and write them beside the policy."""
    check_number("--episodes", args.episodes, 1, TRIALS_MAX)
    check_number("--commands", args.commands, 0, TRIALS_MAX)
    task, pool = requested_task(args), requested_pool(args)
    if not args.scripted:
        check_folder("--skills", task.folder)
    with terminated_as_interrupted():
        if args.scripted:
            _evaluate_script(task, args.episodes, args.seed, pool)
        else:
            _show_evaluated(task, _examined("trying out", task, args.episodes, args.seed, pool))
            _evaluate_on_commands(task, args.commands, args.seed, pool)
    return 0


def _examined(words: str, task: TrainingTask, episodes: int, seed: int, pool: Pool) -> SkillReport:
    """Evaluate a policy with a progress bar, with the same seeds each time."""
    from llm_planner.learning.improving import examine

    with counted(words, 2 * episodes) as more:
        return examine(task, episodes, seed, pool, more)


def _evaluate_on_commands(task: TrainingTask, commands: int, seed: int, pool: Pool) -> None:
    """Compare policy and script on drawn commands, and record in the report which one is to move the skill.

    Vision policies are skipped, since they have no comparable script.
    """
    from llm_planner.learning.command_trials import try_out_commands
    from llm_planner.learning.improving import examine_on_commands
    from llm_planner.learning.report_page import why

    if not commands or task.contract.by_sight:
        return
    seeds = range(FIRST_COMMANDS * seed, FIRST_COMMANDS * seed + commands)
    results = task.drafts / "commands.jsonl"
    with counted("trying out on commands", commands) as more:
        trials = try_out_commands(task.skills, [task.name], seeds, pool, results, lambda trial: more(1), task.robot)
    report = examine_on_commands(task, trials)
    assert report.commands is not None
    print(f"{task.name}: {why(report.commands)}.")


def _show_evaluated(task: TrainingTask, report: SkillReport) -> None:
    """Print the results of a report and where it is."""
    assert report.evaluated is not None
    show_tallies(report.evaluated.plain, report.evaluated.perturbed)
    latency = report.evaluated.latency
    print(f"A {report.answer} takes {latency.median:.2f} ms on the CPU, 99 % at most {latency.p99:.2f} ms.")
    print(f"The report with its pictures is {task.folder / 'report.md'}.")


def _evaluate_script(task: TrainingTask, episodes: int, seed: int, pool: Pool) -> None:
    from llm_planner.learning.evaluating import try_out

    with counted("trying out the script", 2 * episodes) as more:
        plain, perturbed = try_out(task, episodes, seed, pool, more, scripted=True)
    show_tallies(plain, perturbed)


def add_improve_arguments(parser: argparse.ArgumentParser) -> None:
    add_task_arguments(parser)
    add_pool_arguments(parser)
    parser.add_argument(
        "--from",
        dest="source",
        choices=("corrections", "rollouts"),
        required=True,
        help="corrections: train again, on those too; rollouts: choose among chunks by what came of others",
    )
    parser.add_argument(
        "--recordings", type=Path, metavar="FOLDER", help="data set of corrections (default: corrections in --work)"
    )
    parser.add_argument("--episodes", type=int, default=TRIALS, help=f"rollouts, and trials of each kind ({TRIALS})")


def run_improve(args: argparse.Namespace) -> int:
    """Train a candidate, print success before and after, and adopt the candidate if it is no worse."""
    from llm_planner.learning.improving import adopt, candidate_of, is_no_worse, read_corrections
    from llm_planner.learning.skill_training import report_of

    check_number("--episodes", args.episodes, 1, TRIALS_MAX)
    task, pool = requested_task(args), requested_pool(args)
    check_folder("--work", args.work)
    check_folder("--skills", task.folder)
    if task.contract.by_sight:
        more = str(2 * task.contract.episodes)
        raise InputError(
            f"{task.name} sees where to act, and neither corrections nor rollouts show it that; train it on more "
            f"pictures: {task.command('train', '--anew', '--episodes', more)}"
        )
    trained = report_of(task).trained
    if trained is None:
        anew = task.command("train", "--anew")
        raise InputError(f"it is not known how {task.policy} was trained; train it: {anew}")
    task = task.with_amounts(trained.contract.episodes, trained.contract.steps)
    with terminated_as_interrupted():
        candidate = candidate_of(task)
        if args.source == "corrections":
            corrections = read_corrections(task, args.recordings or task.drafts / "corrections")
            shown = _demonstrations(task, trained.seed, pool)
            _train_on(candidate, trained.seed, trained.objective, [*shown, *corrections])
        else:
            _learn_from_rollouts(candidate, args.episodes, args.seed, pool)
        results = []
        for words, policy in (("before", task), ("after", candidate)):
            evaluated = _examined(f"trying out, {words}", policy, args.episodes, args.seed, pool).evaluated
            assert evaluated is not None
            show_tallies(evaluated.plain, evaluated.perturbed)
            results.append(evaluated)
        before, after = results
        if is_no_worse(after, before):
            adopt(task, candidate)
            print(f"{task.folder} has the new one; its script moves it until commands have shown that it may:")
            print(task.command("evaluate"))
        else:
            print(f"It succeeds less often than before, so {task.folder} stays as it was.")
        shutil.rmtree(candidate.skills.parent)
    return 0


def _learn_from_rollouts(candidate: TrainingTask, episodes: int, seed: int, pool: Pool) -> None:
    from llm_planner.learning.improving import criticise, roll_out
    from llm_planner.learning.skill_training import require_torch

    require_torch()
    from llm_planner.learning.policy_training import CriticSettings

    with counted("rolling out", episodes) as more:
        rollouts = roll_out(candidate, episodes, seed, pool, more)
    criticise(candidate, rollouts, seed, CriticSettings())
    succeeded = sum(rollout.succeeded for rollout in rollouts)
    print(f"A critic has learned from {len(rollouts)} rollouts; {succeeded} of them succeeded.")

"""`llm-planner train-language`: train a network of the compact model on generated commands, offline, on the CPU."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from llm_planner.language.compact.training import Lesson

NETWORKS = ("program", "reading", "corrections")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--network",
        choices=NETWORKS,
        default="program",
        help="which one: program writes programs, reading finds the constraints of a command, corrections reads what "
        "is said while the robot works (default program)",
    )
    parser.add_argument(
        "--utterances", type=Path, help="Lang2LTL's utterances as CSV, for the reading network to learn from too"
    )
    parser.add_argument("--steps", type=int, default=10_000, help="optimiser steps (default 10000, some two hours)")
    parser.add_argument("--batch", type=int, default=128, help="commands in a step (default 128)")
    parser.add_argument("--learning-rate", type=float, default=1.2e-3, help="highest learning rate (default 0.0012)")
    parser.add_argument(
        "--dropout", type=float, default=0.0, help="share of activations left out in training (default 0)"
    )
    parser.add_argument("--seed", type=int, default=0, help="seed of weights and data (default 0)")
    parser.add_argument("--start", type=Path, help="continue from this weights.safetensors")
    parser.add_argument("--threads", type=int, default=2, help="CPU threads (default 2)")
    parser.add_argument("--out", type=Path, default=Path("runs/language"), help="folder for the weights")


def run(args: argparse.Namespace) -> int:
    """Train with a progress bar; the weights take effect when copied over the shipped ones."""
    import torch
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    from llm_planner.errors import InputError
    from llm_planner.language.compact.training import TrainingSettings, train

    for name in ("steps", "batch", "threads"):
        if getattr(args, name) < 1:
            raise InputError(f"--{name} must be at least 1, not {getattr(args, name)}")
    if not 0 <= args.dropout < 1:
        raise InputError(f"--dropout must be at least 0 and below 1, not {args.dropout:g}")
    if args.start is not None and not args.start.is_file():
        raise InputError(f"--start: there is no file {args.start}")
    if args.utterances is not None and args.network != "reading":
        raise InputError("--utterances is for the reading network; add --network reading")
    torch.set_num_threads(args.threads)
    lesson = _lesson(args)
    warmup = min(400, args.steps // 10)
    settings = TrainingSettings(args.steps, args.batch, args.learning_rate, warmup, args.seed, args.dropout)
    columns = (
        TextColumn("training"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
        TextColumn("{task.description}"),
    )
    with Progress(*columns) as progress:
        task = progress.add_task("", total=args.steps)

        def report(step: int, loss: float, exact: float) -> None:
            progress.update(task, completed=step, description=f"loss {loss:.3f}, {exact:.0%} of fresh commands right")

        train(lesson, settings, args.out, args.start, report)
        progress.update(task, completed=args.steps)
    lesson.finish(args.out)
    print(f"Weights and report are in {args.out}. To use them, copy all its files to {lesson.home}.")
    return 0


def _lesson(args: argparse.Namespace) -> Lesson:
    if args.network == "corrections":
        from llm_planner.correction.compact.lesson import correction_lesson

        return correction_lesson()
    from llm_planner.language.compact.lessons import program_lesson, reading_lesson

    return program_lesson() if args.network == "program" else reading_lesson(args.utterances)

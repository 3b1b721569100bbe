"""`llm-planner train-language`: train the compact model on generated commands, offline, on the CPU."""

from __future__ import annotations

import argparse
from pathlib import Path


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--steps", type=int, default=10_000, help="optimiser steps (default 10000, some two hours)")
    parser.add_argument("--batch", type=int, default=128, help="commands in a step (default 128)")
    parser.add_argument("--learning-rate", type=float, default=1.2e-3, help="highest learning rate (default 0.0012)")
    parser.add_argument("--seed", type=int, default=0, help="seed of weights and data (default 0)")
    parser.add_argument("--start", type=Path, help="continue from this weights.safetensors")
    parser.add_argument("--threads", type=int, default=2, help="CPU threads (default 2)")
    parser.add_argument("--out", type=Path, default=Path("runs/language"), help="folder for the weights")


def run(args: argparse.Namespace) -> int:
    """Train with a progress bar; the weights take effect when copied over the shipped ones."""
    import torch
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    from llm_planner.errors import InputError
    from llm_planner.language.compact.generator.examples import draw_sample
    from llm_planner.language.compact.model import WEIGHTS
    from llm_planner.language.compact.network import NetworkSize
    from llm_planner.language.compact.program_grammar import PROGRAM
    from llm_planner.language.compact.training import TrainingSettings, train

    for name in ("steps", "batch", "threads"):
        if getattr(args, name) < 1:
            raise InputError(f"--{name} must be at least 1, not {getattr(args, name)}")
    if args.start is not None and not args.start.is_file():
        raise InputError(f"--start: there is no file {args.start}")
    torch.set_num_threads(args.threads)
    settings = TrainingSettings(args.steps, args.batch, args.learning_rate, min(400, args.steps // 10), args.seed)
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

        train(PROGRAM, draw_sample, settings, args.out, NetworkSize(), args.start, report)
        progress.update(task, completed=args.steps)
    print(f"Weights and report are in {args.out}. To use them, copy both files to {WEIGHTS}.")
    return 0

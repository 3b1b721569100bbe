"""A policy's training that is killed at random moments and resumed, against one that is left alone: the same weights?

Data are random numbers and the network is of the shipped size. Each run is told a random step, and is killed without
warning a random moment after it; the next one goes on. The files of both are compared byte by byte.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from reports import print_report, report_parser

LATEST = 0.1  # [s] after its step at which a run is killed: some milliseconds are a step, more a checkpoint's writing


def main(arguments: Sequence[str]) -> int:
    parser = report_parser(__doc__)
    parser.add_argument("--kills", type=int, default=20)
    parser.add_argument("--steps", type=int, default=400, help="of the training")
    parser.add_argument("--every", type=int, default=3, help="steps between checkpoints")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--train", type=Path, help=argparse.SUPPRESS)
    args = parser.parse_args(arguments)
    if args.train:
        _train(args.train, args.steps, args.every)
        return 0
    with tempfile.TemporaryDirectory() as folder:
        report = _measured(Path(folder), args.kills, args.steps, args.every, np.random.default_rng(args.seed))
    return print_report(report, args.json)


def _measured(folder: Path, kills: int, steps: int, every: int, rng: np.random.Generator) -> dict[str, Any]:
    killed, alone = folder / "killed", folder / "alone"
    at = [
        _killed(killed, steps, every, int(step), float(rng.uniform(0, LATEST)))
        for step in np.sort(rng.integers(0, steps, size=kills))
    ]
    for path in (killed, alone):
        subprocess.run(_command(path, steps, every), check=True, stdout=subprocess.DEVNULL)
    weights = [path.with_suffix(".safetensors").read_bytes() for path in (killed, alone)]
    cut = [step for step in at if step is not None]
    return {"killed": len(cut), "at steps": cut, "same": weights[0] == weights[1], "bytes": len(weights[0])}


def _killed(path: Path, steps: int, every: int, step: int, after: float) -> int | None:
    """The last step that a run told of before it was killed, or None where it had ended."""
    told = -1
    with subprocess.Popen(_command(path, steps, every), stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        for line in process.stdout:
            told = int(line)
            if told >= step:
                break
        try:
            process.wait(timeout=after)
        except subprocess.TimeoutExpired:
            process.kill()
            return told
    return None


def _command(path: Path, steps: int, every: int) -> list[str]:
    return [sys.executable, __file__, "--train", str(path), "--steps", str(steps), "--every", str(every)]


def _train(path: Path, steps: int, every: int) -> None:
    import torch

    from llm_planner.learning.policy_training import TrainingSettings, train_policy
    from llm_planner.learning.recording import Windows
    from llm_planner.skills.learned.velocity_field import PolicySpec, fitted
    from llm_planner.skills.learned.weights_file import save_policy

    torch.set_num_threads(1)
    rng = np.random.default_rng(0)
    shapes = (2000, 2, 20), (2000, 3), (2000, 16, 6)
    windows = Windows(*(rng.normal(size=shape).astype(np.float32) for shape in shapes), np.ones(2000, np.float32))
    print(0, flush=True)
    settings = TrainingSettings(steps=steps, batch=64, checkpoint_every=every)
    field = train_policy(
        PolicySpec(20, 3, 6),
        windows,
        fitted(windows.chunks),
        seed=0,
        settings=settings,
        checkpoint=path,
        report=lambda step, loss: print(step, flush=True),
    )
    save_policy(path.with_suffix(".safetensors"), field)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

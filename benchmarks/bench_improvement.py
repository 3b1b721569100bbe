"""What makes a weak policy better: each improvement against the policy from ten demonstrations, on one Meta-World task.

What is trained and played is kept in a folder, so that a run goes on where the last one ended. Like
bench_metaworld.py it hands over to the interpreter that has metaworld (`make setup-lerobot`).
Usage: bench_improvement.py [--task pick-place] [--other-task push] [--episodes 200] [--only NAME ...]
                            [--folder runs/meta_world] [--json]
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from bench_metaworld import TASKS, add_environment_arguments, is_left_out

EXPERIMENTS = ("unimproved", "reranking", "corrections", "composition", "adapters", "steering")


def measure(
    task: str, other_task: str, episodes: int, demonstrations: int, steps: int, only: Sequence[str], folder: Path
) -> dict[str, Any]:
    """Success with its interval of each policy, and the points it gained on the unimproved one."""
    from meta_world.improvements import Improvements, Sizes

    from llm_planner.learning.policy_training import TrainingSettings

    training = TrainingSettings(steps=steps, batch=256, drop_goal=0.0)
    sizes = Sizes(episodes=episodes, demonstrations=demonstrations, training=training)
    improvements = Improvements(task, other_task, folder, sizes)
    rows: dict[str, dict[str, float]] = {}
    for name in ("unimproved", *(each for each in only if each != "unimproved")):
        rows |= getattr(improvements, name)()
        print(f"{name}: {list(rows.items())[-1]}", file=sys.stderr, flush=True)
    first = rows["unimproved"]["share"]
    for row in rows.values():
        row["gain"] = round(100 * (row["share"] - first), 1)
    return {"metaworld": True, "task": task, "other task": other_task, "demonstrations": demonstrations, "rows": rows}


def markdown(report: dict[str, Any]) -> str:
    """A row for each policy."""
    lines = [
        f"| {report['task']}, {report['demonstrations']} demonstrations | success | points gained | |",
        "|---|---|---|---|",
    ]
    for name, row in report["rows"].items():
        more = ", ".join(f"{key}: {row[key]:.3g}" for key in row if key not in ("share", "low", "high", "of", "gain"))
        success = f"{100 * row['share']:.1f} % [{100 * row['low']:.1f}, {100 * row['high']:.1f}] of {row['of']}"
        lines.append(f"| {name} | {success} | {row['gain']:+.1f} | {more} |")
    return "\n".join(lines)


def main(argv: Sequence[str] | None = None) -> int:
    """Prints a table or JSON; returns 0."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--task", choices=TASKS, default="pick-place")
    parser.add_argument("--other-task", choices=TASKS, default="push", help="the one an adapter starts from")
    parser.add_argument("--episodes", type=int, default=200)
    parser.add_argument("--demonstrations", type=int, default=10)
    parser.add_argument("--training-steps", type=int, default=1000)
    parser.add_argument("--only", nargs="+", choices=EXPERIMENTS, default=EXPERIMENTS)
    add_environment_arguments(parser)
    options = parser.parse_args(argv)
    if is_left_out(options):
        return 0
    import torch

    torch.set_num_threads(1)
    report = measure(
        options.task,
        options.other_task,
        options.episodes,
        options.demonstrations,
        options.training_steps,
        options.only,
        options.folder,
    )
    print(json.dumps(report, indent=2) if options.json else markdown(report))
    return 0


if __name__ == "__main__":
    sys.exit(main())
